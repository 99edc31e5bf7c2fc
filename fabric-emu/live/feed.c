/* feed.c - the worker's side of a replay (feed.h). */
#include "feed.h"
#include "hxmesh/error.h"
#include "node.h"
#include "taps.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_PER_STEP = 16 };

const char *const feed_verdict_names[FEED_VERDICT_COUNT] = {
#define FEED_NAME(name, text) text,
    FEED_VERDICTS(FEED_NAME)
#undef FEED_NAME
};

/* ---- checks ---- */

enum feed_verdict feed_validate(struct hx_header *h, const uint8_t *frame, uint32_t bytes, const struct hx_fabric *g,
                                unsigned plane, bool checked)
{
    int error = hx_frame_decode(h, frame, bytes);
    if (error == HX_E_ETHERTYPE && hx_frame_ethertype(frame, bytes) == HX_ETHERTYPE_CONTROL)
        return FEED_CONTROL;
    if (error)
        return FEED_MALFORMED;
    if (hx_fabric_host(g, h->dst_addr_hi, h->dst_addr_lo) == HX_NOWHERE ||
        hx_fabric_host(g, h->src_addr_hi, h->src_addr_lo) == HX_NOWHERE || h->plane != plane || h->vc >= g->vcs)
        return FEED_OUTSIDE;
    if (checked && simd_crc32c(0, frame + HX_CRC_FIRST, HX_HEADER_BYTES - HX_CRC_FIRST + h->length) != h->crc)
        return FEED_CHECKSUM;
    return FEED_SENT;
}

/* ---- sender ---- */

static struct node *node_of(struct worker *w, unsigned plane, uint32_t id)
{
    for (unsigned i = 0; i < w->nodes; i++) {
        if (w->node[i].id == id && w->node[i].plane == plane)
            return &w->node[i];
    }
    return NULL;
}

static struct accelerator *accelerator_of(struct worker *w, uint32_t rank)
{
    for (unsigned i = 0; i < w->accelerators; i++) {
        if (w->accelerator[i].rank == rank)
            return &w->accelerator[i];
    }
    return NULL;
}

/* Finds the sender of the link into the port. Returns false: it is not this worker's. */
static bool find_sender(struct worker *w, struct feeding *f, const struct feed *feed)
{
    const struct hx_fabric *g = w->f->g;
    if (feed->plane >= g->planes || feed->node >= g->nodes || feed->port >= hx_fabric_ports(g, feed->node))
        return false;
    f->plane = feed->plane;
    if (feed->node < g->hosts && feed->port == HX_LOCAL) {
        f->accelerator = accelerator_of(w, feed->node);
        return f->accelerator != NULL;
    }
    struct hx_end far = hx_fabric_far(g, feed->node, feed->port);
    f->node = far.node == HX_NOWHERE ? NULL : node_of(w, feed->plane, far.node);
    f->port = far.port;
    return f->node != NULL;
}

static void attach(struct worker *w, uint64_t word)
{
    int fd = slot_open(word);
    if (fd < 0)
        return;
    struct feed *feed = slot_map(fd, sizeof *feed);
    (void)close(fd);
    struct feeding f = {.feed = feed};
    if (!feed)
        return;
    if (feed->magic != FEED_MAGIC || feed->version != FEED_VERSION || !find_sender(w, &f, feed)) {
        (void)munmap(feed, sizeof *feed);
        return;
    }
    w->feeding = f;
    atomic_store(&feed->state, FEED_TAKEN);
}

void feed_follow(struct worker *w)
{
    uint64_t word = atomic_load(&w->f->control->feed);
    if (word == w->feed_word)
        return;
    feed_end(w);
    w->feed_word = word;
    if (word)
        attach(w, word);
}

void feed_end(struct worker *w)
{
    if (w->feeding.feed)
        (void)munmap(w->feeding.feed, sizeof *w->feeding.feed);
    w->feeding = (struct feeding){.feed = NULL};
}

