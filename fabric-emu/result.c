/* result.c - adds up what a run showed (result.h). */
#include "result.h"
#include "host/bounds.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

static const double link_bytes_per_ns = 50; /* 400 Gb/s (table III) */

static void add_stats(struct hx_endpoint_stats *to, const struct hx_endpoint_stats *from)
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

static void take_areas(struct result *r)
{
    const struct fab_fabric *f = r->f;
    r->peak_memory_bytes = f->arena.bytes + memory_private_bytes();
    for (unsigned w = 0; w < f->workers; w++) {
        const struct fab_area *area = &f->area[w];
        r->bytes_corrupted += area->bytes_corrupted;
        r->max_vc = area->max_vc > r->max_vc ? area->max_vc : r->max_vc;
        r->cpu_seconds += (double)area->cpu_ns / 1e9;
        r->verify_seconds += (double)area->verify_ns / 1e9;
        r->peak_memory_bytes += area->private_bytes;
        for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
            r->drops[reason] += area->drops[reason];
        fab_histogram_merge(&r->latency, &area->latency);
    }
    for (uint32_t rank = 0; rank < f->g.accelerators; rank++) {
        add_stats(&r->sum, &f->accelerator[rank].stats);
        r->messages_begun += f->accelerator[rank].issued;
    }
}

static void take_links(struct result *r)
{
    const struct fab_fabric *f = r->f;
    double elapsed = (double)(r->outcome.drained_ns ? r->outcome.drained_ns : 1);
    r->link = hx_allocate((size_t)f->g.planes * f->links, sizeof *r->link);
    r->moved = hx_allocate(f->g.accelerators, sizeof *r->moved);
    for (unsigned plane = 0; plane < f->g.planes; plane++) {
        for (uint32_t node = 0; node < f->g.nodes; node++) {
            for (unsigned port = 0; port < hx_node_ports(&f->g, node); port++) {
                const struct shm_link *link = fab_link(f, plane, node, port);
                r->packet_hops += link->packets;
                if (node < f->g.accelerators)
                    r->moved[node] += link->packets;
                if (hx_far_end(&f->g, node, port).node == HX_NOWHERE)
                    continue;
                r->link[r->links++] = (struct link_use){node, (uint16_t)port, (uint8_t)plane, link->packets,
                                                        (double)link->bytes / link_bytes_per_ns / elapsed};
            }
        }
    }
}

void result_take(struct result *r, const struct fab_fabric *f, const struct hx_settings *settings,
                 const struct outcome *outcome)
{
    *r = (struct result){.f = f, .settings = *settings, .outcome = *outcome};
    take_areas(r);
    take_links(r);
    r->outcome.complete = r->outcome.complete && r->sum.messages_failed == 0;
    /* A reborn accelerator sends again what it had under way, so with deaths only messages can be counted. */
    uint64_t missing =
        r->sum.packets_sent > r->sum.packets_delivered ? r->sum.packets_sent - r->sum.packets_delivered : 0;
    r->packets_lost = outcome->deaths && r->outcome.complete && r->sum.messages_failed == 0 ? 0 : missing;
    double injectable = (double)f->g.accelerators * f->g.planes * 4 * link_bytes_per_ns * (double)outcome->elapsed_ns;
    r->share_of_injection = outcome->elapsed_ns ? (double)outcome->bytes_delivered / injectable : 0;
    r->bound = hx_alltoall_bound(&f->g);
    r->share_of_bound = r->share_of_injection / r->bound;
}

void result_free(struct result *r)
{
    free(r->link);
    free(r->moved);
}

bool result_is_good(const struct result *r)
{
    bool whole = r->outcome.complete || r->outcome.interrupted;
    return whole && r->bytes_corrupted == 0 && r->outcome.buffers_missing == 0 && r->sum.messages_failed == 0 &&
           (r->packets_lost == 0 || r->outcome.interrupted);
}
