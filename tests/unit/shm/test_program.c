/* test_program.c - a host for a program (workload/program.c) with an attachment that holds what no library writes.
 * No access is outside of the attachment's memory, and impossible requests are answered or ignored. An inaccessible
 * page is behind the memory. */
#include "tests/support/support_fabric.h"
#include "tests/support/support_seed.h"
#include "workload/kinds.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SELF = 3, PEER = 5, PAGE = 4096, WANTED = 77 };

static struct hx_fabric fabric;
static struct programs programs;
static uint8_t *base;
static uint64_t begun;
static struct workload *host;
static uint8_t payload[HX_MAX_PAYLOAD];

static struct attachment *mine(void)
{
    return &programs.at[SELF];
}

/* The object must be a file: the kernel knows whether a program holds it. None does, so sessions are checked before
 * that. */
static int set_up(void **state)
{
    (void)state;
    fabric_make(&fabric, "2x2 Hx2Mesh");
    programs = (struct programs){.g = &fabric, .at = calloc(fabric.hosts, sizeof *programs.at)};
    struct attachment *at = mine();
    attachment_lay_out(at, fabric.hosts, NULL);
    int fd = memfd_create("attachment", 0);
    assert_true(fd >= 0 && ftruncate(fd, (off_t)at->bytes) == 0);
    base = mmap(NULL, at->bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(base, MAP_FAILED);
    assert_ptr_equal(mmap(base, at->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0), base);
    attachment_lay_out(at, fabric.hosts, base);
    at->fd = fd;
    const struct workload_plan plan = {.programs = &programs};
    begun = 0;
    host = workload_make(&plan, SELF, &begun, NULL, NULL, calloc(1, workload_bytes(&plan, SELF)));
    return 0;
}

static int tear_down(void **state)
{
    (void)seeded_report(state);
    workload_close(host);
    free(host);
    (void)munmap(base, mine()->bytes + PAGE);
    (void)close(mine()->fd);
    free(programs.at);
    hx_fabric_free(&fabric);
    return 0;
}

/* A program attaches. */
static void begin_session(void)
{
    atomic_store(&mine()->head->wanted, WANTED);
    assert_true(host->ops->drains(host, 0));
    host->ops->drained(host);
    assert_int_equal(atomic_load(&mine()->head->served), WANTED);
    assert_int_equal(atomic_load(&mine()->head->session), 1);
}

/* Without a check whether the program lives. */
static bool next(struct workload_message *m)
{
    atomic_store(&mine()->head->wanted, WANTED);
    return workload_next(host, 0, 0, m);
}

static void post(const struct attachment_request *r)
{
    uint64_t number = atomic_load(&mine()->head->requested);
    mine()->request[number % ATTACHMENT_REQUESTS] = *r;
    atomic_store(&mine()->head->requested, number + 1);
}

static void impossible_requests_are_answered_and_not_sent(void **state)
{
    (void)state;
    uint64_t memory = mine()->memory_bytes;
    const struct attachment_request bad[] = {{.to = fabric.hosts, .bytes = 1},
                                             {.to = UINT32_MAX, .bytes = 1},
                                             {.to = SELF, .bytes = 1},
                                             {.to = PEER, .bytes = 1, .offset = memory},
                                             {.to = PEER, .bytes = 2, .offset = memory - 1},
                                             {.to = PEER, .bytes = UINT32_MAX},
                                             {.to = PEER, .bytes = 1, .offset = UINT64_MAX},
                                             {.to = PEER, .head_bytes = 1},
                                             {.to = PEER, .head_bytes = UINT32_MAX}};
    const struct attachment_request good = {.to = PEER, .bytes = 1, .offset = memory - 1, .tag = 9};
    enum { BAD = sizeof bad / sizeof *bad };
    begin_session();
    for (unsigned i = 0; i < BAD; i++)
        post(&bad[i]);
    post(&good);
    struct workload_message m;
    assert_true(next(&m));
    assert_int_equal(m.number, BAD);
    assert_int_equal(m.to, PEER);
    assert_int_equal(m.bytes, 1);
    assert_int_equal(atomic_load(&mine()->head->completed), BAD);
    for (unsigned i = 0; i < BAD; i++) {
        assert_int_equal(mine()->completion[i].number, i);
        assert_int_equal(mine()->completion[i].error, -EINVAL);
    }
}

static void a_request_is_sent_as_validated(void **state)
{
    (void)state;
    begin_session();
    uint64_t last = mine()->memory_bytes - 1;
    mine()->memory[last] = 0x5a;
    post(&(struct attachment_request){.to = PEER, .bytes = 1, .offset = last, .head_bytes = ATTACHMENT_HEAD});
    struct workload_message m;
    assert_true(next(&m));
    workload_take(host, &m);
    mine()->request[0].offset = UINT64_MAX;
    mine()->request[0].bytes = UINT32_MAX;
    const struct hx_send send = {.cookie = m.number};
    uint8_t out[ATTACHMENT_HEAD + 1];
    host->ops->fill(host, &send, 0, out, sizeof out);
    assert_int_equal(out[ATTACHMENT_HEAD], 0x5a);
}

static void end_send(uint64_t number)
{
    struct hx_coordinate to = hx_address_of(&fabric, PEER);
    const struct hx_event sent = {
        .type = HX_EVENT_SENT, .addr_hi = (uint16_t)to.addr_hi, .addr_lo = (uint16_t)to.addr_lo, .cookie = number};
    assert_int_equal(workload_event(host, 0, &sent), HX_OK);
}

/* Requests end in any order. A program may reuse the slot of a request in flight; the worker takes the new one once the
 * old one has ended. */
static void a_sent_request_keeps_its_slot(void **state)
{
    (void)state;
    const struct attachment_request first = {.to = PEER, .bytes = 1, .offset = 7};
    const struct attachment_request other = {.to = PEER, .offset = mine()->memory_bytes};
    const struct hx_send send = {.cookie = 0};
    struct workload_message m;
    uint8_t out;
    begin_session();
    mine()->memory[7] = 0x5a;
    post(&first);
    for (unsigned i = 1; i < ATTACHMENT_REQUESTS; i++)
        post(&other);
    for (unsigned i = 0; i < ATTACHMENT_REQUESTS; i++) {
        assert_true(next(&m));
        assert_int_equal(m.number, i);
        workload_take(host, &m);
        if (i)
            end_send(i);
    }
    post(&other);
    assert_false(next(&m));
    assert_false(host->ops->message(host, ATTACHMENT_REQUESTS, &m));
    host->ops->fill(host, &send, 0, &out, 1);
    assert_int_equal(out, 0x5a);
    end_send(0);
    assert_true(next(&m));
    assert_int_equal(m.number, ATTACHMENT_REQUESTS);
}

static void too_many_requests_are_ignored(void **state)
{
    (void)state;
    begin_session();
    struct workload_message m;
    atomic_store(&mine()->head->requested, ATTACHMENT_REQUESTS + 1);
    assert_false(next(&m));
    atomic_store(&mine()->head->requested, UINT64_MAX);
    assert_false(next(&m));
    assert_int_equal(begun, 0);
}

static void arrive(uint32_t source, uint32_t tag, uint32_t packet, unsigned length, uint64_t bytes)
{
    struct hx_coordinate from = hx_address_of(&fabric, source);
    const struct hx_header h = {.src_addr_hi = (uint16_t)from.addr_hi,
                                .src_addr_lo = (uint16_t)from.addr_lo,
                                .tag = tag,
                                .offset = packet,
                                .length = (uint16_t)length};
    const struct hx_event e = {.type = HX_EVENT_RECEIVED,
                               .addr_hi = (uint16_t)from.addr_hi,
                               .addr_lo = (uint16_t)from.addr_lo,
                               .tag = tag,
                               .bytes = bytes};
    assert_int_equal(workload_place(host, &h, payload), 0);
    assert_int_equal(workload_event(host, 0, &e), HX_OK);
}

static struct attachment_slot *arm(uint64_t offset, uint32_t bytes)
{
    struct attachment_slot *s = &mine()->slot[attachment_slot_of(PEER, 2)];
    s->offset = offset;
    s->bytes = bytes;
    s->source = PEER;
    s->session = 4;
    s->turn = 6;
    atomic_store(&s->state, ATTACHMENT_ARMED);
    return s;
}

static uint32_t tag_for(unsigned receiver, unsigned sender, unsigned turn)
{
    return attachment_tag(ATTACHMENT_TO_SLOT, receiver, sender, turn << ATTACHMENT_SLOT_BITS | 2);
}

static void a_slot_takes_only_what_it_is_armed_for(void **state)
{
    (void)state;
    begin_session();
    memset(payload, 0xee, sizeof payload);
    const struct attachment_slot *s = arm(100, 50);
    arrive(PEER + 1, tag_for(1, 4, 6), 0, 50, 50);            /* another host's slot */
    arrive(PEER, tag_for(2, 4, 6), 0, 50, 50);                /* for another program here */
    arrive(PEER, tag_for(1, 3, 6), 0, 50, 50);                /* of another program there */
    arrive(PEER, tag_for(1, 4, 5), 0, 50, 50);                /* once more */
    arrive(PEER, tag_for(1, 4, 6), 0, 51, 51);                /* too long */
    arrive(PEER, tag_for(1, 4, 6), 1, 1, HX_MAX_PAYLOAD + 1); /* beyond */
    arrive(PEER, tag_for(1, 4, 6) + 13, 0, 50, 50);           /* no such slot */
    assert_int_equal(atomic_load(&s->state), ATTACHMENT_ARMED);
    assert_int_equal(mine()->memory[100], 0);
    assert_int_equal(mine()->memory[150], 0);
    arrive(PEER, tag_for(1, 4, 6), 0, 50, 50);
    assert_int_equal(atomic_load(&s->state), ATTACHMENT_FILLED);
    assert_int_equal(mine()->memory[149], 0xee);
    assert_int_equal(mine()->memory[150], 0);
    assert_int_equal(atomic_load(&mine()->head->arrived), 1);
    arrive(PEER, tag_for(1, 4, 6), 0, 50, 50);
    assert_int_equal(atomic_load(&mine()->head->arrived), 1);
}

static void a_slot_outside_of_the_memory_is_ignored(void **state)
{
    (void)state;
    begin_session();
    uint64_t memory = mine()->memory_bytes;
    const uint64_t offset[] = {memory, memory - 49, UINT64_MAX, UINT64_MAX - 20, UINT64_C(1) << 63};
    for (unsigned i = 0; i < sizeof offset / sizeof *offset; i++) {
        (void)arm(offset[i], 50);
        arrive(PEER, tag_for(1, 4, 6), 0, 50, 50);
        assert_int_equal(atomic_load(&mine()->head->arrived), 0);
    }
    (void)arm(memory - 50, 50);
    arrive(PEER, tag_for(1, 4, 6), 0, 50, 50);
    assert_int_equal(atomic_load(&mine()->head->arrived), 1);
}

/* ---- ends of programs ---- */

#define MS_PS (UINT64_C(1000000) * WORKLOAD_PS)

static void greet(uint32_t source, unsigned session)
{
    arrive(source, attachment_tag(ATTACHMENT_HELLO, 1, session, 0), 0, 0, 0);
}

/* No process holds the object: the next check finds the program dead, and its messages in flight fail first. */
static void die(uint64_t now)
{
    struct workload_message m;
    assert_true(host->ops->drains(host, now));
    assert_false(workload_next(host, now, 0, &m));
    assert_int_equal(atomic_load(&mine()->head->wanted), 0);
    host->ops->drained(host);
    assert_int_equal(atomic_load(&mine()->head->served), WANTED);
}

static uint64_t take_goodbye(uint64_t now, uint32_t to, unsigned receiver)
{
    struct workload_message m = {.to = HX_NOWHERE};
    assert_true(workload_next(host, now, 0, &m));
    assert_int_equal(m.to, to);
    assert_int_equal(m.tag, attachment_tag(ATTACHMENT_BYE, receiver, 1, 0));
    assert_int_equal(m.bytes, 0);
    workload_take(host, &m);
    return m.number;
}

static void peers_are_notified_of_a_dead_program(void **state)
{
    (void)state;
    struct workload_message m;
    begin_session();
    greet(PEER, 6);
    greet(1, 7);
    greet(9, 8);
    arrive(9, attachment_tag(ATTACHMENT_BYE, 1, 8, 0), 0, 0, 0);
    die(0);
    uint64_t first = take_goodbye(0, 1, 7);
    struct workload_message again;
    assert_true(host->ops->message(host, first, &again)); /* as a successor of the worker asks */
    assert_int_equal(again.to, 1);
    uint64_t second = take_goodbye(0, PEER, 6);
    assert_false(workload_next(host, 0, 0, &m));
    end_send(first);
    assert_false(host->ops->drains(host, 99 * MS_PS));
    end_send(second);
    assert_true(host->ops->drains(host, 99 * MS_PS));
    host->ops->drained(host);
    assert_int_equal(atomic_load(&mine()->head->served), 0);
    assert_int_equal(atomic_load(&mine()->head->completed), 2);
}

static void unreachable_peers_are_not_waited_for(void **state)
{
    (void)state;
    begin_session();
    greet(PEER, 6);
    die(5 * MS_PS);
    (void)take_goodbye(5 * MS_PS, PEER, 6);
    assert_false(host->ops->drains(host, 2004 * MS_PS)); /* for a worker may be stopped meanwhile */
    assert_true(host->ops->drains(host, 2005 * MS_PS));
}

static void peers_are_notified_of_a_closed_or_replaced_program(void **state)
{
    (void)state;
    struct workload_message m;
    begin_session();
    greet(PEER, 6);
    atomic_store(&mine()->head->wanted, WANTED + 1);
    assert_true(host->ops->drains(host, 0));
    host->ops->drained(host);
    uint64_t number = take_goodbye(0, PEER, 6);
    assert_false(workload_next(host, 0, 0, &m));
    end_send(number);
    assert_true(host->ops->drains(host, 0));
    host->ops->drained(host);
    assert_int_equal(atomic_load(&mine()->head->served), WANTED + 1);
    assert_int_equal(atomic_load(&mine()->head->session), 2);
    assert_int_equal(atomic_load(&mine()->head->first), number + 1);
}

/* Fields of the worker are right for the next program, although the previous one overwrote them. */
static void the_next_program_finds_right_counts(void **state)
{
    (void)state;
    struct workload_message m;
    begin_session();
    (void)arm(100, 50);
    arrive(PEER, tag_for(1, 4, 6), 0, 50, 50);
    post(&(struct attachment_request){.to = SELF});
    assert_false(next(&m)); /* an impossible request is answered */
    atomic_store(&mine()->head->completed, UINT64_MAX / 2);
    atomic_store(&mine()->head->arrived, 0);
    atomic_store(&mine()->head->first, 99);
    atomic_store(&mine()->head->session, 99);
    atomic_store(&mine()->head->wanted, WANTED + 1);
    while (atomic_load(&mine()->head->served) != WANTED + 1) {
        assert_false(workload_next(host, 0, 0, &m)); /* no notice is due */
        if (host->ops->drains(host, 0))
            host->ops->drained(host);
    }
    assert_int_equal(atomic_load(&mine()->head->completed), 1);
    assert_int_equal(atomic_load(&mine()->head->arrived), 1);
    assert_int_equal(atomic_load(&mine()->head->first), 1);
    assert_int_equal(atomic_load(&mine()->head->session), 2);
}

/* Rings, slots and head are overwritten again and again with random bytes. */
static void random_content_does_no_harm(void **state)
{
    (void)state;
    enum { RUNS = 200, STEPS = 200 };
    size_t control = (size_t)(mine()->memory - base);
    for (uint64_t run = 0; run < RUNS; run++) {
        seeded_run = seeded_by(1) + run;
        uint64_t random = seeded_run;
        begun = 0;
        for (unsigned step = 0; step < STEPS; step++) {
            for (unsigned i = 0; i < 64; i++)
                base[seeded_next(&random) % control] = (uint8_t)seeded_next(&random);
            struct workload_message m;
            if (host->ops->drains(host, step))
                host->ops->drained(host);
            if (workload_next(host, step, 0, &m)) {
                workload_take(host, &m);
                assert_true(m.to < fabric.hosts && m.to != SELF);
                const struct hx_send send = {.cookie = m.number};
                host->ops->fill(host, &send, 0, payload, m.bytes < sizeof payload ? (unsigned)m.bytes : sizeof payload);
            }
            arrive((uint32_t)(seeded_next(&random) % fabric.hosts), (uint32_t)seeded_next(&random),
                   (uint32_t)seeded_next(&random), (unsigned)(seeded_next(&random) % sizeof payload),
                   seeded_next(&random));
        }
    }
    seeded_run = 0;
}

#define PREPARED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PREPARED(impossible_requests_are_answered_and_not_sent),
        PREPARED(a_request_is_sent_as_validated),
        PREPARED(a_sent_request_keeps_its_slot),
        PREPARED(too_many_requests_are_ignored),
        PREPARED(a_slot_takes_only_what_it_is_armed_for),
        PREPARED(a_slot_outside_of_the_memory_is_ignored),
        PREPARED(peers_are_notified_of_a_dead_program),
        PREPARED(unreachable_peers_are_not_waited_for),
        PREPARED(peers_are_notified_of_a_closed_or_replaced_program),
        PREPARED(the_next_program_finds_right_counts),
        PREPARED(random_content_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
