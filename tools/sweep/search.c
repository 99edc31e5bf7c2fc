/* search.c - finds the saturation rate of a fabric by bisection (tools/sweep/sweep.h). */
#include "tools/sweep/sweep.h"

struct sweep_search sweep_search_start(void)
{
    return (struct sweep_search){.holds = 0, .fails = 2, .rate = 1};
}

bool sweep_search_take(struct sweep_search *s, bool held)
{
    if (held)
        s->holds = s->rate;
    else
        s->fails = s->rate;
    if (s->fails > 1 || s->fails - s->holds <= SWEEP_NEAR * s->fails || s->fails <= SWEEP_LEAST)
        return false;
    s->rate = (s->holds + s->fails) / 2;
    return true;
}
