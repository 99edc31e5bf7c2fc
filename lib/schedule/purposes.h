/* purposes.h - what executors counted, over all ranks: communication by purpose, and what the schedule trains. */
#ifndef SCHEDULE_PURPOSES_H
#define SCHEDULE_PURPOSES_H

#include "schedule/executor.h"

#include <jansson.h>

/* A time over all ranks, seconds. */
struct schedule_spread {
    double least, mean, most;
};

/* Adds the time of one of `ranks` ranks, rank 0 first. */
void schedule_spread_add(struct schedule_spread *s, double seconds, uint32_t rank, uint32_t ranks);
json_t *schedule_spread_json(const struct schedule_spread *s);

json_t *schedule_purposes_json(const struct executor_plan *plan);
/* Prints a line for each purpose, behind `indent`; none if no purpose has a name. */
void schedule_purposes_print(const struct executor_plan *plan, const char *indent);

/* Adds samples, tokens and training_iterations of the whole schedule to an object; null: not known. */
void schedule_work_json(json_t *object, const struct schedule_head *head);
/* Adds samples and tokens a second. seconds: time of the schedule; 0: not known. */
void schedule_rates_json(json_t *object, const struct schedule_head *head, double seconds);
/* Prints both in a line, behind `before`; none if neither samples nor tokens are known. */
void schedule_work_print(const struct schedule_head *head, double seconds, const char *before);

#endif
