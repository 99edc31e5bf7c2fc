/* test_packets.c - IP packets as messages: packets of one interface come out of another unchanged, in order, and
 * none is lost while messages are few. Sockets stand for interfaces, and this file for the fabric: it delivers
 * messages, or not. */
#include "spec/spec.h"
#include "workload/host_ip.h"
#include "workload/kinds.h"

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { HOSTS = 4, MOST = 64 };

struct world {
    struct hx_spec spec;
    int tun[HOSTS], program[HOSTS];
    bool readable[HOSTS];
    struct packets packets;
    struct workload *host[HOSTS];
    uint64_t begun[HOSTS];
};

static int open_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    hx_spec_load("1x1 Hx2Mesh", NULL, &w->spec);
    w->packets = (struct packets){.g = hx_spec_fabric(&w->spec), .tun = w->tun, .readable = w->readable};
    const struct workload_plan plan = {.packets = &w->packets, .verify = true};
    for (uint32_t i = 0; i < HOSTS; i++) {
        int ends[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
        w->tun[i] = ends[0];
        w->program[i] = ends[1];
        const struct workload_memory memory = {.memory = calloc(1, packets_kind.bytes(&plan, i))};
        w->host[i] = packets_kind.make(&plan, i, &memory);
        w->host[i]->rank = i;
        w->host[i]->begun = &w->begun[i];
    }
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    struct world *w = *state;
    for (uint32_t i = 0; i < HOSTS; i++) {
        workload_close(w->host[i]);
        free(w->host[i]);
        (void)close(w->tun[i]);
        (void)close(w->program[i]);
    }
    hx_spec_free(&w->spec);
    free(w);
    return 0;
}

/* ---- programs ---- */

static uint8_t byte_of(uint32_t number, uint32_t at)
{
    return (uint8_t)(number * 37 + at * 11 + (at >> 8));
}

/* Returns false if the interface has no room. */
static bool put(struct world *w, uint32_t from, uint32_t ip, uint32_t number, uint16_t bytes)
{
    uint8_t packet[PACKETS_MESSAGE];
    const struct iphdr header = {
        .version = 4, .ihl = 5, .tot_len = htons(bytes), .daddr = htonl(ip), .id = htons((uint16_t)number)};
    memcpy(packet, &header, sizeof header);
    for (uint32_t at = sizeof header; at < bytes; at++)
        packet[at] = byte_of(number, at);
    bool put = send(w->program[from], packet, bytes, MSG_NOSIGNAL) == bytes;
    w->readable[from] |= put;
    return put;
}

/* The next packet at a host is this one, complete. */
static void arrives_next(struct world *w, uint32_t at_host, uint32_t number, uint16_t bytes)
{
    uint8_t packet[PACKETS_MESSAGE];
    struct iphdr header;
    assert_int_equal(recv(w->program[at_host], packet, sizeof packet, 0), bytes);
    memcpy(&header, packet, sizeof header);
    assert_int_equal(ntohs(header.id), number);
    for (uint32_t at = sizeof header; at < bytes; at++)
        assert_int_equal(packet[at], byte_of(number, at));
}

static void nothing_comes(struct world *w, uint32_t host)
{
    uint8_t packet[1];
    assert_int_equal(recv(w->program[host], packet, sizeof packet, 0), -1);
}

/* ---- the fabric ---- */

/* Takes the host's next message as sent; false: there is none. */
static bool begins(struct world *w, uint32_t from, struct workload_message *m)
{
    *m = (struct workload_message){.bytes = 0};
    if (!workload_next(w->host[from], 0, 0, m))
        return false;
    workload_take(w->host[from], m);
    return true;
}

static void post_event(struct world *w, uint32_t host, enum hx_event_type type, uint32_t peer,
                       const struct workload_message *m)
{
    struct hx_coordinate at = hx_address_of(w->packets.g, peer);
    const struct hx_event event = {.type = type,
                                   .addr_hi = (uint16_t)at.addr_hi,
                                   .addr_lo = (uint16_t)at.addr_lo,
                                   .tag = m->tag,
                                   .bytes = m->bytes,
                                   .cookie = m->number};
    assert_int_equal(workload_event(w->host[host], 0, &event), HX_OK);
}

