/* purposes.c - what executors counted, over all ranks (purposes.h). */
#include "schedule/purposes.h"
#include "base/json.h"
#include "base/text.h"
#include "base/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void schedule_spread_add(struct schedule_spread *s, double seconds, uint32_t rank, uint32_t ranks)
{
    s->least = rank == 0 || seconds < s->least ? seconds : s->least;
    s->most = rank == 0 || seconds > s->most ? seconds : s->most;
    s->mean += seconds / ranks;
}

json_t *schedule_spread_json(const struct schedule_spread *s)
{
    return json_pack("{s:f, s:f, s:f}", "least", s->least, "mean", s->mean, "most", s->most);
}

/* ---- purposes ---- */

struct sums {
    const char *name; /* of the purpose; "": operations without one */
    uint64_t messages, bytes;
    struct schedule_spread busy, hidden, exposed; /* as in struct executor_purpose */
};

static struct sums sums_of(const struct executor_plan *plan, unsigned purpose)
{
    const struct schedule *s = plan->schedule;
    uint32_t ranks = schedule_ranks(s);
    struct sums sums = {.name = s->names + s->head->purpose[purpose]};
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct executor_purpose *p = &plan->result[rank].purpose[purpose];
        sums.messages += p->messages;
        sums.bytes += p->bytes;
        schedule_spread_add(&sums.busy, (double)p->busy_ps / 1e12, rank, ranks);
        schedule_spread_add(&sums.hidden, (double)p->hidden_ps / 1e12, rank, ranks);
        schedule_spread_add(&sums.exposed, (double)p->exposed_ps / 1e12, rank, ranks);
    }
    return sums;
}

/* Fills list[] with the purposes that have a name, then operations without one if they sent messages or took time.
 * Returns their number. */
static unsigned sums_of_all(const struct executor_plan *plan, struct sums list[SCHEDULE_MOST_PURPOSES])
{
    unsigned count = 0;
    for (unsigned i = 1; i < SCHEDULE_MOST_PURPOSES; i++) {
        if (plan->schedule->head->purpose[i] != SCHEDULE_NO_NAME)
            list[count++] = sums_of(plan, i);
    }
    list[count] = sums_of(plan, SCHEDULE_NO_PURPOSE);
    return count + (list[count].messages || list[count].busy.most > 0);
}

json_t *schedule_purposes_json(const struct executor_plan *plan)
{
    struct sums list[SCHEDULE_MOST_PURPOSES];
    unsigned count = sums_of_all(plan, list);
    json_t *all = json_array();
    for (unsigned i = 0; i < count; i++) {
        const struct sums *p = &list[i];
        json_array_append_new(all, json_pack("{s:o, s:I, s:I, s:o, s:o, s:o}", "purpose", hx_json_text(p->name),
                                             "messages", (json_int_t)p->messages, "bytes", (json_int_t)p->bytes,
                                             "seconds", schedule_spread_json(&p->busy), "exposed_seconds",
                                             schedule_spread_json(&p->exposed), "hidden_seconds",
                                             schedule_spread_json(&p->hidden)));
    }
    return all;
}

void schedule_purposes_print(const struct executor_plan *plan, const char *indent)
{
    struct sums list[SCHEDULE_MOST_PURPOSES];
    unsigned count = sums_of_all(plan, list);
    char text[3][HX_VALUE_TEXT];
    for (unsigned i = 0; i < count && list[0].name[0]; i++)
        printf("%s%-10s %s a rank, %s, %s exposed (mean)\n", indent, list[i].name[0] ? list[i].name : "other",
               hx_value_print_bytes(text[0], list[i].bytes / schedule_ranks(plan->schedule)),
               hx_value_print_seconds(text[1], list[i].busy.mean),
               hx_value_print_seconds(text[2], list[i].exposed.mean));
}

/* ---- what is trained ---- */

static uint64_t samples_of(const struct schedule_head *head)
{
    return head->samples * head->iterations;
}

static uint64_t tokens_of(const struct schedule_head *head)
{
    return head->tokens * head->iterations;
}

static json_t *amount_json(uint64_t amount)
{
    return amount ? json_integer((json_int_t)amount) : json_null();
}

static json_t *rate_json(uint64_t amount, double seconds)
{
    return amount && seconds > 0 ? json_real((double)amount / seconds) : json_null();
}

void schedule_work_json(json_t *object, const struct schedule_head *head)
{
    (void)json_object_set_new(object, "samples", amount_json(samples_of(head)));
    (void)json_object_set_new(object, "tokens", amount_json(tokens_of(head)));
    (void)json_object_set_new(object, "training_iterations", json_integer(head->iterations));
}

void schedule_rates_json(json_t *object, const struct schedule_head *head, double seconds)
{
    (void)json_object_set_new(object, "samples_per_second", rate_json(samples_of(head), seconds));
    (void)json_object_set_new(object, "tokens_per_second", rate_json(tokens_of(head), seconds));
}

static const char *print_amount(const char *before, uint64_t amount, const char *what, double seconds)
{
    if (!amount)
        return before;
    printf("%s%" PRIu64 " %s", before, amount, what);
    if (seconds > 0)
        printf(" (%.6g a second)", (double)amount / seconds);
    return ", ";
}

void schedule_work_print(const struct schedule_head *head, double seconds, const char *before)
{
    if (!head->samples && !head->tokens)
        return;
    before = print_amount(before, samples_of(head), "samples", seconds);
    (void)print_amount(before, tokens_of(head), "tokens", seconds);
    printf(" in %" PRIu32 " iteration%s\n", head->iterations, hx_plural(head->iterations));
}
