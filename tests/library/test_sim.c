/* test_sim.c - libhxmesh-sim as its users call it: events, errors, several fabrics, memory (include/hxmesh/sim.h). */
#include <hxmesh/sim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define SMALL "2x2 Hx2Mesh"
#define US    UINT64_C(1000000)

/* Opens a fabric with options, each a word, without an error. */
#define OPEN_WITH(fabric, ...) opened(fabric, (const char *const[]){__VA_ARGS__, NULL})

static struct hx_sim *opened(const char *fabric, const char *const *options)
{
    char error[HX_SIM_TEXT] = "";
    struct hx_sim *f = hx_sim_open(fabric, options, error);
    if (!f)
        print_error("%s\n", error);
    assert_non_null(f);
    assert_string_equal(hx_sim_warnings(f), "");
    return f;
}

static struct hx_sim_event next(struct hx_sim *f)
{
    struct hx_sim_event e;
    assert_int_equal(hx_sim_next(f, HX_SIM_NEVER, &e), HX_SIM_EVENT);
    assert_int_equal(hx_sim_now(f), e.time);
    return e;
}

static void assert_idle(struct hx_sim *f)
{
    struct hx_sim_event e;
    assert_int_equal(hx_sim_next(f, HX_SIM_NEVER, &e), HX_SIM_IDLE);
}

/* ---- events ---- */

static void message_is_delivered_then_acknowledged(void **state)
{
    (void)state;
    struct hx_sim *f = opened(SMALL, NULL);
    assert_int_equal(hx_sim_send(f, 3, 12, 100000, 7, 42), HX_SIM_OK);
    const struct hx_sim_event d = next(f);
    assert_int_equal(d.type, HX_SIM_DELIVERED);
    assert_int_equal(d.host, 12);
    assert_int_equal(d.from, 3);
    assert_int_equal(d.to, 12);
    assert_int_equal(d.tag, 7);
    assert_int_equal(d.bytes, 100000);
    assert_int_equal(d.cookie, 42);
    const struct hx_sim_event a = next(f);
    assert_int_equal(a.type, HX_SIM_ACKNOWLEDGED);
    assert_int_equal(a.host, 3);
    assert_int_equal(a.cookie, 42);
    assert_true(a.time > d.time);
    assert_idle(f);
    hx_sim_close(f);
}

/* The time of a packet over one link of 400 Gb/s: 64 bytes of header and 8192 of payload, and latencies. */
static void time_of_a_packet_is_that_of_its_links(void **state)
{
    (void)state;
    struct hx_sim *one = opened("Ring(3)", NULL);
    struct hx_sim *two = opened("Ring(5)", NULL);
    assert_int_equal(hx_sim_send(one, 0, 1, 8192, 0, 0), HX_SIM_OK);
    assert_int_equal(hx_sim_send(two, 0, 2, 8192, 0, 0), HX_SIM_OK);
    const uint64_t near = next(one).time;
    const uint64_t far = next(two).time;
    /* Links store and forward by cut-through: another hop costs latencies, not the packet's time on the link. */
    assert_true(near > 165120);
    assert_true(far > near && far - near < 165120);
    hx_sim_close(one);
    hx_sim_close(two);
}

static void reaction_at_the_host_begins_at_once(void **state)
{
    (void)state;
    struct hx_sim *f = opened(SMALL, NULL);
    (void)hx_sim_send(f, 0, 9, 8192, 0, 0);
    const uint64_t there = next(f).time;
    assert_int_equal(hx_sim_send(f, 9, 0, 8192, 0, 1), HX_SIM_OK);
    struct hx_sim_event e = next(f);
    while (e.type != HX_SIM_DELIVERED)
        e = next(f);
    assert_in_range(e.time - 2 * there, 1, 10000); /* its acknowledgement goes first, a block */
    hx_sim_close(f);
}

