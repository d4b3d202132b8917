/* invit import: a published PyTorch checkpoint becomes a model file; model files are stored anew or averaged.
 */
#include "base/names.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct import_values {
    const char *output;
    int heads;
    cli_list views;
    int problem;
    bool invariance;
    int store;
    cli_common common;
} import_values;

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_STRING,
     .offset = offsetof(import_values, output),
     .metavar = "FILE",
     .fallback = "",
     .help = "the model file to write (safetensors)"},
    {.name = "heads",
     .type = CLI_INT,
     .offset = offsetof(import_values, heads),
     .metavar = "N",
     .min = 1,
     .max = 1024,
     .help = "attention heads; shapes do not show them"},
    {.name = "views",
     .type = CLI_LIST,
     .offset = offsetof(import_values, views),
     .metavar = "K,K,...",
     .fallback = "15,35,50,75 as far as there are views",
     .help = "neighbours in the action view and each state view; shapes do not show them"},
    {.name = "problem",
     .type = CLI_CHOICE,
     .offset = offsetof(import_values, problem),
     .choices = "any|tsp|cvrp",
     .help = "refuse a model of the other problem"},
    {.name = "invariance",
     .type = CLI_BOOL,
     .offset = offsetof(import_values, invariance),
     .help = "the model has the invariant layer; --no-invariance for the variant without"},
    {.name = "store",
     .type = CLI_CHOICE,
     .offset = offsetof(import_values, store),
     .choices = "f32|f16|bf16",
     .help = "how numbers are stored; 16 bits take half the space"},
    CLI_QUIET(import_values, common),
    CLI_END};

static const cli_spec spec = {.command = "import",
                              .usage = "CHECKPOINT.pkl|MODEL.safetensors... -o MODEL.safetensors [OPTION...]",
                              .about =
                                  "Converts a PyTorch checkpoint of the authors' layout. Widths, "
                                  "layers, number of views and the problem are "
                                  "read off the tensors' shapes. Nothing in the file is executed. A model "
                                  "file is taken as it is and stored as --store says. Of several "
                                  "models the mean of the weights is stored: runs from the same beginning "
                                  "often average to something better than each of them. The first must have "
                                  "the most views; those with fewer "
                                  "grow, which leaves their decisions as they were.",
                              .options = options,
                              .min_args = 1,
                              .max_args = -1};

static int read_views(const cli_list *list, invit_import_options *o)
{
    int limit = (int)(sizeof o->view / sizeof *o->view);
    if (list->count > limit)
        return cli_bad_usage("--views lists %d views, at most %d are possible", list->count, limit);
    o->views = list->count;
    for (int i = 0; i < list->count; i++) {
        int64_t k;
        if (!cli_integer(list->item[i], &k) || k < 1 || k > 1000000)
            return cli_bad_usage("--views: '%s' is not a number of neighbours", list->item[i]);
        o->view[i] = (int32_t)k;
    }
    return CLI_OK;
}

static bool has_ending(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

static invit_status load(const char *path, const invit_import_options *o, invit_model **model,
                         invit_error *err)
{
    return has_ending(path, ".safetensors") ? invit_model_load(path, model, err)
                                            : invit_model_import(path, o, model, err);
}

/* The first model, or the mean of all. */
static invit_status load_all(const cli_args *args, const invit_import_options *o, invit_model **model,
                             invit_error *err)
{
    int32_t count = args->count - 1;
    invit_model **other = calloc((size_t)args->count, sizeof *other);
    if (!other) {
        snprintf(err->message, sizeof err->message, "not enough memory");
        return INVIT_ERR_MEMORY;
    }
    invit_status status = load(args->item[0], o, model, err);
    for (int32_t i = 0; i < count && status == INVIT_OK; i++)
        status = load(args->item[i + 1], o, &other[i], err);
    if (status == INVIT_OK && count > 0)
        status = invit_model_average(*model, (const invit_model *const *)other, count, err);
    for (int32_t i = 0; i < count; i++) invit_model_destroy(other[i]);
    free(other);
    return status;
}

int cmd_import(int argc, char **argv)
{
    import_values v = {.heads = 8, .invariance = true};
    cli_args args;
    int code = cli_parse(&spec, &v, argc, argv, &args);
    if (code != CLI_GO) return code;

    invit_error err = {0};
    invit_model *model = NULL;
    invit_import_options o = invit_import_defaults();
    o.heads = v.heads;
    o.problem = v.problem - 1;
    o.without_invariance = !v.invariance;
    code = read_views(&v.views, &o);
    if (code == CLI_OK && !v.output)
        code = cli_bad_usage("import needs -o MODEL.safetensors, the file to write");
    if (code == CLI_OK && !has_ending(v.output, ".safetensors"))
        code =
            cli_bad_usage("%s: models are written as safetensors; name the file MODEL.safetensors", v.output);
    if (code != CLI_OK) goto done;
    code = CLI_FAILED;
    invit_status status = load_all(&args, &o, &model, &err);
    if (status != INVIT_OK ||
        invit_model_save_as(model, v.output, (invit_storage)v.store, &err) != INVIT_OK) {
        code = cli_report(&err);
        goto done;
    }
    code = CLI_OK;
    if (!v.common.quiet) {
        invit_model_summary s = invit_model_describe(model);
        bool assumed = !cli_given(&args, "heads") && !has_ending(args.item[0], ".safetensors");
        printf("%s: INViT-%dV for %s, width %d, %d heads%s, %lld parameters\n", v.output, s.views,
               inv_problem_title(s.problem), s.width, s.heads,
               assumed ? " (assumed: the file does not say; --heads)" : "", (long long)s.parameters);
    }
done:
    invit_model_destroy(model);
    cli_args_free(&args);
    return code;
}
