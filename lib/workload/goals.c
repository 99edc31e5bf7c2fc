/* goals.c - publishes the task of a run in shared memory (goals.h). */
#include "workload/goals.h"
#include "base/text.h"
#include "base/value.h"

#include <inttypes.h>
#include <stdio.h>

void goals_publish(struct hx_metrics_head *h, const struct workload_plan *plan, uint64_t messages)
{
    const struct traffic *traffic = plan->traffic;
    const struct hx_settings *s = &traffic->settings;
    char size[HX_VALUE_TEXT];
    bool collective = traffic_has_collectives(traffic);
    if (traffic->flows || (plan->schedule && !traffic->spec->named_jobs))
        (void)hx_text_copy(h->traffic, sizeof h->traffic, s->traffic_file);
    else if (traffic_jobs_differ(traffic))
        (void)snprintf(h->traffic, sizeof h->traffic, "%u jobs, each its own, seed %" PRIu64, traffic->spec->named_jobs,
                       s->seed);
    else
        (void)snprintf(h->traffic, sizeof h->traffic, "%s, %s of %s, seed %" PRIu64, hx_pattern_names[s->pattern],
                       collective ? "a vector" : "messages", hx_value_print_bytes(size, s->message), s->seed);
    h->goal_time = s->duration_ns;
    h->goal_messages = messages;
    h->goal_operations = plan->schedule ? (uint64_t)schedule_plan_operations(plan->schedule) : 0;
    h->goal_bytes = traffic_has_common(traffic) || s->duration_ns ? 0 : (uint64_t)traffic_bytes_of_all(traffic);
}
