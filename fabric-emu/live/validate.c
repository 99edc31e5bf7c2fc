/* validate.c - laws of possible counts (validate.h). */
#include "validate.h"
#include "base/error.h"

/* Bounds of counts, and sums to compare. */
struct law {
    uint64_t most; /* of events of a kind: one a nanosecond, far above a worker's rate */
    uint64_t sent, delivered, begun, received;
    unsigned deaths; /* of workers, times the counts of one step */
};

/* A killed worker may have died between two counters of a step. */
static bool at_most(const struct law *law, uint64_t count, uint64_t most)
{
    return count <= most || count - most <= law->deaths;
}

static bool are_possible(const struct law *law, const struct fab_accelerator *a)
{
    const struct hx_endpoint_stats *s = &a->stats;
    const uint64_t counts[] = {s->messages_sent,    s->messages_received, s->messages_failed, s->packets_sent,
                               s->packets_repeated, s->packets_delivered, s->acks_sent,       a->issued};
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i] > law->most)
            return false;
    }
    return s->bytes_delivered <= (s->packets_delivered + law->deaths) * HX_MAX_PAYLOAD;
}

/* Checks that no more messages end than begin, and at most `messages` begin (UINT64_MAX: unknown). In a whole run all
 * begin and end. */
static bool are_messages_consistent(const struct law *law, const struct fab_accelerator *a, uint64_t messages,
                                    bool whole)
{
    uint64_t ended = a->stats.messages_sent + a->stats.messages_failed;
    if (!at_most(law, a->issued, messages) || !at_most(law, ended, a->issued))
        return false;
    return !whole || (at_most(law, a->issued, ended) && (messages == UINT64_MAX || a->issued >= messages));
}

static bool is_host_possible(struct law *law, const struct fab_accelerator *a, uint64_t messages, bool whole)
{
    const struct hx_endpoint_stats *s = &a->stats;
    if (!are_possible(law, a))
        return false;
    law->sent += s->packets_sent + s->packets_repeated;
    law->delivered += s->packets_delivered;
    law->begun += a->issued;
    law->received += s->messages_received;
    return are_messages_consistent(law, a, messages, whole);
}

static bool is_histogram_possible(const struct law *law, const struct fab_histogram *h)
{
    uint64_t sum = 0;
    uint64_t ns = 0; /* lower bound, by the bins */
    for (unsigned bin = 0; bin < FAB_HISTOGRAM_BINS; bin++) {
        bool beyond = h->count[bin] && fab_histogram_value(bin) > h->most && law->deaths == 0;
        if (h->count[bin] > law->most || beyond)
            return false;
        sum += h->count[bin];
        ns += h->count[bin] * fab_histogram_value(bin);
    }
    bool adds_up = law->deaths ? h->sum / (sum + law->deaths) <= law->most : h->sum >= ns && h->sum <= sum * h->most;
    return h->most <= law->most && sum <= law->most * SHM_MAX_WORKERS && adds_up;
}

static bool is_area_possible(const struct law *law, const struct fab_fabric *f, unsigned worker)
{
    const struct fab_area *area = &f->area[worker];
    bool good = area->max_vc < f->g->vcs && atomic_load(&area->hops) <= law->most && area->verify_ns <= 2 * law->most &&
                area->fed <= law->most && hx_metrics_get(&f->metrics.worker[worker].cpu_ns) <= 2 * law->most &&
                area->private_bytes < (uint64_t)1 << 46 && area->bytes_corrupted <= law->most * HX_MAX_PAYLOAD;
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        good = good && area->drops[reason] <= law->most;
    return good;
}

static bool are_links_possible(const struct law *law, const struct fab_fabric *f, unsigned plane, uint32_t node)
{
    const struct hx_metrics_link *link = &f->metrics.link[fab_first_port(f, plane, node)];
    for (unsigned port = 0; port < hx_fabric_ports(f->g, node); port++) {
        uint64_t packets = hx_metrics_get(&link[port].packets);
        if (packets > law->most || hx_metrics_get(&link[port].bytes) > packets * HX_MAX_FRAME)
            return false;
    }
    return true;
}

static bool is_node_possible(struct law *law, const struct fab_fabric *f, uint32_t node, uint64_t messages, bool whole)
{
    bool good = node >= f->g->hosts || is_host_possible(law, &f->accelerator[node], messages, whole);
    for (unsigned plane = 0; good && plane < f->g->planes; plane++)
        good = are_links_possible(law, f, plane, node);
    return good;
}

/* Adds what external accelerators and replays sent. */
static void add_external(struct law *law, const struct fab_fabric *f)
{
    for (unsigned w = 0; w < f->workers; w++) {
        law->sent += f->area[w].fed;
        law->begun += f->area[w].fed; /* a frame may be a message */
    }
    for (size_t i = 0; i < (size_t)f->spec.externals * f->g->hosts; i++) {
        law->sent += f->exchange[i].from.packets;
        law->begun += f->exchange[i].from.messages;
    }
    if (f->spec.externals) /* what external ones sent each other is unknown */
        law->delivered = law->received = 0;
}

bool validate_counts(const struct fab_fabric *f, const struct traffic *traffic, const struct outcome *outcome,
                     struct hx_problem *problem)
{
    static const char cannot[] = "cannot be true: something else wrote into the fabric's shared memory";
    struct law law = {.most = outcome->drained_ns + 60000000000U, .deaths = outcome->deaths * FAB_SENDS};
    bool counted = traffic && !traffic_has_common(traffic);
    bool whole = counted && outcome->complete && !outcome->interrupted && traffic->settings.duration_ns == 0;
    for (uint32_t node = 0; node < f->g->nodes; node++) {
        bool bound = counted && node < f->g->hosts && !fab_is_external(f, node);
        if (!is_node_possible(&law, f, node, bound ? traffic_messages(traffic, node) : UINT64_MAX, whole))
            return hx_fail(problem, HX_EXIT_FAILED, f->spec.name, "the counts of worker %u %s",
                           (unsigned)f->layout.worker[node], cannot);
    }
    for (unsigned w = 0; w < f->workers; w++) {
        if (!is_area_possible(&law, f, w))
            return hx_fail(problem, HX_EXIT_FAILED, f->spec.name, "the counts of worker %u %s", w, cannot);
    }
    for (uint32_t slot = 0; slot < f->jobs.slots; slot++) {
        if (!is_histogram_possible(&law, &f->job[slot].latency) ||
            f->job[slot].bytes_corrupted > law.most * HX_MAX_PAYLOAD)
            return hx_fail(problem, HX_EXIT_FAILED, f->spec.name, "the latencies of a job %s", cannot);
    }
    add_external(&law, f);
    if (!at_most(&law, law.delivered, law.sent) || (law.received > law.begun && outcome->deaths == 0))
        return hx_fail(problem, HX_EXIT_FAILED, f->spec.name, "the counts of the workers together %s", cannot);
    return true;
}