static void timers_come_in_order_and_messages_begin_at_them(void **state)
{
    (void)state;
    struct hx_sim *f = opened(SMALL, NULL);
    (void)hx_sim_send(f, 0, 9, 8192, 0, 0);
    const uint64_t alone = next(f).time;
    hx_sim_close(f);
    f = opened(SMALL, NULL);
    assert_int_equal(hx_sim_timer(f, HX_SIM_NO_HOST, 7 * US + 11, 1), HX_SIM_OK);
    assert_int_equal(hx_sim_timer(f, HX_SIM_NO_HOST, 5 * US, 2), HX_SIM_OK);
    assert_int_equal(hx_sim_timer(f, HX_SIM_NO_HOST, 7 * US + 11, 3), HX_SIM_OK);
    assert_int_equal(next(f).cookie, 2);
    const struct hx_sim_event e = next(f);
    assert_int_equal(e.type, HX_SIM_TIMER);
    assert_int_equal(e.host, UINT32_MAX);
    assert_int_equal(e.cookie, 1);
    (void)hx_sim_send(f, 0, 9, 8192, 0, 4);
    assert_int_equal(next(f).cookie, 3);
    assert_int_equal(next(f).time, 7 * US + 11 + alone);
    hx_sim_close(f);
}

static void time_stands_where_it_was_asked_to(void **state)
{
    (void)state;
    struct hx_sim *f = opened(SMALL, NULL);
    struct hx_sim_event e;
    (void)hx_sim_send(f, 0, 9, 8192, 0, 0);
    const uint64_t alone = next(f).time;
    assert_int_equal(hx_sim_next(f, 20 * US + 3, &e), HX_SIM_EVENT); /* the acknowledgement */
    assert_int_equal(hx_sim_next(f, 20 * US + 3, &e), HX_SIM_UNTIL);
    assert_int_equal(hx_sim_now(f), 20 * US + 3);
    (void)hx_sim_send(f, 0, 9, 8192, 0, 0);
    assert_int_equal(hx_sim_next(f, 20 * US + 3 + alone, &e), HX_SIM_UNTIL); /* events before that time */
    assert_int_equal(next(f).time, 20 * US + 3 + alone);
    assert_int_equal(hx_sim_next(f, hx_sim_now(f) - 1, &e), HX_SIM_INVALID);
    assert_non_null(strstr(hx_sim_error(f), "it is"));
    hx_sim_close(f);
}

/* A host does not go beyond its timer, whatever else it has to do: what it sends there begins exactly then. */
static void timer_at_a_host_is_exact(void **state)
{
    (void)state;
    uint64_t at[2] = {0, 0};
    for (unsigned wait = 0; wait < 2; wait++) {
        struct hx_sim *f = opened("Ring(8) gbps=400 ns=500", NULL);
        struct hx_sim_event e;
        for (uint32_t host = 0; host < 8; host++)
            (void)hx_sim_send(f, host, (host + 1) % 8, 16384, 0, 0);
        while (hx_sim_next(f, HX_SIM_NEVER, &e) == HX_SIM_EVENT) {
            if (e.type == HX_SIM_DELIVERED && wait)
                assert_int_equal(hx_sim_timer(f, e.host, e.time + 10007, e.cookie), HX_SIM_OK);
            else if (e.type != HX_SIM_ACKNOWLEDGED && e.cookie < 30)
                (void)hx_sim_send(f, e.host, (e.host + 1) % 8, 16384, 0, e.cookie + 1);
            at[wait] = e.type == HX_SIM_DELIVERED ? e.time : at[wait];
        }
        hx_sim_close(f);
    }
    /* An acknowledgement, a block of 5120 ps, passes in the wait. */
    assert_in_range(at[1] - at[0], 30 * (10007 - 5120), 30 * 10007);
}

