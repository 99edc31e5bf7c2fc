/* test_shared.c - a host with an interface and a program (workload/shared.c): each gets its own packets, neither
 * delays the other, and the end of a program or worker loses nothing of the other's. A socket stands for the
 * interface, this file for the endpoint and for the program's library. */
#include "tests/support/support_fabric.h"
#include "workload/host_ip.h"
#include "workload/in_order.h"
#include "workload/workload.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { SELF = 3, PEER = 5, HALF = WORKLOAD_SENDS / 2, WANTED = 77, PACKET = 100 };

static struct hx_fabric fabric;
static struct packets packets;
static struct programs programs;
static int interface_end, program_end;
static uint64_t begun, asked;
static struct workload *host;

static struct attachment *mine(void)
{
    return &programs.at[SELF];
}

static void make_host(void)
{
    const struct workload_plan plan = {.packets = &packets, .programs = &programs, .verify = true};
    host = workload_make(&plan, SELF, &begun, &asked, NULL, calloc(1, workload_bytes(&plan, SELF)));
}

static void free_host(void)
{
    workload_close(host);
    free(host);
}

static int set_up(void **state)
{
    int ends[2];
    (void)state;
    fabric_make(&fabric, "4x4 Hx2Mesh");
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    interface_end = ends[0];
    program_end = ends[1];
    packets = (struct packets){.g = &fabric,
                               .tun = calloc(fabric.hosts, sizeof *packets.tun),
                               .readable = calloc(fabric.hosts, sizeof *packets.readable)};
    for (uint32_t i = 0; i < fabric.hosts; i++)
        packets.tun[i] = interface_end; /* every host has one */
    programs = (struct programs){.g = &fabric, .at = calloc(fabric.hosts, sizeof *programs.at)};
    assert_int_equal(attachment_make(mine(), fabric.hosts), 0);
    begun = asked = 0;
    make_host();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free_host();
    attachment_close(mine());
    (void)close(interface_end);
    (void)close(program_end);
    free(packets.tun);
    free(packets.readable);
    free(programs.at);
    hx_fabric_free(&fabric);
    return 0;
}

/* ---- interface and program ---- */

static void begin_session(void)
{
    atomic_store(&mine()->head->wanted, WANTED);
    assert_true(workload_drains(host, 0));
    host->ops->drained(host);
    assert_int_equal(atomic_load(&mine()->head->served), WANTED);
}

static uint32_t tag_of_program(void)
{
    return attachment_tag(ATTACHMENT_TO_SLOT, 1, 1, 0);
}

static void post(uint32_t to, uint32_t tag)
{
    uint64_t number = atomic_load(&mine()->head->requested);
    mine()->request[number % ATTACHMENT_REQUESTS] = (struct attachment_request){.to = to, .tag = tag, .bytes = 1};
    atomic_store(&mine()->head->requested, number + 1);
}

static struct iphdr packet_for(uint32_t to)
{
    return (struct iphdr){.version = 4, .ihl = 5, .tot_len = htons(PACKET), .daddr = htonl(host_ip(&fabric, to))};
}

static void put_packet(uint32_t to)
{
    const struct iphdr header = packet_for(to);
    uint8_t packet[PACKET] = {0};
    memcpy(packet, &header, sizeof header);
    assert_int_equal(send(program_end, packet, sizeof packet, MSG_NOSIGNAL), PACKET);
    packets.readable[SELF] = true;
}

/* ---- the endpoint ---- */

static bool next(struct workload_message *m)
{
    *m = (struct workload_message){.bytes = 0};
    atomic_store(&mine()->head->wanted, atomic_load(&mine()->head->served));
    if (!workload_next(host, 0, 0, m))
        return false;
    workload_take(host, m);
    return true;
}

static void ended(const struct workload_message *m, enum hx_event_type how)
{
    struct hx_coordinate to = hx_address_of(&fabric, m->to);
    const struct hx_event e = {.type = how,
                               .addr_hi = (uint16_t)to.addr_hi,
                               .addr_lo = (uint16_t)to.addr_lo,
                               .tag = m->tag,
                               .bytes = m->bytes,
                               .cookie = m->number};
    assert_int_equal(workload_event(host, 0, &e), HX_OK);
}

static void arrives(uint32_t tag, const uint8_t *payload, uint16_t length)
{
    struct hx_coordinate from = hx_address_of(&fabric, PEER);
    const struct hx_header h = {.src_addr_hi = (uint16_t)from.addr_hi,
                                .src_addr_lo = (uint16_t)from.addr_lo,
                                .tag = tag,
                                .message_packets = 1,
                                .length = length};
    const struct hx_event e = {.type = HX_EVENT_RECEIVED,
                               .addr_hi = (uint16_t)from.addr_hi,
                               .addr_lo = (uint16_t)from.addr_lo,
                               .tag = tag,
                               .bytes = length};
    assert_int_equal(workload_place(host, &h, payload), 0);
    assert_int_equal(workload_event(host, 0, &e), HX_OK);
}

static bool is_packets(const struct workload_message *m)
{
    return in_order_has_mark(m->tag);
}

/* ---- tests ---- */

