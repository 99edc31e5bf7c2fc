/* silent.c - hosts that receive and cannot reply (silent.h). */
#include "silent.h"

static struct fab_silence *find(struct fab_accelerator *report, uint32_t host)
{
    for (unsigned i = 0; i < FAB_SILENT; i++) {
        if (atomic_load(&report->silent_to[i].host) == host)
            return &report->silent_to[i];
    }
    return NULL;
}

/* Without a free entry the sender finds out later, by its retries. */
static void note(struct fab_accelerator *report, uint32_t rank, uint64_t now)
{
    struct fab_silence *s = find(report, rank + 1) ? NULL : find(report, 0);
    if (!s)
        return;
    atomic_store(&s->since_ns, now);
    atomic_store(&s->host, rank + 1);
}

void silent_note(struct accelerator *a)
{
    const struct hx_endpoint *ep = &a->endpoint;
    for (uint32_t p = 0; ep->plane_failures && p < ep->peers; p++) {
        uint32_t place = ep->rest_of[p]; /* index plus one */
        if (place && ep->rest[place - 1].unreachable_planes == ep->config.plane_set)
            note(a->report, ep->peer[p].rank, a->worker->shm.now);
    }
}

void silent_forget(struct accelerator *a)
{
    for (unsigned i = 0; i < FAB_SILENT; i++)
        atomic_store(&a->report->silent_to[i].host, 0);
}

bool silent_is(const struct accelerator *a, uint32_t rank, uint64_t ns)
{
    const struct fab_silence *s = find(&a->worker->f->accelerator[rank], a->rank + 1);
    uint64_t now = a->worker->shm.now;
    uint64_t since = s ? atomic_load(&s->since_ns) : now;
    return now > since && now - since >= ns;
}