/* To look at times in between does not change what happens. */
static void stops_change_nothing(void **state)
{
    (void)state;
    uint64_t ends[2] = {0, 0};
    for (unsigned stops = 0; stops < 2; stops++) {
        struct hx_sim *f = opened(SMALL, NULL);
        struct hx_sim_event e;
        uint64_t sum = 0;
        for (uint32_t i = 0; i < 16; i++)
            (void)hx_sim_send(f, i, (i + 5) % 16, 50000 + i, 0, i);
        for (uint64_t time = 0; stops && time < 40 * US; time += 12345) {
            int result;
            while ((result = hx_sim_next(f, time, &e)) == HX_SIM_EVENT)
                sum = sum * 31 + e.time + e.cookie;
            assert_int_equal(result, HX_SIM_UNTIL);
        }
        while (hx_sim_next(f, HX_SIM_NEVER, &e) == HX_SIM_EVENT)
            sum = sum * 31 + e.time + e.cookie;
        ends[stops] = sum;
        hx_sim_close(f);
    }
    assert_int_equal(ends[0], ends[1]);
}

static void collective_ends_at_each_host(void **state)
{
    (void)state;
    static const char *const kinds[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast",
                                        "reduce",     "gather",     "scatter",        "barrier"};
    const uint32_t group[] = {1, 6, 11, 12, 0};
    struct hx_sim *f = opened(SMALL, NULL);
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        unsigned ended = 0;
        const uint64_t bytes = strcmp(kinds[k], "barrier") == 0 ? 0 : 40000;
        if (hx_sim_collective(f, kinds[k], group, 5, bytes, NULL, k) != HX_SIM_OK)
            print_error("%s\n", hx_sim_error(f));
        struct hx_sim_event e;
        while (hx_sim_next(f, HX_SIM_NEVER, &e) == HX_SIM_EVENT) {
            assert_int_equal(e.type, HX_SIM_ENDED);
            assert_int_equal(e.cookie, k);
            for (unsigned i = 0; i < 5; i++)
                ended |= (unsigned)(e.host == group[i]) << i;
        }
        assert_int_equal(ended, 31);
    }
    hx_sim_close(f);
}

static void fault_is_an_event_and_messages_to_the_dead_fail(void **state)
{
    (void)state;
    struct hx_sim *f = OPEN_WITH(SMALL, "--fault", "a1,1 down at 3us");
    const uint32_t dead = hx_sim_host_of(f, "a1,1");
    struct hx_sim_event e = next(f);
    assert_int_equal(e.type, HX_SIM_FAULT);
    assert_int_equal(e.time, 3 * US);
    assert_string_equal(hx_sim_fault(f, e.cookie), "a1,1 down at 3us");
    assert_null(hx_sim_fault(f, 1));
    (void)hx_sim_send(f, 0, dead, 8192, 0, 5);
    (void)hx_sim_send(f, 0, 9, 8192, 0, 6);
    unsigned failed = 0;
    unsigned delivered = 0;
    while (hx_sim_next(f, HX_SIM_NEVER, &e) == HX_SIM_EVENT) {
        failed += e.type == HX_SIM_FAILED && e.cookie == 5;
        delivered += e.type == HX_SIM_DELIVERED && e.cookie == 6;
    }
    assert_int_equal(failed, 1);
    assert_int_equal(delivered, 1);
    hx_sim_close(f);
}

/* ---- what is there ---- */

static void hosts_have_names(void **state)
{
    (void)state;
    struct hx_sim *f = opened(SMALL, NULL);
    char name[HX_SIM_NAME];
    assert_int_equal(hx_sim_hosts(f), 16);
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(hx_sim_host_name(f, i, name), HX_SIM_OK);
        assert_int_equal(hx_sim_host_of(f, name), i);
    }
    hx_sim_close(f);
}

