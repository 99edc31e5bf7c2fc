/* support_shm.c - steps workers, and checks their fabric (support_shm.h). */
#include "tests/support/shm/support_shm.h"
#include "fabric-emu/live/accelerator.h"
#include "fabric-emu/live/conditions.h"
#include "workload/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the ledger ---- */

enum { MOST_PACKETS = 64 }; /* per message */

/* What a destination has of an incomplete message. */
struct arriving {
    uint64_t key;    /* epoch and number in the endpoint, + 1; 0: no packet yet */
    uint64_t number; /* among the source's messages */
    uint64_t placed; /* packets, a bit each */
};

/* In shared memory: pointers are equal in all processes, which are forks of one. */
static struct book {
    struct support *s;
    size_t bytes;
    uint32_t accelerators;
    uint64_t numbers;           /* messages per source */
    struct support_ledger sums; /* first in the shared memory */
    struct arriving *arriving;  /* [destination][source][HX_MOST_PEER_WINDOW] */
    uint8_t *received;          /* [source][number] */
} * book;

static struct hal_user emulator; /* payload and event functions of the emulator, which the ledger replaces */

static struct arriving *arriving_of(uint32_t destination, uint32_t source, uint32_t message)
{
    size_t pair = (size_t)destination * book->accelerators + source;
    return &book->arriving[pair * HX_MOST_PEER_WINDOW + message % HX_MOST_PEER_WINDOW];
}

static uint32_t rank_of(unsigned gx, unsigned gy)
{
    return hx_fabric_host(book->s->f.g, gx, gy);
}

static void open_book(struct support *s, uint64_t numbers)
{
    uint32_t n = s->f.g->hosts;
    size_t arriving = (size_t)n * n * HX_MOST_PEER_WINDOW * sizeof(struct arriving);
    size_t bytes = sizeof(struct book) + arriving + n * numbers;
    book = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (book == MAP_FAILED)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "no memory for the ledger");
    *book = (struct book){.s = s, .bytes = bytes, .accelerators = n, .numbers = numbers};
    book->arriving = (struct arriving *)(void *)(book + 1);
    book->received = (uint8_t *)book->arriving + arriving;
    s->ledger = &book->sums;
}

/* ---- payload ---- */

static uint64_t key_of(uint32_t source, uint64_t number, uint32_t packet)
{
    return random_of(number, source, packet);
}

/* The first word identifies the message; the others follow from it. */
static void write_payload(uint8_t *to, unsigned bytes, uint32_t source, uint64_t number, uint32_t packet)
{
    uint64_t key = key_of(source, number, packet);
    for (unsigned at = 0; at < bytes; at += 8) {
        uint64_t word = at == 0 ? number : key + at;
        memcpy(to + at, &word, bytes - at < 8 ? bytes - at : 8);
    }
}

static bool is_payload(const uint8_t *from, unsigned bytes, uint32_t source, uint64_t number, uint32_t packet)
{
    uint64_t key = key_of(source, number, packet);
    for (unsigned at = 8; at < bytes; at += 8) {
        uint64_t word = key + at;
        if (memcmp(from + at, &word, bytes - at < 8 ? bytes - at : 8) != 0)
            return false;
    }
    return true;
}

/* ---- functions of endpoints, in place of the emulator's ---- */

static void fill(void *of, const struct hx_send *send, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct accelerator *a = of;
    write_payload(to, bytes, a->rank, send->cookie, packet);
}

static void place(void *of, const struct hx_header *h, const uint8_t *payload)
{
    const struct accelerator *a = of;
    uint32_t source = rank_of(h->src_addr_hi, h->src_addr_lo);
    uint64_t number;
    memcpy(&number, payload, sizeof number);
    if (h->length < sizeof number || number >= book->numbers || h->offset >= MOST_PACKETS ||
        !is_payload(payload, h->length, source, number, h->offset)) {
        book->sums.wrong++;
        return;
    }
    struct arriving *in = arriving_of(a->rank, source, h->message);
    uint64_t key = ((uint64_t)h->epoch << 32 | h->message) + 1;
    if (in->key != key)
        *in = (struct arriving){.key = key, .number = number};
    book->sums.mixed += in->number != number;
    in->placed |= (uint64_t)1 << h->offset;
}

static void note_received(const struct accelerator *a, const struct hx_event *event)
{
    uint32_t source = rank_of(event->addr_hi, event->addr_lo);
    const struct arriving *in = arriving_of(a->rank, source, event->message);
    uint64_t packets = (event->bytes + HX_MAX_PAYLOAD - 1) / HX_MAX_PAYLOAD;
    if (in->placed != UINT64_MAX >> (64 - packets) || event->bytes != book->s->traffic.settings.message)
        book->sums.incomplete++;
    else
        book->received[source * book->numbers + in->number] = 1;
}

