/* tap.c - copies frames of tapped ports into the rings of captures (tap.h). */
#include "tap.h"
#include "hal_port.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/types.h> /* pcap/bpf.h needs u_int; other headers define it only on x86 */

#include <pcap/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* ---- binding ---- */

uint64_t shm_tap_sealed_size(int fd)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && seals & F_SEAL_SHRINK && fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* Copies and validates everything that decides where the worker reads and writes. Returns 0 or -errno. */
static int take_in(struct shm_tap *tap, uint32_t ring, uint32_t ports)
{
    const struct hx_tap_shape *s = &tap->shape;
    tap->shape = tap->memory->shape;
    if (tap->memory->magic != HX_TAP_MAGIC || tap->memory->version != HX_TAP_VERSION || !hx_tap_shape_is_good(s) ||
        s->ports != ports || ring >= s->rings || hx_tap_bytes(s) > tap->bytes)
        return -EPROTO;
    tap->counts = hx_tap_counts(tap->memory, s);
    tap->interface = calloc(s->ports, sizeof *tap->interface);
    tap->program = s->program ? calloc(s->program, sizeof *tap->program) : NULL;
    if (!tap->interface || (s->program && !tap->program))
        return -ENOMEM;
    memcpy(tap->interface, hx_tap_ports(tap->memory, s), s->ports * sizeof *tap->interface);
    if (!s->program)
        return 0;
    memcpy(tap->program, hx_tap_program(tap->memory), s->program * sizeof *tap->program);
    return bpf_validate(tap->program, (int)s->program) ? 0 : -EPROTO;
}

