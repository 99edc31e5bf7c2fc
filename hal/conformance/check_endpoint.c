/* check_endpoint.c - the contract of an endpoint's functions (include/hxmesh/hal.h). */
#include "hxmesh/crc32c.h"
#include "hxmesh/lanes.h"
#include "kit.h"

enum { MOST_BUFFERS = 4096, MOST_FRAMES = 256, LENGTH = 300 };

static void try_inject_room(struct kit *k)
{
    unsigned room = hal_inject_room(k->w.endpoint[0], 0);
    if (!kit_expect(k, room > 0, "is 0 for an idle switch"))
        return;
    unsigned packets = 0;
    while (packets < room && kit_inject(k, KIT_FULL, packets))
        packets++;
    hal_endpoint_commit(k->w.endpoint[0]);
    kit_advance(k);
    unsigned arrived = kit_waiting(k, 0, HX_LOCAL, 0);
    kit_expect(k, arrived == packets, "is %u; of %u packets injected, %u arrived", room, packets, arrived);
    unsigned left = hal_inject_room(k->w.endpoint[0], 0);
    kit_expect(k, left + packets <= room, "room is still %u after %u of %u packets", left, packets, room);
    kit_settle(k);
}

/* Gets all buffers of an endpoint; returns their number. */
static unsigned get_all(struct hal_endpoint *e, uint32_t buffer[MOST_BUFFERS], bool urgent)
{
    unsigned count = 0;
    while (count < MOST_BUFFERS && hal_buffer_get(e, &buffer[count], urgent))
        count++;
    return count;
}

static void put_all(struct hal_endpoint *e, const uint32_t *buffer, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        hal_buffer_put(e, buffer[i]);
}

static void try_buffer_get(struct kit *k)
{
    static uint32_t buffer[MOST_BUFFERS];
    struct hal_endpoint *e = k->w.endpoint[0];
    unsigned count = get_all(e, buffer, false);
    kit_expect(k, count > 0, "there is no buffer");
    uint32_t last = 0;
    bool has_last = count == MOST_BUFFERS || hal_buffer_get(e, &last, true);
    if (kit_expect(k, has_last, "none is left for an acknowledgement (urgent) after packets took %u", count) &&
        count < MOST_BUFFERS)
        hal_buffer_put(e, last);
    put_all(e, buffer, count);
    hal_endpoint_commit(e);
    kit_settle(k);
}

static void try_buffer_put(struct kit *k)
{
    static uint32_t first[MOST_BUFFERS];
    static uint32_t second[MOST_BUFFERS];
    struct hal_endpoint *e = k->w.endpoint[0];
    unsigned before = get_all(e, first, true);
    for (unsigned i = 0; i < before; i++)
        for (unsigned other = 0; other < i; other++)
            kit_expect(k, first[i] != first[other], "hal_buffer_get gave buffer %u twice", (unsigned)first[i]);
    put_all(e, first, before);
    hal_endpoint_commit(e);
    unsigned after = get_all(e, second, true);
    kit_expect(k, after == before, "%u buffers were free, and %u after all were put back", before, after);
    put_all(e, second, after);
    hal_endpoint_commit(e);
    kit_settle(k);
}

static void try_frame(struct kit *k)
{
    static uint32_t buffer[MOST_BUFFERS];
    struct hal_endpoint *e = k->w.endpoint[0];
    const unsigned all = get_all(e, buffer, true);
    for (unsigned i = 0; i < all && i < MOST_FRAMES; i++)
        for (unsigned at = 0; at < HX_MAX_FRAME; at++)
            hal_frame(e, buffer[i])[at] = (uint8_t)(i + at);
    for (unsigned i = 0; i < all && i < MOST_FRAMES; i++)
        for (unsigned at = 0; at < HX_MAX_FRAME; at++)
            if (!kit_expect(k, hal_frame(e, buffer[i])[at] == (uint8_t)(i + at),
                            "byte %u of buffer %u changed when others were written", at, (unsigned)buffer[i]))
                break;
    put_all(e, buffer, all);
    hal_endpoint_commit(e);
    kit_settle(k);
}