/* ---- sending ---- */

static unsigned room_of(struct feeding *f, unsigned vc)
{
    return f->accelerator ? hal_inject_room(&f->accelerator->hal, f->plane)
                          : hx_lane(hal_tx_credits(&f->node->hal, f->port), vc);
}

static void send_frame(struct worker *w, struct feeding *f, const struct hx_header *h, uint32_t buffer)
{
    struct hx_desc d = {.buffer = buffer,
                        .length = h->length,
                        .vc = f->accelerator ? 0 : h->vc,
                        .hops = f->accelerator ? 0 : h->hops,
                        .dst_addr_hi = h->dst_addr_hi,
                        .dst_addr_lo = h->dst_addr_lo,
                        .job = h->job};
    hx_desc_set_via(&d, f->accelerator ? 0 : h->via);
    w->shm.injected_ns[buffer] = w->shm.now;
    if (f->accelerator) {
        hal_inject(&f->accelerator->hal, f->plane, &d);
        return;
    }
    shm_tap_replayed(&f->node->hal, f->port, h->vc);
    shm_transmit(&f->node->hal, f->port, &d);
}

/* Commits the packets sent and the buffers taken in one step (hal/shm/redo.h). */
static void commit(struct worker *w, struct feeding *f)
{
    if (f->accelerator) {
        hal_endpoint_commit(&f->accelerator->hal);
        return;
    }
    struct hal_switch *h = &f->node->hal;
    const struct shm_tx *tx = &h->tx[f->port];
    if (h->tap)
        shm_tap_step(h);
    shm_note(&w->shm.step, &tx->link->heads, tx->head);
    shm_note_pools(&w->shm, false);
    shm_step_commit(&w->shm.step);
    shm_commit_pools(&w->shm);
    w->shm.touched |= (uint64_t)1 << tx->peer;
    h->sent = 0;
}

/* Handles one frame. Returns false: no credit or no buffer for it. */
static bool take_frame(struct worker *w, struct feeding *f, const struct feed_slot *slot, enum feed_verdict *verdict)
{
    uint32_t buffer;
    struct hx_header h;
    uint32_t bytes = slot->bytes <= HX_MAX_FRAME ? slot->bytes : HX_MAX_FRAME;
    *verdict = feed_validate(&h, slot->frame, bytes, w->f->g, f->plane, w->workload->verify);
    if (*verdict != FEED_SENT)
        return true;
    if (room_of(f, h.vc) == 0 || !shm_buffer_get(&w->shm, &buffer, w->shm.reserve))
        return false;
    memcpy(w->shm.buffers[buffer].frame, slot->frame, HX_HEADER_BYTES + (size_t)h.length);
    send_frame(w, f, &h, buffer);
    return true;
}

unsigned feed_step(struct worker *w)
{
    struct feeding *f = &w->feeding;
    uint64_t counts[FEED_VERDICT_COUNT] = {0};
    uint64_t tail = atomic_load_explicit(&f->feed->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&f->feed->head, memory_order_acquire);
    enum feed_verdict verdict;
    unsigned taken = 0;
    shm_set_now(&w->shm, shm_clock_ns(w->clock));
    if (!f->accelerator && f->node->hal.tap && !shm_tap_has_room(&f->node->hal))
        return 0;
    while (taken < MOST_PER_STEP && head - tail - taken > 0 && head - tail <= FEED_SLOTS &&
           take_frame(w, f, &f->feed->slot[(tail + taken) % FEED_SLOTS], &verdict)) {
        counts[verdict]++;
        taken++;
    }
    if (w->shm.took)
        commit(w, f);
    w->f->area[w->self].fed += counts[FEED_SENT];
    for (unsigned i = 0; taken && i < FEED_VERDICT_COUNT; i++)
        atomic_fetch_add_explicit(&f->feed->count[i], counts[i], memory_order_relaxed);
    atomic_store_explicit(&f->feed->tail, tail + taken, memory_order_release);
    return taken;
}