int shm_tap_attach(struct shm_taps *taps, unsigned slot, int fd, uint32_t ring, uint32_t ports)
{
    struct shm_tap *tap = &taps->tap[slot];
    *tap = (struct shm_tap){.bytes = shm_tap_sealed_size(fd)};
    if (tap->bytes < sizeof *tap->memory)
        return -EPROTO;
    /* Maps all pages at once: page faults would stall the datapath. */
    void *base = mmap(NULL, tap->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (base == MAP_FAILED)
        return -errno;
    tap->memory = base;
    int error = take_in(tap, ring, ports);
    if (error) {
        shm_tap_detach(taps, slot);
        return error;
    }
    hx_tap_producer_init(&tap->out, hx_tap_ring(tap->memory, &tap->shape, ring), tap->shape.ring_bytes);
    return 0;
}

void shm_tap_detach(struct shm_taps *taps, unsigned slot)
{
    struct shm_tap *tap = &taps->tap[slot];
    if (tap->out.ring)
        atomic_store_explicit(&tap->out.ring->attached, 0, memory_order_release);
    if (tap->memory)
        (void)munmap(tap->memory, tap->bytes);
    free(tap->interface);
    free(tap->program);
    *tap = (struct shm_tap){.memory = NULL};
}

static uint64_t tapped_ports(const struct shm_tap *tap, uint32_t first_port, unsigned ports)
{
    uint64_t set = 0;
    for (unsigned port = 0; tap->memory && port < ports; port++) {
        uint32_t interface = tap->interface[first_port + port];
        set |= (uint64_t)(interface && interface <= tap->shape.interfaces) << port;
    }
    return set;
}

/* Bytes that must be free before a step; 0: the capture may drop frames. A ring smaller than a whole step must be
 * empty. */
static uint64_t needs(const struct shm_tap *tap, uint64_t ports, unsigned slots)
{
    uint64_t bytes = hx_tap_step_bytes(&tap->shape, (unsigned)__builtin_popcountll(ports), slots);
    if (!ports || !tap->shape.waits)
        return 0;
    return bytes < tap->shape.ring_bytes ? bytes : tap->shape.ring_bytes;
}

struct shm_tapped *shm_tapped_new(struct shm_taps *taps, const struct hal_switch *h, const struct hx_switch *sw,
                                  uint32_t first_port)
{
    struct shm_tapped any = {.taps = taps, .sw = sw, .first_port = first_port};
    uint64_t all = 0;
    bool notes = false;
    for (unsigned slot = 0; slot < SHM_TAPS; slot++) {
        any.ports[slot] = tapped_ports(&taps->tap[slot], first_port, h->ports);
        any.needs[slot] = needs(&taps->tap[slot], any.ports[slot], h->size);
        all |= any.ports[slot];
        notes = notes || (any.ports[slot] && taps->tap[slot].shape.annotate);
    }
    if (!all)
        return NULL;
    size_t seen = sizeof any + h->ports * sizeof any.seen[0];
    size_t room = notes ? (size_t)h->ports * HX_VCS * h->size * sizeof *any.note : 0;
    size_t came = sw->route.detour ? (size_t)h->ports * HX_VCS * h->size * sizeof *any.came : 0;
    struct shm_tapped *t = calloc(1, seen + room + came);
    if (!t)
        return NULL;
    *t = any;
    t->note = notes ? (struct hx_tap_note *)(void *)((uint8_t *)t + seen) : NULL;
    t->came = came ? (uint32_t *)(void *)((uint8_t *)t + seen + room) : NULL;
    for (unsigned port = 0; port < h->ports; port++)
        t->seen[port] = h->rx[port].seen;
    return t;
}

/* ---- a step ---- */

/* Common to all records of a step. */
struct recording {
    const struct shm_tapped *of;
    struct shm_tap *tap;
    uint64_t time;
};

#if defined(__x86_64__)
enum { STREAM_FROM = 512, STREAM_UNIT = 16 };

/* Copies long frames past the caches: the frame is not read again, and the cache belongs to the datapath. */
static void copy(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    if (bytes < STREAM_FROM) {
        memcpy(to, from, bytes);
        return;
    }
    uint32_t at = (uint32_t)(-(uintptr_t)to & (STREAM_UNIT - 1));
    memcpy(to, from, at);
    for (; at + STREAM_UNIT <= bytes; at += STREAM_UNIT)
        _mm_stream_si128((__m128i *)(void *)(to + at), _mm_loadu_si128((const __m128i *)(const void *)(from + at)));
    memcpy(to + at, from + at, bytes - at);
}

/* A release store does not order streamed stores. */
static void copies_first(void)
{
    _mm_sfence();
}
#else
static void copy(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    memcpy(to, from, bytes);
}

static void copies_first(void)
{
}
#endif

static uint64_t id_of(const struct shm_taps *taps, uint32_t buffer)
{
    uint64_t buffers = (uint64_t)taps->worker->workers * taps->worker->per_home;
    return (taps->worker->injected_ns[buffer] - taps->started_ns) * buffers + buffer + 1;
}

static void write_record(const struct recording *m, uint32_t interface, const struct hx_desc *d, unsigned via,
                         enum hx_tap_direction direction, const struct hx_tap_note *note)
{
    struct shm_tap *tap = m->tap;
    struct hx_tap_count *count = &tap->counts[interface];
    struct shm_buffer *b = &m->of->taps->worker->buffers[d->buffer];
    uint32_t original = HX_HEADER_BYTES + d->length;
    if (tap->program) {
        hx_frame_set_hop(b->frame, d->vc, d->hops, HX_NO_CREDIT, 0);
        hx_frame_set_via(b->frame, via);
        if (!bpf_filter(tap->program, b->frame, original, original))
            return;
    }
    hx_tap_add(&count->accepted, 1);
    uint32_t captured = original < tap->shape.snaplen ? original : tap->shape.snaplen;
    struct hx_tap_record *r = hx_tap_reserve(&tap->out, hx_tap_record_bytes(captured, note));
    if (!r) {
        hx_tap_add(&count->dropped, 1);
        return;
    }
    r->time = m->time;
    r->id = id_of(m->of->taps, d->buffer);
    r->dropped = atomic_load_explicit(&count->dropped, memory_order_relaxed);
    r->interface = interface;
    r->original = (uint16_t)original;
    r->captured = (uint16_t)captured;
    r->direction = (uint8_t)direction;
    r->vc = d->vc;
    r->noted = note != NULL;
    if (note)
        *hx_tap_note_of(r) = *note;
    copy(hx_tap_bytes_of(r), b->frame, captured);
    hx_frame_set_hop(hx_tap_bytes_of(r), d->vc, d->hops, HX_NO_CREDIT, 0);
    hx_frame_set_via(hx_tap_bytes_of(r), via);
}

/* Records positions from .. to of one VC of a link. `notes`, `came`: by slot, NULL: none. */
static void record_vc(const struct recording *m, unsigned port, const struct hx_desc *slots, unsigned size,
                      uint16_t from, uint16_t to, enum hx_tap_direction direction, const struct hx_tap_note *notes,
                      const uint32_t *came)
{
    const struct shm_worker *w = m->of->taps->worker;
    uint32_t interface = m->tap->interface[m->of->first_port + port] - 1;
    if ((uint16_t)(to - from) > size)
        return;
    hx_tap_add(&m->tap->counts[interface].received, (uint16_t)(to - from));
    for (; from != to; from++) {
        unsigned slot = from & (size - 1);
        const struct hx_desc d = shm_read_desc(&slots[slot]);
        if (d.buffer / w->per_home < w->workers && d.length <= HX_MAX_PAYLOAD)
            write_record(m, interface, &d, came && came[slot] ? came[slot] - 1 : hx_desc_via(&d), direction,
                         notes ? &notes[slot] : NULL);
    }
}

static void record_port(const struct recording *m, const struct hal_switch *h, unsigned port,
                        const struct shm_link *link, uint64_t from, uint64_t to, enum hx_tap_direction direction)
{
    const struct hx_tap_note *notes = direction == HX_TAP_OUT && m->tap->shape.annotate ? m->of->note : NULL;
    const uint32_t *came = direction == HX_TAP_IN ? m->of->came : NULL;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        size_t slots = ((size_t)port * HX_VCS + vc) * h->size;
        record_vc(m, port, link->slots + (size_t)vc * h->size, h->size, hx_lane(from, vc), hx_lane(to, vc), direction,
                  notes ? notes + slots : NULL, came ? came + slots : NULL);
    }
}