static void links_count_what_they_carry(void **state)
{
    (void)state;
    struct hx_sim *f = opened("Ring(4)", NULL);
    struct hx_sim_link link;
    uint64_t bytes = 0;
    unsigned used = 0;
    (void)hx_sim_send(f, 0, 1, 8192, 0, 0);
    (void)next(f); /* the acknowledgement has not left yet */
    for (uint32_t i = 0; i < hx_sim_links(f); i++) {
        assert_int_equal(hx_sim_link(f, i, &link), HX_SIM_OK);
        assert_true(link.from[0] && link.to[0]);
        used += link.packets == 1 && link.bytes == 8192 && link.busy >= 81920;
        bytes += link.bytes;
    }
    assert_int_equal(used, 3); /* from host to router, to the next, to its host */
    assert_int_equal(bytes, 3 * 8192);
    assert_int_equal(hx_sim_link(f, hx_sim_links(f), &link), HX_SIM_INVALID);
    hx_sim_close(f);
}

static void report_ends_the_run(void **state)
{
    (void)state;
    struct hx_sim *f = OPEN_WITH(SMALL, "--seed", "5");
    struct hx_sim_event e;
    (void)hx_sim_send(f, 0, 9, 81920, 0, 0);
    (void)next(f);
    (void)next(f);
    assert_idle(f);
    const char *report = hx_sim_report(f);
    assert_non_null(report);
    assert_non_null(strstr(report, "\"complete\": true"));
    assert_non_null(strstr(report, "\"packets_delivered\": 10,"));
    assert_non_null(strstr(report, "\"seed\": 5"));
    assert_ptr_equal(report, hx_sim_report(f));
    assert_int_equal(hx_sim_send(f, 0, 9, 1, 0, 0), HX_SIM_INVALID);
    assert_non_null(strstr(hx_sim_error(f), "the report has ended the run"));
    assert_int_equal(hx_sim_timer(f, HX_SIM_NO_HOST, UINT64_C(1) << 40, 0), HX_SIM_INVALID);
    assert_int_equal(hx_sim_next(f, HX_SIM_NEVER, &e), HX_SIM_IDLE);
    hx_sim_close(f);
}

static void traffic_runs_by_itself(void **state)
{
    (void)state;
    struct hx_sim *f = OPEN_WITH(SMALL, "--traffic", "all-to-all", "--message", "4KiB");
    assert_int_equal(hx_sim_send(f, 0, 1, 1, 0, 0), HX_SIM_INVALID);
    assert_non_null(strstr(hx_sim_error(f), "--traffic"));
    assert_int_equal(hx_sim_timer(f, HX_SIM_NO_HOST, 1 * US, 8), HX_SIM_OK);
    assert_int_equal(next(f).cookie, 8);
    assert_idle(f);
    assert_non_null(strstr(hx_sim_report(f), "\"packets_delivered\": 240,"));
    hx_sim_close(f);
}

/* ---- errors ---- */

static void assert_refused(const char *fabric, const char *option, const char *value, const char *text)
{
    const char *options[] = {option, value, NULL};
    char error[HX_SIM_TEXT] = "";
    assert_null(hx_sim_open(fabric, options, error));
    if (!strstr(error, text))
        print_error("'%s' is to say '%s'\n", error, text);
    assert_non_null(strstr(error, text));
    assert_null(strchr(error, '\n'));
}