/* All of a message arrives, the last packet first. */
static void arrives(struct world *w, uint32_t from, const struct workload_message *m)
{
    struct hx_coordinate at = hx_address_of(w->packets.g, from);
    const struct hx_send s = {.cookie = m->number};
    uint32_t count = (uint32_t)((m->bytes + HX_MAX_PAYLOAD - 1) / HX_MAX_PAYLOAD);
    for (uint32_t packet = count; packet-- > 0;) {
        uint8_t payload[HX_MAX_PAYLOAD];
        uint64_t left = m->bytes - (uint64_t)packet * HX_MAX_PAYLOAD;
        const struct hx_header h = {.src_addr_hi = (uint16_t)at.addr_hi,
                                    .src_addr_lo = (uint16_t)at.addr_lo,
                                    .tag = m->tag,
                                    .offset = packet,
                                    .message_packets = count,
                                    .length = (uint16_t)(left < HX_MAX_PAYLOAD ? left : HX_MAX_PAYLOAD)};
        w->host[from]->ops->fill(w->host[from], &s, packet, payload, h.length);
        assert_int_equal(workload_place(w->host[m->to], &h, payload), 0);
    }
    post_event(w, m->to, HX_EVENT_RECEIVED, from, m);
}

static void acknowledged(struct world *w, uint32_t from, const struct workload_message *m)
{
    post_event(w, from, HX_EVENT_SENT, m->to, m);
}

static uint32_t ip_of(const struct world *w, uint32_t host)
{
    return host_ip(w->packets.g, host);
}

/* ---- tests ---- */

static void packets_of_every_length_arrive_unchanged(void **state)
{
    struct world *w = *state;
    static const uint16_t lengths[] = {20, 21, 84, 1500, 8191, 8192, 8193, 20000, 65520};
    struct workload_message m;
    for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        assert_true(put(w, 0, ip_of(w, 3), i, lengths[i]));
        assert_true(begins(w, 0, &m));
        assert_int_equal(m.to, 3);
        assert_int_equal(m.bytes, lengths[i]);
        arrives(w, 0, &m);
        acknowledged(w, 0, &m);
        arrives_next(w, 3, i, lengths[i]);
        nothing_comes(w, 3);
    }
    assert_false(begins(w, 0, &m));
}

/* With four messages to a host in flight, later packets form one message, and wait for none of another host's. */
static void packets_gather_while_four_messages_are_in_flight(void **state)
{
    struct world *w = *state;
    struct workload_message m[6];
    for (uint32_t i = 0; i < HX_PEER_WINDOW; i++) {
        assert_true(put(w, 0, ip_of(w, 1), i, 100));
        assert_true(begins(w, 0, &m[i]));
    }
    for (uint32_t i = 4; i < 9; i++)
        assert_true(put(w, 0, ip_of(w, 1), i, 1000));
    assert_false(begins(w, 0, &m[4]));
    assert_true(put(w, 0, ip_of(w, 2), 77, 100));
    assert_true(begins(w, 0, &m[5]));
    assert_int_equal(m[5].to, 2);
    arrives(w, 0, &m[2]);
    acknowledged(w, 0, &m[2]);
    assert_false(begins(w, 0, &m[4])); /* the endpoint has no fifth send before the first has ended */
    arrives(w, 0, &m[0]);
    acknowledged(w, 0, &m[0]);
    assert_true(begins(w, 0, &m[4]));
    assert_int_equal(m[4].bytes, 5000);
    arrives(w, 0, &m[4]);
    arrives(w, 0, &m[3]);
    arrives(w, 0, &m[1]);
    for (uint32_t i = 0; i < 9; i++)
        arrives_next(w, 1, i, i < 4 ? 100 : 1000);
    nothing_comes(w, 1);
}

/* Without acknowledgements no more is read than fits messages; afterwards everything arrives. */
static void packets_without_room_stay_in_the_interface(void **state)
{
    struct world *w = *state;
    struct workload_message m[MOST];
    uint32_t sent = 0;
    uint32_t come = 0;
    unsigned first = 0;
    unsigned last = 0;
    while (put(w, 0, ip_of(w, 1), sent, 30000)) {
        sent++;
        last += begins(w, 0, &m[last]);
    }
    assert_int_equal(last, HX_PEER_WINDOW);
    assert_true(sent > 2 * HX_PEER_WINDOW);
    for (; first < last; first++) {
        arrives(w, 0, &m[first]);
        for (uint64_t at = 0; at < m[first].bytes; at += 30000)
            arrives_next(w, 1, come++, 30000);
        acknowledged(w, 0, &m[first]);
        while (last < MOST && begins(w, 0, &m[last]))
            last++;
    }
    assert_int_equal(come, sent);
    nothing_comes(w, 1);
}

