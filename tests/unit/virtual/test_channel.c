/* test_channel.c - records between processes arrive once, complete, ordered by sender and time of sending, after the
 * turn that ends their window. Turns combine the values of all workers, and report a dead one. */
#include "hal/virtual/channel.h"
#include "hal/virtual/wheel.h"
#include "workload/random.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    WINDOWS = 2000,
    MOST_RECORDS = 20,
    FULL_WINDOWS = 500, /* from one window with many records to the next */
    MANY_RECORDS = 2000,
    MOST_FRAME = 300
};

static unsigned most_records(uint64_t window)
{
    return window % FULL_WINDOWS == 1 ? MANY_RECORDS : MOST_RECORDS;
}

/* Number and content of the records from one worker to another in a window; both sides compute them. */
static unsigned records(uint64_t window, unsigned from, unsigned to)
{
    return from == to ? 0 : random_below(random_of(window, from, to), most_records(window));
}

static uint32_t frame_bytes(uint64_t window, unsigned from, unsigned to, unsigned n)
{
    uint64_t random = random_of(random_of(window, from, to), n, 1);
    return random % 3 ? random_below(random, MOST_FRAME) : 0;
}

static uint8_t byte_of(uint64_t window, unsigned from, unsigned n, uint32_t at)
{
    return (uint8_t)(window + 31 * from + 7 * n + at);
}

static void send_one(struct virtual_channel *c, uint64_t window, unsigned from, unsigned to, unsigned n)
{
    uint32_t bytes = frame_bytes(window, from, to, n);
    struct virtual_record *r = virtual_channel_send(c, to, bytes);
    if (bytes)
        r->slot = (struct virtual_slot){.d.flow = (uint16_t)n, .ready = window * 100 + n, .birth = window + n};
    else
        r->credit = window * 100 + n;
    r->link = from * 1000 + to;
    uint8_t frame[MOST_FRAME] = {0};
    for (uint32_t at = 0; at < bytes; at++)
        frame[at] = byte_of(window, from, n, at);
    memcpy(r + 1, frame, bytes);
}

/* Content of a record, without its link and its frame. */
static bool says(const struct virtual_record *r, uint64_t window, unsigned n)
{
    if (r->frame_bytes == 0)
        return r->credit == window * 100 + n;
    return r->slot.d.flow == n && r->slot.ready == window * 100 + n && r->slot.birth == window + n;
}

static bool is_as_sent(const struct virtual_record *r, uint64_t window, unsigned from, unsigned to, unsigned n)
{
    if (!r || r->link != from * 1000 + to || r->frame_bytes != frame_bytes(window, from, to, n) || !says(r, window, n))
        return false;
    for (uint32_t at = 0; at < r->frame_bytes; at++) {
        if (virtual_record_frame(r)[at] != byte_of(window, from, n, at))
            return false;
    }
    return true;
}

static bool is_combined(const struct virtual_turn *turn, uint64_t window, unsigned workers)
{
    uint64_t sum = 0;
    for (unsigned w = 0; w < workers; w++)
        sum += window + w;
    return turn->next == window + 10 && turn->active == sum && turn->moved == window * 5 + workers - 1 &&
           (turn->stop != 0) == (window % 7 == 3);
}

/* Exit code of a worker: 0 if all was right. */
static int live(struct virtual_channel *c, unsigned workers, unsigned self)
{
    virtual_channel_join(c, self, workers < 3);
    for (uint64_t window = 0; window < WINDOWS; window++) {
        for (unsigned n = 0; n < most_records(window); n++) {
            for (unsigned to = 0; to < workers; to++)
                if (n < records(window, self, to))
                    send_one(c, window, self, to, n);
        }
        struct virtual_turn turn = {.next = window + 10 + (self + window) % workers,
                                    .active = window + self,
                                    .moved = window * 5 + self,
                                    .stop = window % 7 == 3 && self == window % workers};
        if (!virtual_channel_turn(c, &turn))
            return 1;
        if (workers > 1 && !is_combined(&turn, window, workers))
            return 2;
        for (unsigned from = 0; from < workers; from++) {
            for (unsigned n = 0; n < records(window, from, self); n++) {
                if (!is_as_sent(virtual_channel_receive(c), window, from, self, n))
                    return 3;
            }
        }
        if (virtual_channel_receive(c))
            return 4;
    }
    return 0;
}