static void openings_with_mistakes_say_why(void **state)
{
    (void)state;
    assert_refused("4x4 Hx9", NULL, NULL, "is not a fabric");
    assert_refused("/nowhere/x.hxm.yaml", NULL, NULL, "/nowhere/x.hxm.yaml");
    assert_refused(SMALL, "--planes", "99", "--planes: 99 is outside 1 .. 4");
    assert_refused(SMALL, "--planes", NULL, "--planes: needs a value");
    assert_refused(SMALL, "--plains", "2", "--plains: unknown option (did you mean '--planes'?)");
    assert_refused(SMALL, "--help", NULL, "--help: unknown option");
    assert_refused(SMALL, "--version", NULL, "--version: unknown option");
    assert_refused(SMALL, "--json", "x", "--json: unknown option");
    assert_refused(SMALL, "4x4 Hx2Mesh", NULL, "unexpected argument");
    assert_refused(SMALL, "--csv", "x", "--csv: is for the program hxmesh run");
    assert_refused(SMALL, "--timeline", "x", "--timeline: is for the program");
    assert_refused(SMALL, "--capture", "x", "--capture: is for the program");
    assert_refused(SMALL, "--watch", NULL, "--watch: is for the program");
    assert_refused(SMALL, "--workers", "2", "--workers: is for the program");
    assert_refused(SMALL, "--mpi", "2", "--mpi: is for the program");
    assert_refused(SMALL, "--compare-healthy", NULL, "--compare-healthy: is for the program");
    assert_refused(SMALL, "--clock", "wall", "--clock: wall is for the program");
    assert_refused(SMALL, "--duration", "1s", "--duration: is for --traffic, and none is given");
    assert_refused(SMALL, "--fault", "a9,9 down at 1us", "a9,9");
    assert_refused(SMALL, "--traffic", "/nowhere/x.csv", "/nowhere/x.csv");
    assert_refused(SMALL, "--buffer", "1KiB", "--buffer: '1KiB' is outside");
    assert_refused(SMALL, "--traffic", "tornado.schedule.yaml", "tornado.schedule.yaml");
}

static void calls_with_mistakes_change_nothing(void **state)
{
    (void)state;
    const uint32_t twice[] = {1, 2, 1};
    const uint32_t far[] = {1, 99};
    char name[HX_SIM_NAME];
    struct hx_sim *f = opened(SMALL, NULL);
    assert_int_equal(hx_sim_send(f, 16, 0, 1, 0, 0), HX_SIM_INVALID);
    assert_string_equal(hx_sim_error(f), "sender 16: hosts are 0 to 15");
    assert_int_equal(hx_sim_send(f, 0, 16, 1, 0, 0), HX_SIM_INVALID);
    assert_string_equal(hx_sim_error(f), "receiver 16: hosts are 0 to 15");
    assert_int_equal(hx_sim_send(f, 3, 3, 1, 0, 0), HX_SIM_INVALID);
    assert_string_equal(hx_sim_error(f), "host 3 sends to itself");
    assert_int_equal(hx_sim_send(f, 3, 4, UINT64_C(1) << 50, 0, 0), HX_SIM_INVALID);
    assert_non_null(strstr(hx_sim_error(f), "2^44"));
    assert_int_equal(hx_sim_collective(f, "all-sum", twice, 2, 8, NULL, 0), HX_SIM_INVALID);
    assert_non_null(strstr(hx_sim_error(f), "unknown word 'all-sum'"));
    assert_int_equal(hx_sim_collective(f, "all-reduce", twice, 2, 8, "fastest", 0), HX_SIM_INVALID);
    assert_non_null(strstr(hx_sim_error(f), "unknown word 'fastest'"));
    assert_int_equal(hx_sim_collective(f, "all-reduce", twice, 3, 8, NULL, 0), HX_SIM_INVALID);
    assert_string_equal(hx_sim_error(f), "host 1 is in the group twice");
    assert_int_equal(hx_sim_collective(f, "all-reduce", far, 2, 8, NULL, 0), HX_SIM_INVALID);
    assert_string_equal(hx_sim_error(f), "host 99: hosts are 0 to 15");
    assert_int_equal(hx_sim_collective(f, "all-reduce", twice, 1, 8, NULL, 0), HX_SIM_INVALID);
    assert_int_equal(hx_sim_collective(f, "all-reduce", twice, 2, 0, NULL, 0), HX_SIM_INVALID);
    assert_int_equal(hx_sim_collective(f, "all-to-all", twice, 2, 64, "torus", 0), HX_SIM_INVALID);
    assert_int_equal(hx_sim_host_name(f, 16, name), HX_SIM_INVALID);
    assert_int_equal(hx_sim_host_of(f, "a7,7"), UINT32_MAX);
    assert_false(hx_sim_is_usable(f, 16));
    assert_idle(f);
    assert_int_equal(hx_sim_now(f), 0);
    hx_sim_close(f);
    hx_sim_close(NULL);
}