/* Packets of both versions share a message and come out unchanged; those with impossible lengths do not. */
static void ipv6_packets_share_messages_with_ipv4(void **state)
{
    struct world *w = *state;
    static const uint16_t lengths[] = {40, 41, 1280, 8192, 65520};
    static uint8_t packet[PACKETS_MESSAGE], got[PACKETS_MESSAGE];
    struct workload_message m;
    struct ip6_hdr header = {.ip6_flow = htonl(UINT32_C(6) << 28),
                             .ip6_plen = htons(1),
                             .ip6_dst = host_ip6(w->packets.g, 3, HOST_IP6_LINK)};
    assert_int_equal(send(w->program[0], &header, sizeof header, 0), sizeof header); /* a byte of it is missing */
    assert_int_equal(send(w->program[0], &header, sizeof header - 1, 0), sizeof header - 1);
    for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        header.ip6_plen = htons((uint16_t)(lengths[i] - sizeof header));
        header.ip6_dst = host_ip6(w->packets.g, 3, i % HOST_IP6S);
        memset(packet, (int)i + 1, sizeof packet);
        memcpy(packet, &header, sizeof header);
        bool last = lengths[i] == 65520; /* fills a message */
        assert_true(last || put(w, 0, ip_of(w, 3), i, 100));
        assert_int_equal(send(w->program[0], packet, lengths[i], 0), lengths[i]);
        w->readable[0] = true;
        assert_true(begins(w, 0, &m));
        assert_int_equal(m.to, 3);
        assert_int_equal(m.bytes, (last ? 0 : 100) + lengths[i]);
        arrives(w, 0, &m);
        acknowledged(w, 0, &m);
        if (!last)
            arrives_next(w, 3, i, 100);
        assert_int_equal(recv(w->program[3], got, sizeof got, 0), lengths[i]);
        assert_memory_equal(got, packet, lengths[i]);
        nothing_comes(w, 3);
    }
}

static void packets_without_a_destination_are_dropped(void **state)
{
    struct world *w = *state;
    struct workload_message m;
    uint8_t version_6[40] = {0x60};
    assert_true(put(w, 0, 10U << 24 | 9 << 16 | 1, 1, 100)); /* no such host */
    assert_true(put(w, 0, UINT32_MAX, 2, 100));              /* broadcast */
    assert_int_equal(send(w->program[0], version_6, sizeof version_6, 0), sizeof version_6);
    assert_int_equal(send(w->program[0], "x", 1, 0), 1);
    assert_false(begins(w, 0, &m));
    assert_true(put(w, 0, ip_of(w, 1), 3, 100));
    assert_true(begins(w, 0, &m));
    assert_int_equal(m.bytes, 100);
}

/* A message fails, in the endpoint or before: later ones do not wait for it. */
static void failed_messages_delay_no_others(void **state)
{
    struct world *w = *state;
    struct workload_message lost;
    struct workload_message m;
    assert_true(put(w, 0, ip_of(w, 1), 0, 100));
    assert_true(begins(w, 0, &lost));
    post_event(w, 0, HX_EVENT_FAILED, 1, &lost);
    assert_true(put(w, 0, ip_of(w, 1), 1, 100));
    assert_true(workload_next(w->host[0], 0, 0, &lost));
    workload_give_up(w->host[0], &lost);
    assert_false(begins(w, 0, &m));
    assert_true(put(w, 0, ip_of(w, 1), 2, 100));
    assert_true(begins(w, 0, &m));
    arrives(w, 0, &m);
    arrives_next(w, 1, 2, 100);
    assert_int_equal(w->begun[0], 3);
}

#define PREPARED(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PREPARED(packets_of_every_length_arrive_unchanged),
        PREPARED(ipv6_packets_share_messages_with_ipv4),
        PREPARED(packets_gather_while_four_messages_are_in_flight),
        PREPARED(packets_without_room_stay_in_the_interface),
        PREPARED(packets_without_a_destination_are_dropped),
        PREPARED(failed_messages_delay_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
