/* The options of a training run: one table gives the flags, the keys of a config file, the defaults and the
 * help. */
#include "lab/train/run/options.h"

#include "invit_lab.h"
#include "base/options.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The types of base/options.h, short enough for a table. A CHOICE is one of the words of the column `value`. */
enum {
    TEXT = INV_OPTION_TEXT,
    WHOLE = INV_OPTION_INT64,
    SEED = INV_OPTION_UINT64,
    REAL = INV_OPTION_NUMBER,
    FLAG = INV_OPTION_BOOL,
    CHOICE = INV_OPTION_CHOICE
};

/* In which runs an option counts. */
typedef enum audience { ALL_RUNS, IMITATION, REINFORCE, CVRP_RUNS } audience;

typedef struct row {
    const char *key, *value, *help;
    int type;
    size_t offset, size;
    double low, high;
    audience counts;
    const char *group;
} row;

#define FIELD(f) .offset = offsetof(invit_train_options, f), .size = sizeof(((invit_train_options *)0)->f)
#define BIG      1e15

static const row table[] = {
    {"problem", "tsp|cvrp", "what to solve", CHOICE, FIELD(problem), .group = "Run"},
    {"method", "imitate|reinforce", "how to learn", CHOICE, FIELD(method)},
    {"run", "DIR", "the run's directory: config, log, checkpoint, best weights", TEXT, FIELD(run)},
    {"minutes", "M", "stop after M minutes", REAL, FIELD(minutes), 0, BIG},
    {"steps", "N", "stop after N steps (0: the minutes decide)", WHOLE, FIELD(steps), 0, BIG},
    {"seed", "N", "seed of everything random", SEED, FIELD(seed)},
    {"threads", "N", "threads (0: all cores); results do not depend on it", WHOLE, FIELD(threads), 0, 4096},
    {"exact", "yes|no", "fp32 throughout, also on CPUs with bf16 products", FLAG, FIELD(exact)},
    {"checkpoint", "S", "seconds between checkpoints", REAL, FIELD(checkpoint), 0, 1e9},
    {"log-every", "N", "steps between lines of the log", WHOLE, FIELD(log_every), 1, 1e9},

    {"init", "FILE", "begin with these weights; a model with fewer views or layers grows", TEXT, FIELD(init),
     .group = "Model"},
    {"views", "K,K,..", "sizes of the action view and the state views", TEXT, FIELD(views)},
    {"dim", "N", "model width", WHOLE, FIELD(dim), 1, 65536},
    {"ff", "N", "feed-forward width", WHOLE, FIELD(ff), 1, 65536},
    {"heads", "N", "attention heads", WHOLE, FIELD(heads), 1, 65536},
    {"action-layers", "N", "encoder layers of the action view", WHOLE, FIELD(action_layers), 1, 64},
    {"state-layers", "N", "encoder layers of each state view", WHOLE, FIELD(state_layers), 1, 64},
    {"decoder-layers", "N", "decoder layers", WHOLE, FIELD(decoder_layers), 1, 64},
    {"invariant", "yes|no", "normalise each view (the invariant layer)", FLAG, FIELD(invariant)},
    {"canonical-frame", "yes|no",
     "views in a canonical frame: rotations and reflections are all one (not as published)", FLAG,
     FIELD(canonical_frame)},

    {"data", "MIX", "distribution:size[-size][:share],... with uniform, clustered, explosion, implosion",
     TEXT, FIELD(data), .group = "Data"},
    {"capacity", "N[-N]", "CVRP: capacity or its range (0: by size as published)", TEXT, FIELD(capacity),
     .counts = CVRP_RUNS},
    {"demand-max", "N", "CVRP: demands are uniform on 1..N", WHOLE, FIELD(demand_max), 1, 1000000, CVRP_RUNS},
    {"library", "X",
     "share of instances like the libraries': TSP with dense patches, rows and grids, CVRP with the X set's "
     "depots, demands and capacities",
     REAL, FIELD(like_library), 0, 1},
    {"effort", "X", "effort of the expert, the search that labels", REAL, FIELD(effort), 0, 1e6},
    {"share", "X", "share of a tour's states that is learned from", REAL, FIELD(share), 1e-6, 1},
    {"min-p", "P", "minimum probability: less likely candidates are neither sampled nor compared", REAL,
     FIELD(min_p), 0, 1},
    {"batch", "N", "states (imitate) or rollouts (reinforce) in a step", WHOLE, FIELD(batch), 1, 1e8},
    {"lanes", "N", "parts of a batch with their own random streams", WHOLE, FIELD(lanes), 1, 65536},

    {"labels", "FILE", "learn from a label file instead of fresh instances", TEXT, FIELD(labels),
     .counts = IMITATION, .group = "Imitation"},
    {"rollin", "X", "DAgger-style roll-in: share of tours that begin with the policy's own steps", REAL,
     FIELD(rollin), 0, 1, IMITATION},
    {"walks", "N", "times each labelled tour is walked, with another start, direction and rotation", WHOLE,
     FIELD(walks), 1, 1000000, IMITATION},
    {"replay-buffer", "N", "labelled states kept for mixing", WHOLE, FIELD(replay_buffer), 1, 1e8, IMITATION},
    {"q-regret", "X",
     "share of tours that the policy makes whole while the expert compares its open choices; the loss is "
     "their "
     "expected cost-to-go difference",
     REAL, FIELD(q_regret), 0, 0.95, IMITATION},
    {"distill", "FILE", "learn this teacher model's probabilities instead of the expert's choices", TEXT,
     FIELD(distill), .counts = IMITATION},

    {"augment", "N", "rotated and reflected copies of each instance", WHOLE, FIELD(augment), 1, 65536,
     REINFORCE, "REINFORCE"},
    {"baseline", "greedy|pomo", "frozen greedy policy, or the mean over the copies", TEXT, FIELD(baseline),
     .counts = REINFORCE},
    {"relative", "yes|no", "advantages as a part of the baseline's length, for mixed data", FLAG,
     FIELD(relative), .counts = REINFORCE},
    {"gae-lambda", "X",
     "lambda of GAE with the expert as critic (1: the whole tour's advantage, as published)", REAL,
     FIELD(gae_lambda), 0, 1, REINFORCE},
    {"reuse", "N", "updates from the decisions of a step, the later ones clipped (PPO)", WHOLE, FIELD(reuse),
     1, 1000, REINFORCE},
    {"compare", "N", "instances to compare with the frozen policy on", WHOLE, FIELD(compare), 1, 1e6,
     REINFORCE},
    {"margin", "X", "how much shorter the model must be to become the baseline", REAL, FIELD(margin), 0, 1e9,
     REINFORCE},

    {"lr", "X", "peak learning rate", REAL, FIELD(lr), 0, 1e3, .group = "Optimiser"},
    {"lr-final", "X", "where the cosine ends, as a part of lr", REAL, FIELD(lr_final), 0, 1},
    {"warmup", "N", "steps of linear rise", WHOLE, FIELD(warmup), 0, 1e9},
    {"schedule", "NAME", "cosine, exponential or constant", TEXT, FIELD(schedule)},
    {"decay", "X", "factor of the exponential schedule per epoch", REAL, FIELD(decay), 0, 1},
    {"epoch", "N", "steps of an epoch: of the exponential schedule, and between comparisons (reinforce)",
     WHOLE, FIELD(epoch), 1, 1e9},
    {"clip", "X", "largest gradient norm (0: none)", REAL, FIELD(clip), 0, 1e9},
    {"weight-decay", "X", "AdamW's weight decay", REAL, FIELD(weight_decay), 0, 1e3},
    {"beta1", "X", "AdamW's first beta", REAL, FIELD(beta1), 0, 1},
    {"beta2", "X", "AdamW's second beta", REAL, FIELD(beta2), 0, 1},
    {"epsilon", "X", "AdamW's epsilon", REAL, FIELD(epsilon), 0, 1},
    {"ema", "X", "decay of the weights' moving average, used for validation (0: none)", REAL, FIELD(ema), 0,
     1},

    {"validations", "N", "validations after the one at the start (0: one every six minutes, at least two)",
     WHOLE, FIELD(validations), 0, 1e6, .group = "Validation"},
    {"validate-small", "N", "instances of TSP-100 or CVRP-100 to validate on", WHOLE, FIELD(validate_small),
     0, 1e6},
    {"validate-large", "N", "instances of TSP-1000 or CVRP-500 to validate on", WHOLE, FIELD(validate_large),
     0, 1e6},
};
#define ROWS ((int)(sizeof table / sizeof table[0]))