static void failed_board_cannot_be_used(void **state)
{
    (void)state;
    char path[] = "/tmp/hxmesh-test-sim-XXXXXX.hxm.yaml";
    const int file = mkstemps(path, 9);
    assert_true(file >= 0);
    assert_true(dprintf(file, "fabric: 2x2 Hx2Mesh\nfailed_boards: [[0, 0]]\n") > 0);
    (void)close(file);
    struct hx_sim *f = opened(path, NULL);
    (void)unlink(path);
    assert_false(hx_sim_is_usable(f, 0));
    assert_int_equal(hx_sim_send(f, 0, 15, 1, 0, 0), HX_SIM_INVALID);
    assert_string_equal(hx_sim_error(f), "sender 0 is on a failed board");
    assert_int_equal(hx_sim_send(f, 15, 0, 1, 0, 0), HX_SIM_INVALID);
    hx_sim_close(f);
}

/* ---- a process with other things to do ---- */

static uint64_t digest_of(struct hx_sim *f, unsigned steps)
{
    struct hx_sim_event e;
    uint64_t sum = 0;
    while (steps-- && hx_sim_next(f, HX_SIM_NEVER, &e) == HX_SIM_EVENT)
        sum = sum * 31 + e.time * 7 + e.host;
    return sum;
}

static struct hx_sim *loaded(const char *fabric)
{
    struct hx_sim *f = opened(fabric, NULL);
    const uint32_t hosts = hx_sim_hosts(f);
    for (uint32_t i = 0; i < hosts; i++)
        (void)hx_sim_send(f, i, (i * 7 + 1) % hosts == i ? (i + 1) % hosts : (i * 7 + 1) % hosts, 100000, 0, i);
    return f;
}

static void fabrics_beside_each_other_are_as_alone(void **state)
{
    (void)state;
    struct hx_sim *a = loaded(SMALL);
    struct hx_sim *b = loaded("torus 5x4");
    const uint64_t of_a = digest_of(a, UINT32_MAX);
    const uint64_t of_b = digest_of(b, UINT32_MAX);
    hx_sim_close(a);
    hx_sim_close(b);
    a = loaded(SMALL);
    b = loaded("torus 5x4");
    struct hx_sim_event e;
    uint64_t sums[2] = {0, 0};
    struct hx_sim *const both[] = {a, b};
    for (unsigned left = 2; left;) {
        left = 0;
        for (unsigned i = 0; i < 2; i++) {
            if (hx_sim_next(both[i], HX_SIM_NEVER, &e) != HX_SIM_EVENT)
                continue;
            sums[i] = sums[i] * 31 + e.time * 7 + e.host;
            left++;
        }
    }
    assert_int_equal(sums[0], of_a);
    assert_int_equal(sums[1], of_b);
    hx_sim_close(a);
    hx_sim_close(b);
}

struct threaded {
    struct hx_sim *f;
    uint64_t sum;
};

static void *run_thread(void *of)
{
    struct threaded *t = of;
    t->sum = digest_of(t->f, UINT32_MAX);
    return NULL;
}

static void threads_run_fabrics_of_their_own(void **state)
{
    (void)state;
    struct threaded t[4];
    pthread_t thread[4];
    for (unsigned i = 0; i < 4; i++)
        t[i] = (struct threaded){loaded(i % 2 ? "torus 6x6" : "4x4 Hx2Mesh"), 0};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_thread, &t[i]), 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(t[0].sum, t[2].sum);
    assert_int_equal(t[1].sum, t[3].sum);
    for (unsigned i = 0; i < 4; i++)
        hx_sim_close(t[i].f);
}