static int ended(pid_t pid)
{
    int status;
    assert_true(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void everything_arrives_in_order(void **state)
{
    (void)state;
    for (unsigned workers = 2; workers <= 4; workers++) {
        struct virtual_channel *c = virtual_channel_create(workers);
        pid_t pid[4];
        for (unsigned w = 0; w < workers; w++) {
            pid[w] = fork();
            if (pid[w] == 0)
                _exit(live(c, workers, w));
        }
        for (unsigned w = 0; w < workers; w++)
            assert_int_equal(ended(pid[w]), 0);
        virtual_channel_destroy(c);
    }
}

static void a_single_worker(void **state)
{
    (void)state;
    struct virtual_channel *c = virtual_channel_create(1);
    virtual_channel_join(c, 0, true);
    struct virtual_turn turn = {.next = 5, .active = 6, .moved = 7, .stop = 1};
    for (unsigned n = 0; n < 3; n++) {
        assert_true(virtual_channel_turn(c, &turn));
        assert_true(turn.next == 5 && turn.active == 6 && turn.moved == 7 && turn.stop == 1);
        assert_null(virtual_channel_receive(c));
    }
    virtual_channel_destroy(c);
}

static void no_worker_has_events(void **state)
{
    (void)state;
    struct virtual_channel *c = virtual_channel_create(2);
    pid_t other = fork();
    virtual_channel_join(c, other == 0, true);
    struct virtual_turn turn = {.next = VIRTUAL_NO_WINDOW};
    bool good = virtual_channel_turn(c, &turn) && turn.next == VIRTUAL_NO_WINDOW && turn.active == 0;
    if (other == 0)
        _exit(good ? 0 : 1);
    assert_true(good);
    assert_int_equal(ended(other), 0);
    virtual_channel_destroy(c);
}

/* A worker that has published its values works on without delaying the other, and then finds its records. */
static void a_worker_that_has_published_works_on(void **state)
{
    (void)state;
    enum { MOST_SECONDS = 20 };
    struct virtual_channel *c = virtual_channel_create(2);
    int told[2];
    assert_int_equal(pipe(told), 0);
    pid_t works = fork();
    unsigned self = works == 0;
    virtual_channel_join(c, self, true);
    (void)alarm(MOST_SECONDS);
    send_one(c, 0, self, !self, 0);
    struct virtual_turn turn = {.next = self, .active = 1};
    virtual_channel_publish(c, &turn);
    char byte = 0;
    bool good = works || read(told[0], &byte, 1) == 1;
    good = virtual_channel_wait(c, &turn) && good && turn.next == 0 && turn.active == 2;
    good = is_as_sent(virtual_channel_receive(c), 0, !self, self, 0) && !virtual_channel_receive(c) && good;
    if (works == 0)
        _exit(good ? 0 : 1);
    assert_true(good);
    assert_int_equal(write(told[1], &byte, 1), 1);
    assert_int_equal(ended(works), 0);
    (void)alarm(0);
    (void)close(told[0]);
    (void)close(told[1]);
    virtual_channel_destroy(c);
}

static uint64_t processor_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* A long wait sleeps, and ends as soon as the other worker arrives. */
static void waits_long(bool own_core)
{
    enum { LATE_MS = 200, MOST_MS = 40, TURNS = 3 };
    struct virtual_channel *c = virtual_channel_create(2);
    pid_t late = fork();
    virtual_channel_join(c, late == 0, own_core);
    uint64_t before = processor_ns();
    struct virtual_turn turn;
    bool good = true;
    for (unsigned n = 0; n < TURNS; n++) {
        if (late == 0)
            (void)poll(NULL, 0, LATE_MS);
        turn = (struct virtual_turn){.next = n, .active = 1};
        good = good && virtual_channel_turn(c, &turn) && turn.active == 2;
    }
    if (late == 0)
        _exit(good ? 0 : 1);
    assert_true(good);
    assert_true(processor_ns() - before < MOST_MS * UINT64_C(1000000));
    assert_int_equal(ended(late), 0);
    virtual_channel_destroy(c);
}

static void a_long_wait_sleeps(void **state)
{
    (void)state;
    waits_long(true);
    waits_long(false);
}

/* A wait for a dead worker ends with an error. */
static void a_dead_worker_ends_the_wait(void **state)
{
    (void)state;
    struct virtual_channel *c = virtual_channel_create(3);
    pid_t pid[2];
    for (unsigned w = 0; w < 2; w++) {
        pid[w] = fork();
        if (pid[w] == 0)
            _exit(live(c, 3, w));
    }
    pid_t third = fork();
    if (third == 0) {
        (void)raise(SIGKILL);
    }
    assert_int_equal(ended(third), 128 + SIGKILL);
    virtual_channel_break(c);
    assert_int_equal(ended(pid[0]), 1);
    assert_int_equal(ended(pid[1]), 1);
    virtual_channel_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_arrives_in_order), cmocka_unit_test(a_single_worker),
        cmocka_unit_test(no_worker_has_events),        cmocka_unit_test(a_worker_that_has_published_works_on),
        cmocka_unit_test(a_long_wait_sleeps),          cmocka_unit_test(a_dead_worker_ends_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
