/* Anytime curves: any bytes are drawn, or give an error that names the file. */
#include "invit_lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    const char *paths[] = {path};
    invit_error err = {.message = ""};
    if (!path[0]) snprintf(path, sizeof path, "/tmp/invit-fuzz-trace-%d", (int)getpid());
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) abort();
    char picture[80];
    snprintf(picture, sizeof picture, "%s.svg", path);
    if (invit_plot_traces(paths, 1, picture, NULL, &err) != INVIT_OK && !err.message[0]) abort();
    unlink(path);
    unlink(picture);
    return 0;
}