/* Transit does not touch frames, so they are not in the cache. Prefetches the beginnings of the frames to record. */
static void prefetch_port(const struct shm_worker *w, const struct hal_switch *h, const struct shm_link *link,
                          uint64_t from, uint64_t to)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        const struct hx_desc *slots = link->slots + (size_t)vc * h->size;
        unsigned span = (uint16_t)(hx_lane(to, vc) - hx_lane(from, vc));
        for (unsigned n = 0; n < span && n < h->size; n++) {
            uint32_t buffer = slots[(hx_lane(from, vc) + n) & (h->size - 1)].buffer;
            if (buffer / w->per_home >= w->workers)
                continue;
            __builtin_prefetch(&w->injected_ns[buffer]);
            __builtin_prefetch(w->buffers[buffer].frame);
            __builtin_prefetch(w->buffers[buffer].frame + 64);
        }
    }
}

static void prefetch(const struct hal_switch *h, const struct recording *m, uint64_t in, uint64_t out)
{
    const struct shm_worker *w = m->of->taps->worker;
    const struct hx_tap_producer *p = &m->tap->out;
    for (unsigned line = 0; line < 4; line++)
        __builtin_prefetch(p->ring->bytes + ((p->head + 64 * line) & (p->size - 1)), 1);
    for (; in; in &= in - 1) {
        const struct shm_rx *rx = &h->rx[__builtin_ctzll(in)];
        prefetch_port(w, h, rx->link, h->tap->seen[__builtin_ctzll(in)], rx->seen);
    }
    for (; out; out &= out - 1) {
        const struct shm_tx *tx = &h->tx[__builtin_ctzll(out)];
        prefetch_port(w, h, tx->link, tx->link->heads, tx->head);
    }
}

/* Ports of `set` with arrivals that are not recorded. */
static uint64_t came_in(const struct hal_switch *h, uint64_t set)
{
    uint64_t news = 0;
    for (uint64_t left = set & h->brings; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        news |= (uint64_t)(h->rx[port].seen != h->tap->seen[port]) << port;
    }
    return news;
}

static void record_step(const struct hal_switch *h, struct recording *m, uint64_t in, uint64_t out)
{
    prefetch(h, m, in, out);
    hx_tap_writes(&m->tap->out);
    m->time = shm_clock_ns(m->of->taps->clock);
    for (; in; in &= in - 1) {
        unsigned port = (unsigned)__builtin_ctzll(in);
        record_port(m, h, port, h->rx[port].link, h->tap->seen[port], h->rx[port].seen, HX_TAP_IN);
    }
    for (; out; out &= out - 1) {
        unsigned port = (unsigned)__builtin_ctzll(out);
        record_port(m, h, port, h->tx[port].link, h->tx[port].link->heads, h->tx[port].head, HX_TAP_OUT);
    }
    copies_first();
    hx_tap_publish(&m->tap->out);
}

bool shm_tap_has_room(const struct hal_switch *h)
{
    struct shm_tapped *t = h->tap;
    bool room = true;
    for (unsigned slot = 0; slot < SHM_TAPS; slot++)
        room = room && (!t->needs[slot] || hx_tap_has_room(&t->taps->tap[slot].out, t->needs[slot]));
    return room;
}

void shm_tap_redirects(const struct hal_switch *h, unsigned input, unsigned vc, uint16_t position)
{
    size_t slot = vc * h->size + (position & (h->size - 1));
    if (h->tap->came)
        h->tap->came[(size_t)input * HX_VCS * h->size + slot] = 1U + hx_desc_via(&h->rx[input].link->slots[slot]);
}

/* Clears `came` of recorded arrivals. */
static void forget_came(const struct hal_switch *h, unsigned port)
{
    uint32_t *came = h->tap->came + (size_t)port * HX_VCS * h->size;
    for (unsigned vc = 0; vc < HX_VCS; vc++, came += h->size)
        for (uint16_t at = hx_lane(h->tap->seen[port], vc); at != hx_lane(h->rx[port].seen, vc); at++)
            came[at & (h->size - 1)] = 0;
}

void shm_tap_step(const struct hal_switch *h)
{
    struct shm_tapped *t = h->tap;
    for (unsigned slot = 0; slot < SHM_TAPS; slot++) {
        uint64_t in = came_in(h, t->ports[slot]);
        uint64_t out = h->sent & t->ports[slot];
        struct recording m = {.of = t, .tap = &t->taps->tap[slot]};
        if (in | out)
            record_step(h, &m, in, out);
    }
    for (unsigned port = 0; port < h->ports; port++) {
        if (t->came && t->seen[port] != h->rx[port].seen)
            forget_came(h, port);
        t->seen[port] = h->rx[port].seen;
    }
}

void shm_tap_replayed(const struct hal_switch *h, unsigned output, unsigned vc)
{
    if (!h->tap || !h->tap->note)
        return;
    unsigned slot = hx_lane(h->tx[output].head, vc) & (h->size - 1);
    h->tap->note[((size_t)output * HX_VCS + vc) * h->size + slot] =
        (struct hx_tap_note){.output = (uint8_t)output, .reason = HX_TAP_REPLAYED};
}
