/* What `invit solve` prints of a solution: vans, kilometres and hours first, or one JSON object. */
#ifndef INVIT_CLI_RESULT_H
#define INVIT_CLI_RESULT_H

#include "cli/cli.h"

typedef struct cli_result {
    const invit_instance *instance;
    const invit_solution *solution;
    const char *notes; /* the reader's, one per line                        */
    const char *model; /* the file of the weights, or NULL                  */
    uint64_t seed;
    double read, total;       /* seconds                                          */
    const invit_ranks *ranks; /* of mpirun */
    bool stopped;             /* by Ctrl-C                                        */
    bool verbose;             /* how it was found, too                            */
} cli_result;

void cli_result_text(const cli_result *result);
void cli_result_json(const cli_result *result);

/* "48.4 km" on the globe, or the number as it is. */
enum { CLI_LENGTH_TEXT = 48 };
const char *cli_length_text(const invit_instance *p, double length, char text[CLI_LENGTH_TEXT]);

#endif
