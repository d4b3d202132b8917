/* Where models are kept when nobody says which one: the first folder that has one for the problem. */
#include "policy/weights.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Appends "folder/..." when there is room and the file can be read; true when found. */
static bool try_folder(const char *folder, size_t length, const char *below, const char *name, char *path,
                       size_t size)
{
    int written = snprintf(path, size, "%.*s%s/%s.safetensors", (int)length, folder, below, name);
    return written > 0 && (size_t)written < size && access(path, R_OK) == 0;
}

bool inv_find_model(const char *name, char path[INV_MODEL_PATH])
{
    const size_t size = INV_MODEL_PATH;
    const char *listed = getenv("INVIT_MODELS");
    while (listed && *listed) {
        size_t length = strcspn(listed, ":");
        if (length > 0 && try_folder(listed, length, "", name, path, size)) return true;
        listed += length + (listed[length] == ':');
    }
    char program[PATH_MAX];
    ssize_t got = readlink("/proc/self/exe", program, sizeof program - 1);
    if (got > 0) {
        program[got] = 0;
        char *slash = strrchr(program, '/');
        size_t length = slash ? (size_t)(slash - program) : 0;
        if (try_folder(program, length, "/models", name, path, size)) return true;
        if (try_folder(program, length, "/../models", name, path, size)) return true;
        if (try_folder(program, length, "/../share/invit/models", name, path, size)) return true;
    }
    if (try_folder(INVIT_SOURCE_DIR, strlen(INVIT_SOURCE_DIR), "/models", name, path, size)) return true;
    return try_folder(INVIT_DATADIR, strlen(INVIT_DATADIR), "/models", name, path, size);
}

invit_status invit_model_load_default(invit_problem problem, invit_model **out, invit_error *err)
{
    const char *name = problem == INVIT_TSP ? "tsp-2v" : "cvrp-2v";
    char path[INV_MODEL_PATH];
    *out = NULL;
    if (!inv_find_model(name, path))
        return inv_fail(err, INVIT_ERR_IO,
                        "no model %s.safetensors in $INVIT_MODELS, in models/ beside the program or in "
                        "%s/models; name one "
                        "with --model FILE, or set INVIT_MODELS to the folder that has it",
                        name, INVIT_DATADIR);
    return invit_model_load(path, out, err);
}
