/* estimate.c - a schedule on an ideal network (estimate.h). */
#include "tools/schedule/estimate.h"
#include "base/output.h"
#include "base/value.h"
#include "schedule/choices.h"
#include "schedule/purposes.h"
#include "schedule/results.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_ENTRIES = 1 << 26 };

struct world {
    struct executor_plan plan;
    struct schedule_groups groups;
    struct schedule_choices *choices;
    struct schedule_results results;
};

static void open_world(struct world *w, const struct schedule *s, const char *path, const struct estimate_options *o)
{
    struct hx_problem problem;
    *w = (struct world){.plan = {.schedule = s,
                                 .costs = o->costs,
                                 .window = UINT32_MAX,
                                 .in_order = true,
                                 .choose = schedule_choose,
                                 .groups = &w->groups}};
    w->plan.costs.overhead_ps = o->overhead_ns * 1000;
    schedule_groups_make(&w->groups, s);
    w->choices = schedule_choices_make(s, schedule_fill_plain, NULL, &problem);
    w->plan.of = w->choices;
    if (!w->choices || !schedule_results_make(&w->results, &w->plan, MOST_ENTRIES, path, &problem))
        hx_die_of(&problem);
}

static void close_world(struct world *w)
{
    schedule_results_free(&w->results);
    schedule_choices_free(w->choices);
    schedule_groups_free(&w->groups);
}

/* ---- operations as CSV ---- */

static void write_rank(FILE *out, const struct executor_plan *plan, uint32_t rank)
{
    uint64_t room = plan->first_entry[rank + 1] - plan->first_entry[rank];
    uint64_t end = plan->result[rank].entries;
    for (uint64_t i = end > room ? end - room : 0; i < end; i++) {
        const struct executor_entry *e = &plan->entry[plan->first_entry[rank] + i % room];
        const struct schedule_operation *o = schedule_at(plan->schedule, rank, e->operation);
        fprintf(out, "%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%s,%s\n", rank, e->operation, e->begin, e->end,
                schedule_kind_names[o->kind], schedule_name(plan->schedule, o));
    }
}

static void write_operations(const char *path, const struct executor_plan *plan)
{
    FILE *out = hx_output_open(path);
    fprintf(out, "rank,number,begin_ps,end_ps,kind,name\n");
    for (uint32_t rank = 0; rank < schedule_ranks(plan->schedule); rank++)
        write_rank(out, plan, rank);
    hx_output_close(out, path);
}

/* ---- the report ---- */

static bool complain(const struct executor_plan *plan, const char *path)
{
    uint32_t stuck = 0;
    for (uint32_t rank = 0; rank < schedule_ranks(plan->schedule); rank++) {
        const struct executor_result *r = &plan->result[rank];
        if (r->done)
            continue;
        const struct schedule_operation *o = schedule_at(plan->schedule, rank, r->blocked);
        if (stuck++ == 0)
            hx_complain(path, "the schedule is stuck: rank %" PRIu32 ": %s %" PRIu32 " waits for ever", rank,
                        schedule_kind_names[o->kind], r->blocked);
    }
    return stuck == 0;
}

/* Seconds. */
struct sums {
    double end;                /* of the last operation */
    double computing, exposed; /* mean of the ranks */
};

static struct sums sums_of(const struct executor_plan *plan)
{
    struct sums sums = {0, 0, 0};
    uint32_t ranks = schedule_ranks(plan->schedule);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct executor_result *r = &plan->result[rank];
        sums.end = (double)r->end_ps / 1e12 > sums.end ? (double)r->end_ps / 1e12 : sums.end;
        sums.computing += (double)r->computing_ps / 1e12 / ranks;
        sums.exposed += (double)r->exposed_ps / 1e12 / ranks;
    }
    return sums;
}

bool estimate_schedule(const struct schedule *s, const char *path, const struct estimate_options *o, json_t **json)
{
    const double byte_ps = o->gbps > 0 ? 8e3 / o->gbps : 0;
    const struct estimate_network network = {
        .latency_ps = o->latency_ns * 1000, .byte_ps = byte_ps, .host_byte_ps = byte_ps};
    struct world w;
    char text[HX_VALUE_TEXT];
    open_world(&w, s, path, o);
    if (!schedule_estimate(&w.plan, &network))
        hx_die(HX_EXIT_FAILED, path, "a message fits no operation");
    const struct sums sums = sums_of(&w.plan);
    if (json) {
        *json = json_pack("{s:f, s:f, s:f, s:o}", "seconds", sums.end, "computing_seconds", sums.computing,
                          "exposed_seconds", sums.exposed, "purposes", schedule_purposes_json(&w.plan));
        schedule_rates_json(*json, s->head, sums.end);
    } else if (!hx_output_is_stdout(o->operations)) {
        printf(
            "estimate        %s on an ideal network; a rank's time: computing %.1f %%, exposed communication %.1f %%\n",
            hx_value_print_duration(text, (uint64_t)(sums.end * 1e9)),
            sums.end > 0 ? 100 * sums.computing / sums.end : 0, sums.end > 0 ? 100 * sums.exposed / sums.end : 0);
        schedule_purposes_print(&w.plan, "                ");
        schedule_work_print(s->head, sums.end, "                ");
    }
    if (o->operations)
        write_operations(o->operations, &w.plan);
    bool good = complain(&w.plan, path);
    close_world(&w);
    return good;
}
