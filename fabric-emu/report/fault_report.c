/* fault_report.c - faults in the report (fault_report.h). */
#include "fabric-emu/report/fault_report.h"
#include "base/compare.h"
#include "base/text.h"
#include "base/value.h"
#include "fabric-emu/report/fields.h"

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
    json_t *o = json_object();
    if (f->planned) {
        REPORT_CHANGE(REPORT_SET)
    } else {
        REPORT_FAULT(REPORT_SET)
    }
    return o;
}

size_t fault_report_count(const struct fault_report *fault, size_t count, bool planned)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += fault[i].planned == planned;
    return found;
}

json_t *fault_report_json(const struct fault_report *fault, size_t count, bool planned)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (fault[i].planned == planned)
            (void)json_array_append_new(list, fault_report_entry(&fault[i]));
    return list;
}

/* Faults first, by cost; then changes, those that routes followed last (or not yet) first. */
static int costliest_first(const void *a, const void *b)
{
    const struct fault_report *p = a;
    const struct fault_report *q = b;
    if (p->planned != q->planned)
        return p->planned ? 1 : -1;
    if (p->hits != q->hits)
        return p->hits < q->hits ? 1 : -1;
    if (p->planned && p->whole != q->whole)
        return p->whole ? 1 : -1;
    if (p->planned && took(p) != took(q))
        return took(p) < took(q) ? 1 : -1;
    return p->at_ns != q->at_ns ? (p->at_ns > q->at_ns) - (p->at_ns < q->at_ns) : strcmp(p->text, q->text);
}

static void print_fault(const struct fault_report *f)
{
    char text[HX_VALUE_TEXT];
    const char *whole = "not repaired";
    if (f->whole)
        whole = f->hits ? hx_value_print_duration(text, took(f)) : "nothing was hit";
    printf("  %10" PRIu64 " %10" PRIu64 "  %-16s %s\n", f->cost.lost, f->cost.corrupted, whole, f->text);
}

static void print_change(const struct fault_report *f)
{
    char text[HX_VALUE_TEXT];
    const char *followed = f->whole ? hx_value_print_duration(text, took(f)) : "not yet";
    printf("        %-16s %s\n", followed, f->text);
}

void fault_report_print(const struct fault_report *fault, size_t count)
{
    struct fault_report *order = hx_allocate(count + 1, sizeof *order);
    size_t faults = fault_report_count(fault, count, false);
    memcpy(order, fault, count * sizeof *order);
    qsort(order, count, sizeof *order, costliest_first);
    if (faults)
        printf("  faults         %zu%s\n        lost  corrupted  repaired         fault\n", faults,
               faults > SHOWN ? ", the costliest:" : "");
    for (size_t i = 0; i < faults && i < SHOWN; i++)
        print_fault(&order[i]);
    if (faults < count)
        printf("  changes        %zu, planned%s\n        routes follow    change\n", count - faults,
               count - faults > SHOWN ? ", the last to be followed:" : "");
    for (size_t i = faults; i < count && i < faults + SHOWN; i++)
        print_change(&order[i]);
    free(order);
}

/* ---- circuits ---- */

struct times {
    const struct hx_faults *faults;
    const struct hx_fabric *f;
    uint64_t until_ns;
    uint64_t *at_ns; /* changes */
    size_t count, room;
    struct circuits_report *report;
};

static void note_time(struct times *t, uint64_t at_ns)
{
    t->at_ns = hx_grow(t->at_ns, t->count, &t->room, sizeof *t->at_ns);
    t->at_ns[t->count++] = at_ns;
}

static void note_link(void *of, unsigned plane, uint32_t node, unsigned port)
{
    struct times *t = of;
    size_t count;
    struct hx_link_change *change = hx_faults_of_link(t->faults, t->f, plane, node, port, &count);
    bool ever = false;
    bool closed = false;
    for (size_t i = 0; i < count && change[i].at_ns < t->until_ns; i++) {
        uint64_t end_ns = i + 1 < count && change[i + 1].at_ns < t->until_ns ? change[i + 1].at_ns : t->until_ns;
        if (change[i].state.closed != closed)
            note_time(t, change[i].at_ns);
        closed = change[i].state.closed;
        ever = ever || closed;
        t->report->closed_ns += closed ? end_ns - change[i].at_ns : 0;
    }
    t->report->links += ever;
    free(change);
}

static int by_number(const void *a, const void *b)
{
    return hx_compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

struct circuits_report circuits_report_of(const struct hx_faults *faults, const struct hx_fabric *f, uint64_t until_ns)
{
    const struct hx_fault_target all = {.place = HX_PLACE_ALL, .plane = HX_EVERY_PLANE};
    struct circuits_report report = {.links = 0};
    struct times t = {.faults = faults, .f = f, .until_ns = until_ns, .report = &report};
    bool any = false;
    for (size_t i = 0; i < faults->count; i++)
        any = any || faults->fault[i].kind == HX_FAULT_CLOSED;
    if (!any)
        return report;
    hx_fault_each_link(&all, f, note_link, &t);
    if (t.count)
        qsort(t.at_ns, t.count, sizeof *t.at_ns, by_number);
    for (size_t i = 0; i < t.count; i++)
        report.changes += i == 0 || t.at_ns[i] != t.at_ns[i - 1];
    free(t.at_ns);
    return report;
}

void circuits_report_follow(struct circuits_report *circuits, const struct fault_report *fault, size_t count)
{
    uint64_t *ns = hx_allocate(count + 1, sizeof *ns);
    size_t followed = 0;
    for (size_t i = 0; i < count; i++)
        if (fault[i].planned && fault[i].whole)
            ns[followed++] = took(&fault[i]);
    if (followed) {
        qsort(ns, followed, sizeof *ns, by_number);
        circuits->median_ns = ns[followed / 2];
        circuits->most_ns = ns[followed - 1];
    }
    circuits->followed = followed;
    free(ns);
}

static json_t *followed_json(const struct circuits_report *circuits)
{
    json_t *o = json_object();
    REPORT_FOLLOWED(REPORT_SET)
    return o;
}

json_t *circuits_report_json(const struct circuits_report *circuits)
{
    json_t *o = json_object();
    REPORT_CIRCUITS(REPORT_SET, REPORT_SET_IF)
    return o;
}

void circuits_report_print(const struct circuits_report *circuits)
{
    char dark[HX_VALUE_TEXT];
    printf("  circuits       %zu change%s of %zu link%s, closed for %s in all, %" PRIu64
           " packet%s took another path\n",
           circuits->changes, hx_plural(circuits->changes), circuits->links, hx_plural(circuits->links),
           hx_value_print_duration(dark, circuits->closed_ns), circuits->rerouted, hx_plural(circuits->rerouted));
    if (circuits->followed) {
        char median[HX_VALUE_TEXT];
        char most[HX_VALUE_TEXT];
        printf("                 all routes followed after %s (median), %s at most\n",
               hx_value_print_duration(median, circuits->median_ns), hx_value_print_duration(most, circuits->most_ns));
    }
}
