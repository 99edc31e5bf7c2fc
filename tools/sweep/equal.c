/* equal.c - injection bandwidth of a sweep's fabrics, and how to make it equal (tools/sweep/sweep.h). */
#include "tools/sweep/sweep.h"

#include <string.h>

void sweep_injection_add(struct sweep *s, const struct hx_spec *spec, uint64_t planes, const struct hx_timing *over)
{
    const char *name = s->axis[0]->value[s->fabrics].text;
    s->injected[s->fabrics++] = injected_of(name, spec, planes, over);
}

static void refuse_beside(const struct sweep *s, const char *name, const char *option)
{
    if (s->wish.equal && sweep_axis_of(s, name))
        hx_die(HX_EXIT_USAGE, option, "is what --equal-injection sets: which of both?");
}

void sweep_injection_settle(struct sweep *s)
{
    const struct sweep_axis *clock = sweep_axis_of(s, "clock");
    bool is_virtual = clock && clock->count == 1 && strcmp(clock->value[0].text, hx_clock_names[HX_CLOCK_VIRTUAL]) == 0;
    refuse_beside(s, "planes", "--planes");
    refuse_beside(s, "link", "--link");
    refuse_beside(s, "crossbar", "--crossbar");
    injected_settle(s->injected, s->fabrics, &s->wish, is_virtual);
}

unsigned sweep_fabric(const struct sweep *s, unsigned run)
{
    return (unsigned)(sweep_value(s, run, 0) - s->axis[0]->value);
}
