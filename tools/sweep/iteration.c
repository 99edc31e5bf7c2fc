/* iteration.c - what an iteration of a schedule takes (tools/sweep/sweep.h). */
#include "tools/sweep/sweep.h"

#include <math.h>

/* What the schedule trains counts; else its outermost repeats; else it is one. */
static double iterations_of(const json_t *schedule)
{
    const double trained = json_number_value(json_object_get(schedule, "training_iterations"));
    const double repeats = json_number_value(json_object_get(schedule, "iterations"));
    return trained > 0 ? trained : fmax(1, repeats);
}

double sweep_iteration(const json_t *report)
{
    double most = NAN;
    const json_t *list = json_object_get(report, "schedule");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *schedule = json_array_get(list, i);
        const json_t *seconds = json_object_get(schedule, "seconds");
        if (json_is_number(seconds))
            most = fmax(json_number_value(seconds) / iterations_of(schedule), most);
    }
    return most;
}
