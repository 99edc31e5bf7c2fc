/* check_traffic.c - the firmware itself on the port: switches and endpoints exchange messages, and every byte is
 * checked. */
#include "hxmesh/error.h"
#include "kit.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 40, LONGEST = 100000, MOST_STEPS = 200000, TIMEOUT_NS = 1000000000 };

/* What the endpoints report. Messages go both ways; a message's tag is its number. */
static struct {
    struct kit *kit;
    uint32_t sent[CONFORMANCE_ACCELERATORS], received[CONFORMANCE_ACCELERATORS], failed;
    uint64_t placed[CONFORMANCE_ACCELERATORS][MESSAGES], wrong_bytes;
} t;

static unsigned index_of(const struct hal_endpoint *of)
{
    return of == t.kit->w.endpoint[1];
}

static unsigned bytes_of(uint32_t tag)
{
    return tag * 7919 % LONGEST;
}

static uint8_t byte_of(uint32_t tag, uint64_t at)
{
    return (uint8_t)(tag * 31 + at * 13 + at / 8192);
}

void conformance_read_payload(const struct hal_endpoint *of, const struct hx_send *s, uint32_t packet, uint8_t *to,
                              unsigned bytes)
{
    (void)of;
    for (unsigned i = 0; i < bytes; i++)
        to[i] = byte_of(s->tag, (uint64_t)packet * HX_MAX_PAYLOAD + i);
}

void conformance_write_payload(const struct hal_endpoint *of, const struct hx_header *h, const uint8_t *payload)
{
    uint64_t first = (uint64_t)h->offset * HX_MAX_PAYLOAD;
    if (h->tag >= MESSAGES)
        return;
    t.placed[index_of(of)][h->tag] += h->length;
    for (unsigned i = 0; i < h->length; i++)
        t.wrong_bytes += payload[i] != byte_of(h->tag, first + i);
}

void conformance_event(const struct hal_endpoint *of, const struct hx_event *e)
{
    if (e->type == HX_EVENT_SENT)
        t.sent[index_of(of)]++;
    else if (e->type == HX_EVENT_RECEIVED)
        t.received[index_of(of)]++;
    else
        t.failed++;
}

/* ---- objects of the firmware ---- */

struct firmware {
    struct hx_switch sw[CONFORMANCE_ACCELERATORS];
    struct hx_endpoint endpoint[CONFORMANCE_ACCELERATORS];
    uint32_t begun[CONFORMANCE_ACCELERATORS];
    void *memory[3 * CONFORMANCE_ACCELERATORS];
};

static void *zeroed(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory)
        abort();
    return memory;
}

static void start(struct firmware *f, struct kit *k)
{
    static const uint64_t cabled[] = {1U << HX_E | 1U << HX_LOCAL, 1U << HX_W | 1U << HX_LOCAL};
    struct hx_geometry g;
    (void)hx_geometry_init(&g, 2, 1, 1, 1, 1, HX_DEFAULT_RADIX, 1);
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++) {
        const struct hx_endpoint_config config = {.addr_hi = (uint16_t)i,
                                                  .columns = 2,
                                                  .rows = 1,
                                                  .plane_set = 1,
                                                  .window = HX_PEER_WINDOW,
                                                  .retries = 8,
                                                  .sends = 8,
                                                  .job = KIT_JOB,
                                                  .epoch = 1000 + i,
                                                  .key = 77 + i,
                                                  .check = true,
                                                  .timeout_ns = TIMEOUT_NS,
                                                  .least_ns = TIMEOUT_NS,
                                                  .most_ns = TIMEOUT_NS};
        void **memory = &f->memory[3 * i];
        memory[0] = zeroed(hx_switch_bytes(HX_ACCELERATOR_PORTS, HX_VCS));
        memory[1] = zeroed(hx_route_bytes(&g, i));
        memory[2] = zeroed(hx_endpoint_bytes(&config));
        hx_switch_init(&f->sw[i], HX_ACCELERATOR_PORTS, HX_VCS, KIT_JOB, k->w.sw[i], memory[0]);
        hx_route_build(&f->sw[i].route, &g, i, (struct hx_blocked_boards){NULL}, cabled[i], memory[1]);
        int error = hx_endpoint_init(&f->endpoint[i], &config, k->w.endpoint[i], memory[2]);
        kit_expect(k, error == HX_OK, "hx_endpoint_init() returns %d", error);
    }
}

static void step(struct firmware *f, struct kit *k)
{
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++) {
        uint32_t tag = f->begun[i];
        if (tag < MESSAGES && hx_endpoint_send(&f->endpoint[i], 1 - i, 0, bytes_of(tag), tag, tag) == HX_OK)
            f->begun[i]++;
        (void)hx_endpoint_step(&f->endpoint[i]);
        (void)hx_accelerator_step(&f->sw[i]);
    }
    kit_advance(k);
}

static bool is_done(const struct firmware *f)
{
    return t.sent[0] + t.sent[1] + t.failed == 2 * MESSAGES && hx_endpoint_idle(&f->endpoint[0]) &&
           hx_endpoint_idle(&f->endpoint[1]);
}

static void validate(struct kit *k, const struct firmware *f)
{
    kit_expect(k, t.failed == 0, "%u messages failed", (unsigned)t.failed);
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++) {
        kit_expect(k, t.sent[i] == MESSAGES && t.received[1 - i] == MESSAGES,
                   "of %u messages of endpoint %u %u arrived and %u were acknowledged", MESSAGES, i,
                   (unsigned)t.received[1 - i], (unsigned)t.sent[i]);
        kit_expect(k, f->endpoint[i].stats.packets_repeated == 0, "packets were repeated though the link loses none");
        for (unsigned tag = 0; tag < MESSAGES; tag++)
            kit_expect(k, t.placed[i][tag] == bytes_of(tag), "message %u: %llu of %u bytes were placed", tag,
                       (unsigned long long)t.placed[i][tag], bytes_of(tag));
    }
    kit_expect(k, t.wrong_bytes == 0, "%llu bytes arrived wrong", (unsigned long long)t.wrong_bytes);
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        kit_expect(k, conformance_drops(&k->w, (enum hx_drop)reason) == 0, "packets were dropped (reason %u)", reason);
}

static void traffic(struct kit *k)
{
    static struct firmware f;
    memset(&f, 0, sizeof f);
    memset(&t, 0, sizeof t);
    t.kit = k;
    start(&f, k);
    for (unsigned n = 0; n < MOST_STEPS && !is_done(&f) && !kit_shared->broken; n++)
        step(&f, k);
    validate(k, &f);
    kit_settle(k);
    for (unsigned i = 0; i < 3 * CONFORMANCE_ACCELERATORS; i++)
        free(f.memory[i]);
}

const struct kit_check kit_traffic_checks[] = {
    {"hal_write_payload", "stores arriving payload; called once for each packet of a message, in any order.", traffic},
    {0}};
