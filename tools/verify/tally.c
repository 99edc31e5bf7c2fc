/* tally.c - counts what a verification let pass (tools/verify/tally.h). */
#include "tools/verify/tally.h"
#include "base/error.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char hx_tally_lost[] = "lost";
const char hx_tally_repaired[] = "lost, delivered when sent again";
const char hx_tally_covered[] = "lost, another came in its place";
const char hx_tally_copied[] = "repeated by a link";
const char hx_tally_bypassed[] = "around links that are down";
const char hx_tally_turned[] = "delivered short of its destination";

void hx_tally_begin(struct hx_table *of)
{
    *of = hx_table_make(offsetof(struct hx_tally, count), sizeof(struct hx_tally));
}

void hx_tally_add(struct hx_table *of, const char *what, uint32_t port, uint32_t fault, uint64_t frame)
{
    const struct hx_tally key = {.what = what, .port = port, .fault = fault};
    struct hx_tally *t = hx_table_find_or_add(of, &key);
    t->frame = t->count == 0 || frame < t->frame ? frame : t->frame;
    t->count++;
}

void hx_tally_shift(struct hx_table *of, uint32_t fault)
{
    struct hx_table shifted;
    size_t at = 0;
    hx_tally_begin(&shifted);
    for (const struct hx_tally *t; (t = hx_table_each(of, &at)) != NULL;) {
        struct hx_tally one = *t;
        one.fault += one.fault >= fault && one.fault < HX_TALLY_SOME_FAULT;
        *(struct hx_tally *)hx_table_add(&shifted, &one) = one;
    }
    hx_table_free(of);
    *of = shifted;
}

static int by_count(const void *a, const void *b)
{
    const struct hx_tally *one = a;
    const struct hx_tally *other = b;
    if (one->count != other->count)
        return one->count < other->count ? 1 : -1;
    if (one->frame != other->frame)
        return one->frame < other->frame ? -1 : 1;
    if (one->port != other->port)
        return one->port < other->port ? -1 : 1;
    const int what = strcmp(one->what, other->what);
    return what ? what : (one->fault > other->fault) - (one->fault < other->fault);
}

struct hx_tally *hx_tally_sorted(const struct hx_table *of)
{
    struct hx_tally *list = hx_allocate(of->count, sizeof *list);
    size_t count = 0;
    size_t at = 0;
    for (const struct hx_tally *t; (t = hx_table_each(of, &at)) != NULL;)
        list[count++] = *t;
    qsort(list, count, sizeof *list, by_count);
    return list;
}