/* Names of version 0.1, still understood: in configurations of earlier runs and as flags. */
enum { LAYERS = 0 }; /* one name that sets two options */
static const row old_names[] = {
    [LAYERS] = {"layers", "N", "--action-layers and --state-layers", WHOLE, FIELD(action_layers), 1, 64},
    {"turned", "yes|no", "--canonical-frame", FLAG, FIELD(canonical_frame)},
    {"mentor", "FILE", "--distill", TEXT, FIELD(distill), .counts = IMITATION},
    {"pool", "N", "--replay-buffer", WHOLE, FIELD(replay_buffer), 1, 1e8, IMITATION},
    {"regret", "X", "--q-regret", REAL, FIELD(q_regret), 0, 0.95, IMITATION},
    {"doubt", "P", "--min-p", REAL, FIELD(min_p), 0, 1},
    {"lambda", "X", "--gae-lambda", REAL, FIELD(gae_lambda), 0, 1, REINFORCE},
};
#define OLD ((int)(sizeof old_names / sizeof old_names[0]))

static const row *find_row(const char *key)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(table[i].key, key) == 0) return &table[i];
    for (int i = 0; i < OLD; i++)
        if (strcmp(old_names[i].key, key) == 0) return &old_names[i];
    return NULL;
}

bool invit_train_option(int i, invit_option_info *info)
{
    static const char *const only_for[] = {
        [IMITATION] = "--method imitate", [REINFORCE] = "--method reinforce", [CVRP_RUNS] = "cvrp"};
    if (i < 0 || i >= ROWS + OLD) return false;
    const row *r = i < ROWS ? &table[i] : &old_names[i - ROWS];
    *info = (invit_option_info){.key = r->key,
                                .value = r->value,
                                .help = r->help,
                                .group = r->group,
                                .only_for = only_for[r->counts],
                                .hidden = i >= ROWS};
    return true;
}