/* Pages of this process, resident and mapped. */
static void pages_of_process(long *mapped, long *resident)
{
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    char line[128];
    char *rest;
    assert_non_null(fgets(line, sizeof line, file));
    *mapped = strtol(line, &rest, 10);
    *resident = strtol(rest, NULL, 10);
    (void)fclose(file);
}

static unsigned open_files(void)
{
    unsigned files = 0;
    for (int fd = 0; fd < 256; fd++)
        files += dup2(fd, fd) == fd;
    return files;
}

static void many_openings_do_not_grow(void **state)
{
    (void)state;
    const int count = getenv("HX_FEW_OPENINGS") ? 20 : 1000;
    char error[HX_SIM_TEXT];
    const unsigned files = open_files();
    long mapped[2] = {0, 0};
    long resident[2] = {0, 0};
    for (int i = 0; i < count; i++) {
        struct hx_sim *f = loaded(i % 2 ? SMALL : "Ring(4)_FC(4)");
        (void)digest_of(f, 20);
        if (i % 3 == 0)
            assert_non_null(hx_sim_report(f));
        hx_sim_close(f);
        assert_null(hx_sim_open("4x4 Hx9", NULL, error));
        assert_null(hx_sim_open(SMALL, (const char *const[]){"--fault", "nonsense", NULL}, error));
        if (i == 9 || i == count - 1)
            pages_of_process(&mapped[i > 9], &resident[i > 9]);
    }
    assert_int_equal(open_files(), files);
    assert_true(resident[1] < resident[0] + 1024); /* 4 MiB */
    assert_true(mapped[1] < mapped[0] + 65536);    /* a chunk of addresses that was at hand */
}

static void process_keeps_its_signals(void **state)
{
    (void)state;
    struct sigaction before[32];
    struct sigaction now;
    sigset_t blocked[2];
    for (int s = 1; s < 32; s++)
        (void)sigaction(s, NULL, &before[s]);
    (void)sigprocmask(SIG_BLOCK, NULL, &blocked[0]);
    struct hx_sim *f = loaded(SMALL);
    (void)digest_of(f, 10);
    (void)hx_sim_report(f);
    hx_sim_close(f);
    for (int s = 1; s < 32; s++)
        if (sigaction(s, NULL, &now) == 0)
            assert_ptr_equal(now.sa_handler, before[s].sa_handler);
    (void)sigprocmask(SIG_BLOCK, NULL, &blocked[1]);
    for (int s = 1; s < 32; s++)
        assert_int_equal(sigismember(&blocked[0], s), sigismember(&blocked[1], s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_is_delivered_then_acknowledged),
        cmocka_unit_test(time_of_a_packet_is_that_of_its_links),
        cmocka_unit_test(reaction_at_the_host_begins_at_once),
        cmocka_unit_test(timers_come_in_order_and_messages_begin_at_them),
        cmocka_unit_test(timer_at_a_host_is_exact),
        cmocka_unit_test(time_stands_where_it_was_asked_to),
        cmocka_unit_test(stops_change_nothing),
        cmocka_unit_test(collective_ends_at_each_host),
        cmocka_unit_test(fault_is_an_event_and_messages_to_the_dead_fail),
        cmocka_unit_test(hosts_have_names),
        cmocka_unit_test(links_count_what_they_carry),
        cmocka_unit_test(report_ends_the_run),
        cmocka_unit_test(traffic_runs_by_itself),
        cmocka_unit_test(openings_with_mistakes_say_why),
        cmocka_unit_test(calls_with_mistakes_change_nothing),
        cmocka_unit_test(failed_board_cannot_be_used),
        cmocka_unit_test(fabrics_beside_each_other_are_as_alone),
        cmocka_unit_test(threads_run_fabrics_of_their_own),
        cmocka_unit_test(many_openings_do_not_grow),
        cmocka_unit_test(process_keeps_its_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