static void take_event(void *of, const struct hx_event *event)
{
    const struct accelerator *a = of;
    if (event->type == HX_EVENT_RECEIVED)
        note_received(a, event);
    else if (event->type == HX_EVENT_FAILED)
        book->sums.failed++;
    else if (!book->received[a->rank * book->numbers + event->cookie])
        book->sums.never_received++;
    emulator.event(of, event);
}

uint64_t support_unreceived(const struct support *s)
{
    uint64_t sum = 0;
    for (uint32_t source = 0; source < s->f.g->hosts; source++) {
        for (uint64_t number = 0; number < s->f.accelerator[source].issued; number++)
            sum += !book->received[source * book->numbers + number];
    }
    return sum;
}

/* ---- life of a fabric ---- */

void support_open(struct support *s, const struct support_plan *plan)
{
    const struct hx_overrides overrides = {.planes = plan->planes, .credits = plan->credits};
    struct hx_settings settings = hx_default_settings;
    struct hx_spec spec;
    char name[64];
    *s = (struct support){.now = 1};
    struct hx_problem problem;
    hx_spec_load(plan->spec, &overrides, &spec);
    if (plan->reroutes && !hx_spec_search_updown(&spec, &problem))
        hx_die_of(&problem);
    (void)snprintf(name, sizeof name, "support-%ld", (long)getpid());
    fab_create(&s->f, &spec, &(struct fab_options){.workers = plan->workers, .name = name});
    settings.pattern = plan->pattern;
    settings.message = plan->message;
    settings.count = plan->count;
    settings.seed = plan->seed;
    traffic_init(&s->traffic, &s->f.spec, s->f.g, &settings, NULL);
    s->workload = (struct workload_plan){.traffic = &s->traffic, .verify = true};
    uint64_t most = 0;
    for (uint32_t rank = 0; rank < s->f.g->hosts; rank++) {
        uint64_t messages = traffic_messages(&s->traffic, rank);
        most = messages > most ? messages : most;
    }
    open_book(s, most);
    atomic_store(&s->f.control->phase, FAB_RUNNING);
}

void support_close(struct support *s)
{
    traffic_free(&s->traffic);
    fab_destroy(&s->f);
    (void)munmap(book, book->bytes);
}

/* ---- life of a worker ---- */

void support_start(struct support *s, struct worker *w, unsigned self)
{
    *w = (struct worker){.f = &s->f, .workload = &s->workload, .self = self, .clock = &s->clock};
    node_build_all(w);
    for (unsigned i = 0; i < w->accelerators; i++) {
        struct accelerator *a = &w->accelerator[i];
        emulator = a->hal.user;
        a->hal.user.fill = fill;
        a->hal.user.place = place;
        a->hal.user.event = take_event;
        memset(arriving_of(a->rank, 0, 0), 0,
               (size_t)book->accelerators * HX_MOST_PEER_WINDOW * sizeof(struct arriving));
    }
    atomic_store(&s->f.area[self].state, FAB_WORKER_RUNNING);
}

void support_forget(struct worker *w)
{
    node_free_all(w);
}

void support_take_down(struct support *s, unsigned worker)
{
    atomic_store(&s->f.area[worker].state, FAB_WORKER_DOWN);
}

void support_bring_back(struct support *s, unsigned worker)
{
    s->f.area[worker].incarnation++;
    atomic_store(&s->f.area[worker].state, FAB_WORKER_STARTING);
}

void support_set_condition(struct support *s, unsigned plane, uint32_t node, unsigned port,
                           const struct shm_condition *condition)
{
    struct hx_end far = hx_fabric_far(s->f.g, node, port);
    if (far.node == HX_NOWHERE)
        return;
    fab_set_condition(&s->f, fab_first_port(&s->f, plane, node) + port, condition);
    fab_set_condition(&s->f, fab_first_port(&s->f, plane, far.node) + far.port, condition);
    atomic_fetch_add(&s->f.control->conditions, 1);
}

void support_notice(struct worker *w)
{
    conditions_follow(w);
    node_reroute_all(w);
}

/* ---- steps ---- */

unsigned support_steps(const struct worker *w)
{
    return w->accelerators + w->nodes + 1;
}

unsigned support_step(struct support *s, struct worker *w, unsigned step, bool may_begin)
{
    w->shm.now = s->now;
    w->shm.touched = 0;
    if (step < w->accelerators)
        return accelerator_step(&w->accelerator[step], may_begin);
    if (step == w->accelerators + w->nodes)
        return conditions_step(w);
    struct hx_switch *sw = &w->node[step - w->accelerators].sw;
    return !sw->route.is_router ? hx_accelerator_step(sw) : hx_router_step(sw);
}

