/* fault_report.c - faults in the report (fault_report.h). */
#include "fabric-emu/report/fault_report.h"
#include "base/json.h"
#include "base/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 10 };

/* ns from the fault until traffic was repaired. */
static uint64_t took(const struct fault_report *f)
{
    return f->whole && f->whole_ns > f->at_ns ? f->whole_ns - f->at_ns : 0;
}

json_t *fault_report_entry(const struct fault_report *f)
{
    json_t *whole = f->whole ? json_integer((json_int_t)took(f)) : json_null();
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "fault", hx_json_text(f->text), "at_ns",
                     (json_int_t)f->at_ns, "lost", (json_int_t)f->cost.lost, "corrupted", (json_int_t)f->cost.corrupted,
                     "duplicated", (json_int_t)f->cost.duplicated, "reordered", (json_int_t)f->cost.reordered,
                     "credits_lost", (json_int_t)f->cost.credits_lost, "hits", (json_int_t)f->hits, "whole_after_ns",
                     whole);
}

json_t *fault_report_json(const struct fault_report *fault, size_t count)
{
    json_t *faults = json_array();
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(faults, fault_report_entry(&fault[i]));
    return faults;
}

static int costliest_first(const void *a, const void *b)
{
    const struct fault_report *p = a;
    const struct fault_report *q = b;
    if (p->hits != q->hits)
        return p->hits < q->hits ? 1 : -1;
    return p->at_ns != q->at_ns ? (p->at_ns > q->at_ns) - (p->at_ns < q->at_ns) : strcmp(p->text, q->text);
}

static void print_one(const struct fault_report *f)
{
    char text[HX_VALUE_TEXT];
    const char *whole = "not repaired";
    if (f->whole)
        whole = f->hits ? hx_value_print_duration(text, took(f)) : "nothing was hit";
    printf("  %10" PRIu64 " %10" PRIu64 "  %-16s %s\n", f->cost.lost, f->cost.corrupted, whole, f->text);
}

void fault_report_print(const struct fault_report *fault, size_t count)
{
    struct fault_report *order = hx_allocate(count + 1, sizeof *order);
    memcpy(order, fault, count * sizeof *order);
    qsort(order, count, sizeof *order, costliest_first);
    printf("  faults         %zu%s\n        lost  corrupted  repaired         fault\n", count,
           count > SHOWN ? ", the costliest:" : "");
    for (size_t i = 0; i < count && i < SHOWN; i++)
        print_one(&order[i]);
    free(order);
}