static void each_gets_its_own_packets(void **state)
{
    (void)state;
    const struct iphdr header = packet_for(SELF);
    uint8_t packet[PACKET] = {0};
    uint8_t got[PACKET + 1];
    begin_session();
    mine()->slot[attachment_slot_of(PEER, 0)] =
        (struct attachment_slot){.bytes = 64, .source = PEER, .session = 1, .state = ATTACHMENT_ARMED};
    memcpy(packet, &header, sizeof header);
    arrives(tag_of_program(), (const uint8_t *)"told", 4);
    assert_int_equal(recv(program_end, got, sizeof got, 0), -1);
    assert_int_equal(atomic_load(&mine()->head->arrived), 1);
    assert_memory_equal(mine()->memory, "told", 4);
    arrives(in_order_tag(9, 0), packet, sizeof packet);
    assert_int_equal(recv(program_end, got, sizeof got, 0), PACKET);
    assert_int_equal(atomic_load(&mine()->head->arrived), 1);
}

/* Every mark of a tag belongs to packets and to no kind of a program's message; a program cannot request one. */
static void a_program_cannot_imitate_an_interface(void **state)
{
    (void)state;
    struct workload_message m;
    for (unsigned kind = 0; kind < 16; kind++)
        assert_int_equal(in_order_has_mark(attachment_tag(kind, 255, 255, 4095)), kind >= ATTACHMENT_OTHERS);
    for (uint32_t life = 0; life < 5000; life++)
        assert_true(in_order_has_mark(in_order_tag(life, life * 977)));
    begin_session();
    post(PEER, in_order_tag(3, 0));
    assert_false(next(&m));
    assert_int_equal(mine()->completion[0].error, -EINVAL);
}

static void they_take_turns_and_each_has_half(void **state)
{
    (void)state;
    struct workload_message m;
    unsigned of_packets = 0;
    unsigned of_program = 0;
    begin_session();
    for (uint32_t i = 0; i < WORKLOAD_SENDS; i++) {
        put_packet(8 + i % 40);
        post(8 + i % 40, tag_of_program());
    }
    while (next(&m)) {
        of_packets += is_packets(&m);
        of_program += !is_packets(&m);
        assert_in_range(of_packets + 1 - of_program, 0, 2);
    }
    assert_int_equal(of_packets, HALF);
    assert_int_equal(of_program, HALF);
}

/* One message of each is in flight, and then the program dies. */
static void the_end_of_a_program_loses_only_its_own_messages(void **state)
{
    (void)state;
    struct workload_message m[2];
    begin_session();
    put_packet(PEER);
    post(PEER, tag_of_program());
    assert_true(next(&m[0]) && next(&m[1]));
    unsigned its = is_packets(&m[0]) ? 1 : 0;
    atomic_store(&mine()->head->wanted, 0);
    assert_true(workload_drains(host, 0));
    assert_true(workload_gives_up(host, m[its].number));
    assert_false(workload_gives_up(host, m[1 - its].number));
    ended(&m[its], HX_EVENT_FAILED);
    host->ops->drained(host); /* although packets are in flight */
    struct workload_message after;
    assert_false(workload_next(host, 0, 0, &after)); /* no notice is due */
    assert_true(workload_drains(host, 0));
    host->ops->drained(host);
    assert_int_equal(atomic_load(&mine()->head->served), 0);
    put_packet(PEER);
    assert_true(next(&after));
    assert_true(is_packets(&after));
    assert_int_equal(in_order_life(after.tag), in_order_life(m[1 - its].tag)); /* none of them was lost */
}

/* A worker dies with a message of each in flight: its successor sends only the program's again. */
static void a_successor_resends_only_the_programs_messages(void **state)
{
    (void)state;
    struct workload_message m[3];
    struct workload_message again;
    begin_session();
    put_packet(PEER);
    post(PEER, tag_of_program());
    post(PEER + 1, tag_of_program());
    assert_true(next(&m[0]) && next(&m[1]) && next(&m[2]));
    assert_int_equal(begun, 3);
    assert_int_equal(asked, 2);
    free_host();
    asked = 1; /* it died before it counted the second one, and after it noted it */
    make_host();
    uint64_t last = 0;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(host->ops->message(host, m[i].number, &again), !is_packets(&m[i]));
        if (is_packets(&m[i]))
            continue;
        assert_int_equal(again.to, m[i].to);
        assert_int_equal(again.number, m[i].number);
        last = again.number > last ? again.number : last;
    }
    workload_follow(host, last + 1, 2);
    assert_int_equal(asked, 2);
    assert_false(next(&again)); /* none is sent twice */
    for (unsigned i = 0; i < 3; i++) {
        if (!is_packets(&m[i]))
            ended(&m[i], HX_EVENT_SENT);
    }
    assert_int_equal(atomic_load(&mine()->head->completed), 2);
}

#define PREPARED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PREPARED(each_gets_its_own_packets),
        PREPARED(a_program_cannot_imitate_an_interface),
        PREPARED(they_take_turns_and_each_has_half),
        PREPARED(the_end_of_a_program_loses_only_its_own_messages),
        PREPARED(a_successor_resends_only_the_programs_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
