/* operation.c - memory of sends and receives in flight; the endpoint owns it and frees it when it closes
 * (provider.h). */
#include "provider.h"

#include <stdlib.h>

enum { TOGETHER = 64 };

struct hxfi_operations {
    struct hxfi_operations *next;
    struct hxfi_operation operation[TOGETHER];
};

static bool make_more(struct hxfi_endpoint *e)
{
    struct hxfi_operations *more = calloc(1, sizeof *more);
    if (!more)
        return false;
    more->next = e->operations;
    e->operations = more;
    for (unsigned i = 0; i < TOGETHER; i++)
        hxfi_operation_end(e, &more->operation[i]);
    return true;
}

struct hxfi_operation *hxfi_operation_begin(struct hxfi_endpoint *e, struct hxfi_queue *q)
{
    if ((!e->spare && !make_more(e)) || !hxfi_queue_reserve(q))
        return NULL;
    struct hxfi_operation *o = e->spare;
    e->spare = o->next;
    return o;
}

void hxfi_operation_end(struct hxfi_endpoint *e, struct hxfi_operation *o)
{
    o->next = e->spare;
    e->spare = o;
}

void hxfi_operations_free(struct hxfi_endpoint *e)
{
    while (e->operations) {
        struct hxfi_operations *next = e->operations->next;
        free(e->operations);
        e->operations = next;
    }
    e->spare = NULL;
}