static void try_inject(struct kit *k)
{
    if (!kit_expect(k, kit_send(k, LENGTH, 3) && kit_waiting(k, 0, HX_LOCAL, 0) == 1,
                    "a packet does not arrive at the switch's LOCAL input on VC 0"))
        return;
    const struct hx_desc *d = kit_arrival(k, 0, HX_LOCAL, 0, 0);
    kit_expect(k,
               d->length == LENGTH && d->vc == 0 && d->hops == 0 && d->dst_addr_hi == 1 && d->dst_addr_lo == 0 &&
                   d->job == KIT_JOB,
               "it arrives as %u bytes on VC %u after %u hops for %u,%u of job %u", d->length, d->vc, d->hops,
               d->dst_addr_hi, d->dst_addr_lo, d->job);
    kit_settle(k);
}

static void try_commit(struct kit *k)
{
    if (!kit_expect(k, kit_inject(k, LENGTH, 1), "no packet can be injected"))
        return;
    conformance_advance(&k->w, CONFORMANCE_ENDPOINT_0, false);
    kit_expect(k, kit_waiting(k, 0, HX_LOCAL, 0) == 0, "a packet is visible to the switch before the commit");
    hal_endpoint_commit(k->w.endpoint[0]);
    conformance_advance(&k->w, CONFORMANCE_ENDPOINT_0, true);
    kit_expect(k, kit_waiting(k, 0, HX_LOCAL, 0) == 1, "a packet has not arrived after the commit");
    kit_settle(k);
}

/* Packets of all VCs, from endpoint 0 through both switches to endpoint 1, with their bytes. */
static void try_ejected(struct kit *k)
{
    enum { PACKETS = 6, BURST = 4 };
    struct hal_endpoint *e = k->w.endpoint[1];
    uint32_t seen = 0;
    for (unsigned n = 0; n < PACKETS; n++) {
        unsigned vc = n % HX_VCS;
        if (!kit_expect(k, kit_bring(k, vc, LENGTH + n, n) && kit_forward(k, 1, HX_W, vc, HX_LOCAL, vc, 1) == 1,
                        "no packet can be sent on VC %u", vc))
            return;
    }
    kit_advance(k);
    for (unsigned taken = 0; taken < PACKETS;) {
        struct hx_desc burst[BURST] = {{0}};
        unsigned count = hal_ejected(e, 0, burst, BURST);
        if (!kit_expect(k, count > 0 && count <= BURST, "gives %u packets of at most %u, with %u still to come", count,
                        BURST, PACKETS - taken))
            return;
        for (unsigned i = 0; i < count; i++) {
            unsigned n = (unsigned)burst[i].length - LENGTH;
            if (!kit_expect(k, n < PACKETS && !(seen >> n & 1), "a packet comes twice, or one that was never sent"))
                return;
            seen |= (uint32_t)1 << n;
            kit_expect(k, kit_is_whole(hal_frame(e, burst[i].buffer), LENGTH + n, n),
                       "header or payload of a packet changed in flight");
            hal_buffer_put(e, burst[i].buffer);
        }
        taken += count;
    }
    hal_endpoint_commit(e);
    struct hx_desc more;
    kit_expect(k, hal_ejected(e, 0, &more, 1) == 0, "gives more packets than were sent");
    kit_settle(k);
}

