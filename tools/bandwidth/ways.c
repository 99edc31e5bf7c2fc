/* ways.c - ways to divide a budget (tools/bandwidth/ways.h). */
#include "tools/bandwidth/ways.h"
#include "tools/bandwidth/allocate.h"
#include "tools/bandwidth/search.h"

#include <math.h>
#include <string.h>

const char *const bandwidth_way_names[BANDWIDTH_WAYS] = {"EqualBW", "MessageBW", "SmartBW", "search", "search/cost"};

struct bandwidth_time bandwidth_answer(const struct bandwidth_question *q, const double *rate)
{
    return bandwidth_time_of(&q->network, &q->work, rate, q->latency);
}

static double iteration_of(void *of, const double *rate)
{
    return bandwidth_answer(of, rate).iteration;
}

static double product_of(void *of, const double *rate)
{
    const struct bandwidth_question *q = of;
    return iteration_of(of, rate) * bandwidth_cost(&q->network, rate, q->prices);
}

static void search(const struct bandwidth_question *q, bandwidth_model *model, double *rate)
{
    static const double first = 2, last = 1.00001; /* factors of a step */
    struct bandwidth_question own = *q;
    double best = INFINITY;
    for (enum bandwidth_way way = 0; way < BANDWIDTH_SEARCH; way++) {
        double other[BANDWIDTH_DIMENSIONS];
        bandwidth_divide(q, way, other);
        const double value = model(&own, other);
        if (value < best)
            memcpy(rate, other, q->network.dimensions * sizeof *rate);
        best = fmin(best, value);
    }
    (void)bandwidth_search(q->network.dimensions, rate, model, &own, 0, first, last);
}

void bandwidth_divide(const struct bandwidth_question *q, enum bandwidth_way way, double *rate)
{
    const struct bandwidth_load load = bandwidth_load_of(&q->network, &q->work);
    switch (way) {
    case BANDWIDTH_EQUAL:
        bandwidth_equal(&load, q->budget, rate);
        break;
    case BANDWIDTH_MESSAGE:
        bandwidth_message(&load, q->budget, rate);
        break;
    case BANDWIDTH_SMART:
        bandwidth_smart(&load, q->budget, rate);
        break;
    default:
        search(q, way == BANDWIDTH_SEARCH ? iteration_of : product_of, rate);
    }
}