bool invit_train_option_counts(const invit_train_options *o, const char *key)
{
    const row *r = find_row(key);
    if (!r) return false;
    switch (r->counts) {
    case IMITATION:
        return o->method == INVIT_IMITATE;
    case REINFORCE:
        return o->method == INVIT_REINFORCE;
    case CVRP_RUNS:
        return o->problem == INVIT_CVRP;
    case ALL_RUNS:
        break;
    }
    return true;
}

void invit_train_defaults(invit_problem problem, invit_train_method method, invit_train_options *o)
{
    bool cvrp = problem == INVIT_CVRP, reinforce = method == INVIT_REINFORCE;
    *o = (invit_train_options){
        .problem = problem,
        .method = method,
        .minutes = 20,
        .seed = 1,
        .views = "15,35",
        .dim = 128,
        .ff = 512,
        .heads = 8,
        .action_layers = 2,
        .state_layers = 2,
        .decoder_layers = 3,
        .invariant = true,
        .canonical_frame = true,
        .demand_max = 10,
        .effort = cvrp ? 0.3 : 1,
        .share = reinforce ? 0.7
                 : cvrp    ? 1
                           : 0.5,
        .walks = 1,
        .replay_buffer = 16384,
        .rollin = 0.5,
        .min_p = 0.05,
        .batch = reinforce ? 64 : 256,
        .lanes = reinforce ? 4 : 8,
        .lr = reinforce ? 7e-5 : 1e-3,
        .lr_final = 0.01,
        .warmup = reinforce ? 10 : 400,
        .decay = 0.99,
        .clip = 1,
        .weight_decay = 0.01,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8,
        .ema = reinforce ? 0.98 : 0.999,
        .augment = 8,
        .relative = true,
        .gae_lambda = 1,
        .reuse = 1,
        .epoch = 300,
        .compare = 64,
        .margin = 1e-3,
        .validate_small = 64,
        .validate_large = 4,
        .checkpoint = 60,
        .log_every = 20,
    };
    strcpy(o->data,
           reinforce ? "uniform:100:2,clustered:100,explosion:100,implosion:100"
           : cvrp    ? "uniform:50-150:4,clustered:50-150:2,explosion:50-150,implosion:50-150,uniform:200-500"
                     : "uniform:100:4,uniform:20-200:2,clustered:50-400:2,explosion:50-400,implosion:50-400,"
                       "uniform:500-1000:2");
    strcpy(o->capacity, reinforce ? "50" : "40-65");
    strcpy(o->schedule, "cosine");
    strcpy(o->baseline, "pomo");
}