unsigned support_sweep(struct support *s, struct worker *w, bool may_begin)
{
    unsigned work = 0;
    for (unsigned step = 0; step < support_steps(w); step++)
        work += support_step(s, w, step, may_begin);
    return work;
}

bool support_is_done(const struct worker *w, bool may_begin)
{
    for (unsigned i = 0; i < w->accelerators; i++) {
        if (!accelerator_is_done(&w->accelerator[i], may_begin))
            return false;
    }
    return true;
}

/* ---- audit ---- */

/* seen: NULL to count buffers only. */
static void see(struct support_audit *audit, uint8_t *seen, uint32_t buffer)
{
    if (!seen)
        return;
    if (buffer >= audit->buffers)
        audit->foreign++;
    else if (seen[buffer]++)
        audit->doubled++;
}

/* pool.h: entries tail .. head-1 of a ring of `size` slots. */
static void audit_ring(struct support_audit *audit, uint8_t *seen, const struct shm_pool_ring *ring, uint32_t size)
{
    if (ring->head - ring->tail > audit->buffers) {
        audit->foreign++; /* impossible indices */
        return;
    }
    for (uint64_t at = ring->tail; at != ring->head; at++)
        see(audit, seen, ring->slots[at % size]);
}

/* link.h: positions tail .. head-1 of each VC, 16 bits a VC in one word, without those with a bit in `gone`. */
static void audit_link(struct support_audit *audit, uint8_t *seen, const struct shm_link *link, unsigned size)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        uint16_t head = (uint16_t)(link->heads >> 16 * vc);
        for (uint16_t at = (uint16_t)(link->tails >> 16 * vc); at != head; at++) {
            if (link->gone[vc] >> at % 64 & 1)
                continue;
            see(audit, seen, link->slots[vc * size + at % size].buffer);
            audit->in_links++;
        }
    }
}

static uint64_t count_link(const struct fab_fabric *f, const uint8_t *base, size_t index)
{
    struct support_audit audit = {0};
    audit_link(&audit, NULL, (const struct shm_link *)(const void *)(base + index * f->link_bytes), f->slots);
    return audit.in_links;
}

/* Links of a plane: from each port of each node (LOCAL: to the endpoint), then from endpoints to LOCAL. Faulty
 * links: from each port of each node, plane by plane. */
uint64_t support_waiting_for(const struct support *s, unsigned worker)
{
    const struct fab_fabric *f = &s->f;
    uint64_t sum = 0;
    size_t faulty = 0;
    for (unsigned plane = 0; plane < f->g->planes; plane++) {
        size_t index = (size_t)plane * f->layout.links;
        for (uint32_t node = 0; node < f->g->nodes; node++) {
            for (unsigned port = 0; port < hx_fabric_ports(f->g, node); port++, index++, faulty++) {
                uint32_t to = node < f->g->hosts && port == HX_LOCAL ? node : hx_fabric_far(f->g, node, port).node;
                if (to == HX_NOWHERE || f->layout.worker[to] != worker)
                    continue;
                sum += count_link(f, f->link_base, index) + count_link(f, f->faulty_base, faulty);
            }
        }
        for (uint32_t node = 0; node < f->g->hosts; node++, index++)
            sum += f->layout.worker[node] == worker ? count_link(f, f->link_base, index) : 0;
    }
    return sum;
}

struct support_audit support_audit(const struct support *s)
{
    const struct fab_fabric *f = &s->f;
    struct support_audit audit = {.buffers = (uint64_t)f->workers * f->per_home};
    uint8_t *seen = hx_allocate(audit.buffers, 1);
    for (size_t i = 0; i < (size_t)f->workers * f->workers; i++)
        audit_ring(&audit, seen, (const struct shm_pool_ring *)(const void *)(f->rings + i * f->ring_bytes),
                   f->ring_size);
    for (size_t i = 0; i < (size_t)f->g->planes * f->layout.links; i++)
        audit_link(&audit, seen, (const struct shm_link *)(const void *)(f->link_base + i * f->link_bytes), f->slots);
    for (size_t i = 0; i < (size_t)f->g->planes * (f->layout.links - f->g->hosts); i++)
        audit_link(&audit, seen, (const struct shm_link *)(const void *)(f->faulty_base + i * f->link_bytes), f->slots);
    for (uint64_t buffer = 0; buffer < audit.buffers; buffer++)
        audit.missing += !seen[buffer];
    free(seen);
    return audit;
}
