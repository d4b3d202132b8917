#include "lab/eval/eval_rules.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    invit_construct construct;
    const char *name;
    bool tsp, cvrp;
} rules[INV_RULES] = {{INVIT_CONSTRUCT_NEAREST, "nearest neighbour", true, true},
                      {INVIT_CONSTRUCT_SPACE_FILLING, "space-filling curve", true, true},
                      {INVIT_CONSTRUCT_GREEDY, "greedy edges", true, false},
                      {INVIT_CONSTRUCT_SAVINGS, "savings", false, true}};

const char *inv_rule_name(int rule)
{
    return rules[rule].name;
}

static invit_status run_rule(const invit_eval_options *o, inv_comm *comm, const inv_task *task, int32_t count,
                             inv_rule_result *r, invit_error *err)
{
    inv_journal *journal = NULL;
    invit_status status;
    INV_TRY(inv_journal_open(NULL, "", false, &journal, err)); /* in memory */
    INV_TRY(inv_eval_tasks(o, comm, journal, task, count, err));
    for (int32_t i = 0; i < inv_journal_count(journal); i++) {
        const inv_outcome *x = inv_journal_item(journal, i);
        r->failed += x->error[0] != 0;
        if (!isnan(x->seconds)) r->seconds += x->seconds;
        if (isnan(x->gap)) continue;
        r->gap += x->gap;
        r->count++;
    }
    r->gap = r->count > 0 ? r->gap / r->count : NAN;
done:
    inv_journal_close(journal);
    return status;
}

invit_status inv_rules_run(const invit_eval_options *o, inv_comm *comm, const inv_task *task, int32_t count,
                           inv_rule_result result[INV_RULES], invit_error *err)
{
    invit_eval_options mine = *o;
    mine.results = NULL;
    mine.resume = false;
    invit_options how = {.o = inv_eval_solve(o)};
    how.o.seconds = 0;
    how.o.iterations = 0;
    mine.solve = &how;
    for (int i = 0; i < INV_RULES; i++) {
        result[i] = (inv_rule_result){0};
        bool fits = count > 0 && (task[0].instance->problem == INVIT_TSP ? rules[i].tsp : rules[i].cvrp);
        if (!fits) continue;
        how.o.construct = rules[i].construct;
        INV_CHECK(run_rule(&mine, comm, task, count, &result[i], err));
    }
    return INVIT_OK;
}
