/* collect.c - gathers what a run showed out of the shared memory, after the workers have ended (collect.h). */
#include "collect.h"
#include "fabric-emu/memory.h"

static const double link_bytes_per_ns = 50; /* 400 Gb/s (table III) */

/* What is known here of the endpoints that run elsewhere: they received what they acknowledged, and sent what came whole.
 * Their other halves are in this accelerator's own counts. */
static void take_exchange(struct result *r, const struct fab_exchange *e)
{
    r->sum.messages_received += e->to.messages;
    r->sum.packets_delivered += e->to.packets;
    r->sum.bytes_delivered += e->to.bytes;
    r->sum.messages_sent += e->from.messages;
    r->sum.packets_sent += e->from.packets;
    r->messages_begun += e->from.messages;
}

static void take_areas(struct result *r, const struct fab_fabric *f)
{
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
        result_add_stats(&r->sum, &f->accelerator[rank].stats);
        r->messages_begun += f->accelerator[rank].issued;
    }
    for (size_t i = 0; i < (size_t)f->spec.externals * f->g.accelerators; i++)
        take_exchange(r, &f->exchange[i]);
}

static void take_links(struct result *r, const struct fab_fabric *f)
{
    double elapsed = (double)(r->outcome.drained_ns ? r->outcome.drained_ns : 1);
    r->link = hx_allocate((size_t)f->g.planes * f->layout.links, sizeof *r->link);
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

void collect(struct result *r, const struct fab_fabric *f, const struct hx_settings *settings,
             const struct outcome *outcome)
{
    *r = (struct result){
        .spec = &f->spec, .g = &f->g, .workers = f->workers, .settings = *settings, .outcome = *outcome};
    take_areas(r, f);
    take_links(r, f);
    result_finish(r);
}