static inv_option as_option(const row *r)
{
    return (inv_option){.name = r->key,
                        .type = (inv_option_type)r->type,
                        .offset = r->offset,
                        .size = r->size,
                        .min = r->low,
                        .max = r->high,
                        .choices = r->value};
}

invit_status invit_train_set(invit_train_options *o, const char *key, const char *text, invit_error *err)
{
    const row *r = find_row(key);
    if (!r) return inv_fail(err, INVIT_ERR_ARGUMENT, "there is no training option '%s'", key);
    inv_option option = as_option(r);
    char expected[256];
    if (!inv_option_parse(&option, text, (char *)o + r->offset))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "--%s: expected %s, got '%.200s'", key,
                        inv_option_expected(&option, expected, sizeof expected), text);
    if (r == &old_names[LAYERS]) o->state_layers = o->action_layers;
    return INVIT_OK;
}

static void get_row(const invit_train_options *o, const row *r, char *text, size_t size)
{
    inv_option option = as_option(r);
    inv_option_text(&option, (const char *)o + r->offset, text, size);
}

invit_status invit_train_get(const invit_train_options *o, const char *key, char *text, size_t size,
                             invit_error *err)
{
    const row *r = find_row(key);
    if (!r) return inv_fail(err, INVIT_ERR_ARGUMENT, "there is no training option '%s'", key);
    get_row(o, r, text, size);
    return INVIT_OK;
}

static invit_status read_line(invit_train_options *o, char *line, const char *path, int number,
                              invit_error *err)
{
    char *key, *value;
    if (!inv_config_line(line, &key, &value))
        return inv_fail(err, INVIT_ERR_INPUT, "%s:%d: expected `key = value`, got '%s'", path, number, line);
    if (!key) return INVIT_OK;
    invit_error why = {0};
    if (invit_train_set(o, key, value, &why) != INVIT_OK)
        return inv_fail(err, INVIT_ERR_INPUT, "%s:%d: %.900s", path, number, why.message);
    return INVIT_OK;
}

invit_status invit_train_read_config(invit_train_options *o, const char *path, invit_error *err)
{
    inv_text t;
    invit_status status = INVIT_OK;
    INV_CHECK(inv_text_open(&t, path, err));
    INV_TRY(inv_text_begin(&t, err));
    while (!inv_text_at_end(&t)) {
        const char *text;
        size_t n;
        int number = (int)t.line;
        INV_TRY(inv_text_line(&t, &text, &n, err));
        char *line = strndup(text, n);
        if (!line) INV_TRY(inv_no_memory(err, n));
        status = read_line(o, line, path, number, err);
        free(line);
        INV_TRY(status);
    }
    INV_TRY(inv_text_status(&t, err));
done:
    inv_text_close(&t);
    return status;
}

