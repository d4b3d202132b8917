#include "fuzz.h"

FUZZ_READER(inv_read_solomon)
