/* test_forwarding.c - times at which a forwarding host passes packets on, against the rule of
 * hal/virtual/forwarding.h, packet by packet, in random queues. */
#include "hal/virtual/sim_node.h"
#include "workload/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PACKETS = 40, ROUNDS = 500, OWN0 = 3, OWN1 = 1 };

/* Arrival of a packet, and its departure by the rule. */
struct expected {
    uint64_t comes, goes;
    bool own;
};

static uint64_t seed;

static unsigned below(unsigned what, unsigned i, unsigned n)
{
    return random_below(random_of(seed, what, i), n);
}

/* One input and one VC; the host takes up its packets in order of arrival. */
static void plan(struct expected packet[PACKETS], struct virtual_rx *rx, struct virtual_forwarding *f)
{
    uint64_t time = 0;
    uint64_t free = 0;
    for (unsigned i = 0; i < PACKETS; i++) {
        bool own = below(1, i, 3) == 0;
        unsigned blocks = 1 + below(2, i, 32);
        time += below(3, i, 4) * 10U;
        uint64_t taken_up = time > free ? time : free;
        packet[i] = (struct expected){time, own ? time : taken_up + f->delay, own};
        free = own ? free : taken_up + blocks * f->block;
        uint16_t head = hx_lane(rx->head, 0);
        struct virtual_slot *slot = virtual_queue_append(&rx->queue[0], 0, head);
        *slot = (struct virtual_slot){.ready = time, .birth = i};
        slot->d = (struct hx_desc){.flow = (uint16_t)blocks,
                                   .dst_addr_hi = OWN0,
                                   .dst_addr_lo = (uint16_t)(own ? OWN1 : OWN1 + 1),
                                   .buffer = i};
        rx->head = hx_lane_add(rx->head, 0, 1);
    }
}

/* Advances from one predicted time to the next; each packet departs exactly at its time, and none is missing. */
static void follow(const struct expected packet[PACKETS], struct virtual_rx *rx, struct virtual_forwarding *f)
{
    bool gone[PACKETS] = {false};
    unsigned left = PACKETS;
    unsigned next[2] = {0, 0}; /* forwarded, own: packets of one link stay in order */
    for (uint64_t now = 0; left; now = virtual_forwarding_next(rx, 0)) {
        uint16_t at = hx_lane(rx->ready, 0);
        assert_true(now != VIRTUAL_NEVER);
        virtual_forwarding_decide(f, rx, 0, now);
        for (; at != hx_lane(rx->decided, 0) && virtual_queue_at(&rx->queue[0], at)->ready <= now; at++, left--) {
            unsigned i = virtual_queue_at(&rx->queue[0], at)->d.buffer;
            assert_false(gone[i]);
            gone[i] = true;
            assert_true(i >= next[packet[i].own]);
            next[packet[i].own] = i;
            if (packet[i].goes != now)
                fail_msg("seed %llu: packet %u goes at %llu, not at %llu", (unsigned long long)seed, i,
                         (unsigned long long)now, (unsigned long long)packet[i].goes);
        }
        rx->ready = hx_lane_set(rx->ready, 0, at);
        for (unsigned i = 0; i < PACKETS; i++)
            assert_true(gone[i] || packet[i].goes > now);
    }
    assert_true(virtual_forwarding_next(rx, 0) == VIRTUAL_NEVER);
}

static void each_packet_by_the_rule(void **state)
{
    (void)state;
    for (seed = 1; seed <= ROUNDS; seed++) {
        struct expected packet[PACKETS];
        struct virtual_rx rx = {.forwards = true};
        struct virtual_forwarding f = {
            .delay = below(4, 0, 3) * 35U, .block = below(5, 0, 4), .addr_hi = OWN0, .addr_lo = OWN1};
        plan(packet, &rx, &f);
        follow(packet, &rx, &f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_packet_by_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