invit_status inv_options_write(const invit_train_options *o, const char *path, invit_error *err)
{
    inv_outfile *file;
    INV_CHECK(inv_outfile_open(path, &file, err));
    inv_outfile_printf(file, "# invit %s\n# %s\n", invit_version(), o->command);
    for (int i = 0; i < ROWS; i++) {
        char text[2048];
        get_row(o, &table[i], text, sizeof text);
        if (text[0]) inv_outfile_printf(file, "%s = %s\n", table[i].key, text);
    }
    return inv_outfile_close(file, err);
}

invit_status inv_options_append_bound(const invit_train_options *o, const char *path, invit_error *err)
{
    char minutes[64], steps[64];
    invit_train_get(o, "minutes", minutes, sizeof minutes, NULL);
    invit_train_get(o, "steps", steps, sizeof steps, NULL);
    FILE *file = fopen(path, "a");
    bool fine = file && fprintf(file, "# %s\nminutes = %s\nsteps = %s\n", o->command, minutes, steps) > 0;
    if (file) fine = fclose(file) == 0 && fine;
    return fine ? INVIT_OK : inv_fail(err, INVIT_ERR_IO, "%s: %s", path, strerror(errno));
}

invit_status inv_options_model(const invit_train_options *o, inv_config *c, invit_error *err)
{
    inv_config_defaults(c, o->problem);
    c->dim = (int32_t)o->dim;
    c->ff = (int32_t)o->ff;
    c->heads = (int32_t)o->heads;
    c->action_layers = (int32_t)o->action_layers;
    c->state_layers = (int32_t)o->state_layers;
    c->decoder_layers = (int32_t)o->decoder_layers;
    c->invariant = o->invariant;
    c->canonical_frame = o->canonical_frame && o->invariant;
    c->state_views = -1;
    const char *s = o->views;
    do {
        char *end;
        long k = strtol(s, &end, 10);
        if (end == s || (*end && *end != ',') || k < 1 || k > 100000 || c->state_views >= INV_MAX_VIEWS)
            return inv_fail(err, INVIT_ERR_ARGUMENT,
                            "--views: '%s' is not a list like 15,35 of at most %d numbers", o->views,
                            INV_MAX_VIEWS + 1);
        if (c->state_views < 0)
            c->action_k = (int32_t)k;
        else
            c->state_k[c->state_views] = (int32_t)k;
        c->state_views++;
        s = *end ? end + 1 : NULL;
    } while (s);
    return INVIT_OK;
}

invit_status inv_options_check(const invit_train_options *o, invit_error *err)
{
    inv_config c;
    INV_CHECK(inv_options_model(o, &c, err));
    if (o->dim % o->heads != 0)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "--dim %lld is not a multiple of --heads %lld",
                        (long long)o->dim, (long long)o->heads);
    if (strcmp(o->schedule, "cosine") != 0 && strcmp(o->schedule, "exponential") != 0 &&
        strcmp(o->schedule, "constant") != 0)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "--schedule: '%s' is not cosine, exponential or constant",
                        o->schedule);
    if (strcmp(o->baseline, "greedy") != 0 && strcmp(o->baseline, "pomo") != 0)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "--baseline: '%s' is not greedy or pomo", o->baseline);
    if (o->steps == 0 && !(o->minutes > 0))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "a run needs --minutes or --steps");
    if (o->distill[0] && (o->method != INVIT_IMITATE || o->labels[0] || o->q_regret > 0))
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "--distill is for --method imitate, without --labels and --q-regret");
    if (o->batch % o->lanes != 0)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "--batch %lld cannot be shared by --lanes %lld",
                        (long long)o->batch, (long long)o->lanes);
    if (o->method == INVIT_REINFORCE && o->batch / o->lanes % o->augment != 0)
        return inv_fail(
            err, INVIT_ERR_ARGUMENT,
            "--batch: %lld rollouts in %lld lanes are not whole groups of %lld copies (--augment)",
            (long long)o->batch, (long long)o->lanes, (long long)o->augment);
    return INVIT_OK;
}
