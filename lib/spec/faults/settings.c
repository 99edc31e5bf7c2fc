/* settings.c - merges options into a file's settings, and loads the schedule (settings.h). */
#include "spec/faults/settings.h"
#include "base/options/runs.h"
#include "base/value.h"
#include "spec/circuits/circuits.h"
#include "spec/faults/faults.h"

#include <string.h>

void hx_fault_settings_merge(struct hx_fault_settings *into, const struct hx_fault_settings *over)
{
    struct hx_fault_settings source = *over;
    const struct hx_option to[] = {HX_FAULT_OPTIONS(into), HX_OPTIONS_END};
    const struct hx_option of[] = {HX_FAULT_OPTIONS(&source), HX_OPTIONS_END};
    hx_options_take(to, of);
}

void hx_fault_settings_clear(struct hx_fault_settings *s)
{
    *s = (struct hx_fault_settings){.circuits = s->circuits,
                                    .mtbf_ns = s->mtbf_ns,
                                    .mttr_ns = s->mttr_ns,
                                    .detect_ns = s->detect_ns,
                                    .notify_ns = s->notify_ns,
                                    .given = s->given & HX_GIVEN_CIRCUITS};
}

bool hx_faults_load(struct hx_faults *faults, const struct hx_fault_settings *s, const struct hx_fabric *f,
                    uint64_t seed, uint64_t until_ns, struct hx_problem *problem)
{
    bool random = s->file && strcmp(s->file, HX_FAULTS_RANDOM) == 0;
    *faults = (struct hx_faults){.seed = seed};
    if (!random && s->given & (HX_GIVEN_MTBF | HX_GIVEN_MTTR))
        return hx_fail(problem, HX_EXIT_USAGE, s->given & HX_GIVEN_MTBF ? "--mtbf" : "--mttr",
                       "is for faults that are drawn: --faults random");
    if (!s->file && s->lines.count == 0 && s->given & (HX_GIVEN_DETECT | HX_GIVEN_NOTIFY))
        return hx_fail(problem, HX_EXIT_USAGE, s->given & HX_GIVEN_DETECT ? "--detect" : "--tell",
                       "is for faults, and none is said: --fault or --faults");
    for (unsigned i = 0; i < s->lines.count; i++)
        if (!hx_faults_add(faults, s->lines.item[i], "faults", f, problem))
            return false;
    if (s->file && !random && !hx_faults_read(faults, s->file, f, problem))
        return false;
    if (random && until_ns / s->mtbf_ns > HX_MOST_DRAWN_FAULTS) {
        char mtbf[HX_VALUE_TEXT];
        char until[HX_VALUE_TEXT];
        return hx_fail(
            problem, HX_EXIT_USAGE, "--mtbf", "a fault each %s is more than %u of them in %s (draw them seldomer)",
            hx_value_write_duration(mtbf, s->mtbf_ns), HX_MOST_DRAWN_FAULTS, hx_value_write_duration(until, until_ns));
    }
    const struct hx_fault_draw draw = {seed, s->mtbf_ns, s->mttr_ns, until_ns};
    if (random)
        hx_faults_draw(faults, &draw, f);
    if (!hx_faults_draw_closed(faults, s->failures, seed, f, problem))
        return false;
    return !s->circuits || hx_circuits_read(faults, s->circuits, f, problem);
}