/* Taken packets have left the link, so its credit must come back. */
static void try_ejected_makes_room(struct kit *k)
{
    enum { PACKETS = 4 * HX_WINDOW };
    for (unsigned n = 0; n < PACKETS; n++) {
        struct hx_desc d = {0};
        bool sent = kit_bring(k, 0, KIT_FULL, n) && kit_forward(k, 1, HX_W, 0, HX_LOCAL, 0, 1) == 1;
        kit_advance(k);
        if (!kit_expect(k, sent && hal_ejected(k->w.endpoint[1], 0, &d, 1) == 1,
                        "packet %u does not come, though all before it were taken and their buffers put back", n + 1))
            break;
        hal_buffer_put(k->w.endpoint[1], d.buffer);
        hal_endpoint_commit(k->w.endpoint[1]);
        kit_advance(k);
    }
    kit_settle(k);
}

static void try_now(struct kit *k)
{
    uint64_t before = hal_now(k->w.endpoint[0]);
    for (unsigned n = 0; n < 100; n++) {
        kit_advance(k);
        uint64_t after = hal_now(k->w.endpoint[0]);
        if (!kit_expect(k, after >= before, "went back from %llu to %llu", (unsigned long long)before,
                        (unsigned long long)after))
            return;
        before = after;
    }
    kit_expect(k, before > 0, "does not move");
}

/* The second time is longer than 32 bits of nanoseconds. A world of real time may wake up later than asked. */
static void try_now_unit(struct kit *k)
{
    static const uint64_t times[] = {1000000, 5000000000}, late = 100000000;
    for (unsigned n = 0; n < sizeof times / sizeof *times; n++) {
        const uint64_t before = hal_now(k->w.endpoint[0]);
        conformance_pass(&k->w, times[n]);
        const uint64_t passed = hal_now(k->w.endpoint[0]) - before;
        if (!kit_expect(k, passed >= times[n] && passed <= 2 * times[n] + late,
                        "while %llu ns passed it went on by %llu", (unsigned long long)times[n],
                        (unsigned long long)passed))
            return;
    }
}

static void crc32c(struct kit *k)
{
    uint8_t data[300];
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 37 + 11);
    for (unsigned bytes = 0; bytes < sizeof data - 8; bytes++) {
        for (unsigned from = 0; from < 8; from++) {
            uint32_t is = hal_crc32c(bytes, data + from, bytes);
            uint32_t ought = hx_crc32c(bytes, data + from, bytes);
            if (!kit_expect(k, is == ought, "%u bytes give 0x%08x, not 0x%08x", bytes, (unsigned)is, (unsigned)ought))
                return;
        }
    }
}

static void try_endpoint_drop(struct kit *k)
{
    uint64_t before = conformance_drops(&k->w, HX_DROP_CHECKSUM);
    hal_endpoint_drop(k->w.endpoint[0], HX_DROP_CHECKSUM);
    uint64_t counted = conformance_drops(&k->w, HX_DROP_CHECKSUM) - before;
    kit_expect(k, counted == 1, "one drop is counted as %llu", (unsigned long long)counted);
}

const struct kit_check kit_endpoint_checks[] = {
    {"hal_inject_room", "packets that the plane's switch takes now", try_inject_room},
    {"hal_buffer_get", "urgent: may take the last ones, for acknowledgements", try_buffer_get},
    {"hal_buffer_put", "A packet buffer belongs to exactly one of", try_buffer_put},
    {"hal_frame", "HX_MAX_FRAME bytes, header first", try_frame},
    {"hal_inject", "an endpoint (between hal_buffer_get and hal_inject, or hal_ejected and hal_buffer_put)",
     try_inject},
    {"hal_endpoint_commit",
     "Other nodes see nothing of a step of a switch or endpoint before hal_commit / hal_endpoint_commit; then they see "
     "all of it.",
     try_commit},
    {"hal_ejected", "takes up to `most` packets delivered on the plane.", try_ejected},
    {"hal_ejected", "or the endpoint takes it", try_ejected_makes_room},
    {"hal_now", "nanoseconds, monotonic", try_now},
    {"hal_now", "nanoseconds, monotonic", try_now_unit},
    {"hal_crc32c", "as hx_crc32c, possibly faster", crc32c},
    {"hal_endpoint_drop", "counts", try_endpoint_drop},
    {0}};
