/* result.c - what follows from what a run showed (result.h). */
#include "result.h"
#include "host/bounds.h"

#include <stdlib.h>

static const double link_bytes_per_ns = 50; /* 400 Gb/s (table III) */

void result_add_stats(struct hx_endpoint_stats *to, const struct hx_endpoint_stats *from)
{
    to->messages_sent += from->messages_sent;
    to->messages_received += from->messages_received;
    to->messages_failed += from->messages_failed;
    to->packets_sent += from->packets_sent;
    to->packets_repeated += from->packets_repeated;
    to->packets_delivered += from->packets_delivered;
    to->bytes_delivered += from->bytes_delivered;
    to->acks_sent += from->acks_sent;
}

double result_seconds(const struct result *r)
{
    return r->outcome.virtual_ps ? (double)r->outcome.virtual_ps / 1e12 : (double)r->outcome.elapsed_ns / 1e9;
}

void result_finish(struct result *r)
{
    const struct outcome *o = &r->outcome;
    r->outcome.complete = o->complete && r->sum.messages_failed == 0;
    /* A reborn accelerator sends again what it had under way, so with deaths only messages can be counted. */
    uint64_t missing =
        r->sum.packets_sent > r->sum.packets_delivered ? r->sum.packets_sent - r->sum.packets_delivered : 0;
    r->packets_lost = o->deaths && o->complete ? 0 : missing;
    double ns = result_seconds(r) * 1e9;
    double injectable = (double)r->g->accelerators * r->g->planes * 4 * link_bytes_per_ns * ns;
    r->share_of_injection = ns > 0 ? (double)o->bytes_delivered / injectable : 0;
    r->bound = hx_alltoall_bound(r->g);
    r->share_of_bound = r->share_of_injection / r->bound;
}

void result_free(struct result *r)
{
    free(r->link);
    free(r->moved);
    free(r->receive_share);
}

bool result_is_good(const struct result *r)
{
    bool done = r->collective_count.done == r->collective_count.members;
    bool whole = (r->outcome.complete && done) || r->outcome.interrupted;
    return whole && r->bytes_corrupted == 0 && r->outcome.buffers_missing == 0 && r->sum.messages_failed == 0 &&
           (r->packets_lost == 0 || r->outcome.interrupted);
}
