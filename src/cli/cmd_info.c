/* invit info: what a model file holds, or what was understood of an instance. */
#include "base/names.h"
#include "cli/cli.h"
#include "cli/info_instance.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MODEL = 1, INSTANCE = 2 }; /* what is described */

static const cli_option options[] = {
    {.name = "output",
     .modes = INSTANCE,
     .letter = 'o',
     .type = CLI_STRING,
     .offset = offsetof(info_values, output),
     .metavar = "FILE",
     .fallback = "none",
     .help =
         "an instance: write it in another format, .json (says everything), .tsp, .vrp or .txt; '-': JSON"},
    {.name = "index",
     .modes = INSTANCE,
     .letter = 'i',
     .type = CLI_INT64,
     .offset = offsetof(info_values, index),
     .metavar = "I",
     .min = 0,
     .max = 1e15,
     .help = "instance I of a file with many, counted from 0"},
    CLI_CAPACITY(info_values, capacity),
    {.name = "tensors",
     .modes = MODEL,
     .type = CLI_BOOL,
     .offset = offsetof(info_values, tensors),
     .help = "a model: list every tensor"},
    CLI_JSON(info_values, common),
    CLI_RULES(info_values, rules),
    CLI_END};

static const cli_spec spec = {
    .command = "info",
    .usage = "INSTANCE|MODEL.safetensors [OPTION...]",
    .about =
        "Shows what was understood of an instance (nodes, distances, demands, rules, columns), with remarks "
        "on what was not used, and writes it in another format; or a model's configuration, size and "
        "metadata.",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .more = "Examples:\n"
            "  invit info deliveries.csv\n"
            "  invit info deliveries.csv --matrix distances.csv --vehicles 5 -o problem.json\n"
            "  invit info tsp-2v\n"};

static void print_json(const invit_model *model, const char *path)
{
    invit_model_summary s = invit_model_describe(model);
    inv_json j = inv_json_to_file(stdout);
    inv_json_open(&j, NULL, '{');
    inv_json_string(&j, "file", path);
    inv_json_string(&j, "problem", inv_problem_name(s.problem));
    inv_json_int(&j, "width", s.width);
    inv_json_int(&j, "feed_forward", s.feed_forward);
    inv_json_int(&j, "heads", s.heads);
    inv_json_int(&j, "action_layers", s.action_layers);
    inv_json_int(&j, "state_layers", s.state_layers);
    inv_json_int(&j, "decoder_layers", s.decoder_layers);
    inv_json_open(&j, "views", '[');
    for (int i = 0; i < s.views; i++) inv_json_int(&j, NULL, s.view[i]);
    inv_json_close(&j);
    inv_json_bool(&j, "invariant", s.invariant);
    inv_json_bool(&j, "canonical_frame", s.canonical_frame);
    inv_json_int(&j, "parameters", s.parameters);
    inv_json_string(&j, "metadata", *invit_model_metadata(model) ? invit_model_metadata(model) : NULL);
    inv_json_open(&j, "tensors", '[');
    for (int i = 0; i < s.tensors; i++) {
        int32_t rank, shape[2];
        inv_json_open(&j, NULL, '{');
        inv_json_string(&j, "name", invit_model_tensor(model, i, &rank, shape));
        inv_json_open(&j, "shape", '[');
        for (int d = 0; d < rank; d++) inv_json_int(&j, NULL, shape[d]);
        inv_json_close(&j);
        inv_json_close(&j);
    }
    inv_json_close(&j);
    inv_json_close(&j);
}

/* Where training left it, or whatever else the metadata says. */
static void print_origin(const char *metadata)
{
    json_t *about = json_loads(metadata, 0, NULL);
    const char *run = json_string_value(json_object_get(about, "run")),
               *version = json_string_value(json_object_get(about, "version")),
               *steps = json_string_value(json_object_get(about, "steps")),
               *command = json_string_value(json_object_get(about, "command"));
    const char *training[] = {"  trained     run ", run,     ", ", steps, " steps, invit ", version,
                              "\n  command     ",   command, "\n", NULL},
               *other[] = {"  metadata    ", metadata, "\n", NULL}, **words = *metadata ? other : NULL;
    if (run && version && steps && command) words = training;
    for (int i = 0; words && words[i]; i++) cli_print_text(words[i]);
    json_decref(about);
}

static void print_text(const invit_model *model, const char *path, bool tensors)
{
    invit_model_summary s = invit_model_describe(model);
    cli_print_text(path);
    printf("\n  model       INViT-%dV for %s%s\n", s.views, inv_problem_title(s.problem),
           s.invariant ? "" : ", without the invariant layer");
    printf("  views       action k = %d", s.view[0]);
    for (int i = 1; i < s.views; i++) printf("%s %d", i == 1 ? "; state k =" : ",", s.view[i]);
    if (s.canonical_frame)
        printf("; canonical frame towards the %s", s.problem == INVIT_TSP ? "first node" : "depot");
    printf("\n  width       %d, feed-forward %d, %d heads\n", s.width, s.feed_forward, s.heads);
    printf("  layers      action %d, state %d, decoder %d\n", s.action_layers, s.state_layers,
           s.decoder_layers);
    printf("  parameters  %lld in %d tensors (%.1f MB in memory)\n", (long long)s.parameters, s.tensors,
           (double)s.parameters * 4 / 1e6);
    print_origin(invit_model_metadata(model));
    for (int i = 0; tensors && i < s.tensors; i++) {
        int32_t rank, shape[2];
        const char *name = invit_model_tensor(model, i, &rank, shape);
        char text[32];
        snprintf(text, sizeof text, rank == 2 ? "%d x %d" : "%d", shape[0], shape[1]);
        printf("  %-60s %s\n", name, text);
    }
}

/* By its name; models that come with the program have no ending, and are no files here. */
static bool is_model(const char *path)
{
    size_t n = strlen(path), k = strlen(".safetensors");
    if (strcmp(path, "-") == 0) return false;
    return (n > k && strcmp(path + n - k, ".safetensors") == 0) ||
           (!strpbrk(path, "./") && access(path, F_OK) != 0);
}

int cmd_info(int argc, char **argv)
{
    info_values v = {0};
    cli_args args;
    int code = cli_parse(&spec, &v, argc, argv, &args);
    if (code != CLI_GO) return code;
    bool model_file = is_model(args.item[0]);
    code =
        model_file ? cli_check_mode(&args, MODEL, "a model") : cli_check_mode(&args, INSTANCE, "an instance");
    if (code == CLI_GO && !model_file) code = info_instance(&v, args.item[0]);
    if (code != CLI_GO) {
        cli_args_free(&args);
        return code;
    }
    invit_error err = {0};
    invit_model *model = NULL;
    code = CLI_OK;
    if (invit_model_load(args.item[0], &model, &err) != INVIT_OK)
        code = cli_report(&err);
    else if (v.common.json)
        print_json(model, args.item[0]);
    else
        print_text(model, args.item[0], v.tensors);
    invit_model_destroy(model);
    cli_args_free(&args);
    return code;
}
