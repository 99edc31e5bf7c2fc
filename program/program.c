/* program.c - opens a host and delivers its events (include/hxmesh/program.h). */
#include "hxmesh/program.h"
#include "base/clock.h"
#include "program/attach_socket.h"
#include "program/parts.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { OPEN_MS = 5000, LEAVE_MS = 20, IDLE_WAIT_MS = 50, LOOKS = 4096, YIELDS = 16, IDLE_MS = 1, LEAST_EVENTS = 256 };

static uint64_t now_ms(void)
{
    return hx_monotonic_ns() / 1000000;
}

/* Sleeps while the bell equals `seen`. Returns 0 or -errno. */
static int sleep_at_bell(const struct attachment *at, uint32_t seen, int ms)
{
    const struct timespec most = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    atomic_store(&at->head->waiting, 1);
    long slept = 0;
    if (atomic_load(&at->head->bell) == seen)
        slept = syscall(SYS_futex, &at->head->bell, FUTEX_WAIT, seen, &most, NULL, 0);
    int error = slept < 0 && errno != EAGAIN ? -errno : 0;
    atomic_store(&at->head->waiting, 0);
    return error;
}

/* ---- events ---- */

/* Aborts without memory: a program that gets no events is worse than one that has ended. */
static void grow(struct hx_program *p)
{
    uint32_t room = p->event_room ? p->event_room * 2 : LEAST_EVENTS;
    struct hx_program_event *event = calloc(room, sizeof *event);
    if (!event)
        abort();
    for (uint32_t i = 0; i < p->event_count; i++)
        event[i] = p->event[(p->event_first + i) % p->event_room];
    free(p->event);
    p->event = event;
    p->event_room = room;
    p->event_first = 0;
}

void program_notify(struct hx_program *p, const struct hx_program_event *event)
{
    if (p->event_count == p->event_room)
        grow(p);
    p->event[(p->event_first + p->event_count++) % p->event_room] = *event;
}

static bool has_ended(const struct hx_program *p)
{
    const struct attachment_head *head = p->at.head;
    return atomic_load_explicit(&head->ended, memory_order_relaxed) ||
           atomic_load_explicit(&head->served, memory_order_relaxed) !=
               atomic_load_explicit(&head->wanted, memory_order_relaxed);
}

/* Takes what the worker published, and does the work that follows. */
static void take_in(struct hx_program *p)
{
    uint32_t bell = atomic_load_explicit(&p->at.head->bell, memory_order_acquire);
    p->better = p->better || (p->refused && bell != p->bell);
    p->bell = bell;
    requests_take(p);
    pairs_take(p);
    pairs_step(p);
    long_step(p);
}

/* Leaves the core to others. The worker wakes a sleeper; a yielding program waits for its turn among all spinning
 * ones. */
static void idle(const struct hx_program *p)
{
    if (p->idle_sleep && !p->dirty_count)
        (void)sleep_at_bell(&p->at, p->bell, IDLE_MS);
    else
        (void)sched_yield();
}

int hx_program_poll(struct hx_program *p, struct hx_program_event *events, unsigned room)
{
    take_in(p);
    unsigned taken = 0;
    for (; taken < room && p->event_count; taken++, p->event_count--) {
        events[taken] = p->event[p->event_first];
        p->event_first = (p->event_first + 1) % p->event_room;
    }
    p->looks = taken ? 0 : p->looks + 1;
    if (p->looks % YIELDS == YIELDS - 1)
        idle(p);
    bool dead = p->looks % LOOKS == LOOKS - 1 && attachment_is_dead(&p->at);
    return taken ? (int)taken : dead || has_ended(p) ? -ECONNABORTED : 0;
}

int hx_program_wait(struct hx_program *p, int timeout_ms)
{
    uint64_t end = now_ms() + (uint64_t)(timeout_ms < 0 ? 0 : timeout_ms);
    bool better = p->better;
    p->better = p->refused = false;
    while (!better && !p->event_count && !p->dirty_count && atomic_load(&p->at.head->bell) == p->bell) {
        uint64_t now = now_ms();
        if (timeout_ms >= 0 && now >= end)
            return -ETIMEDOUT;
        int idle_wait = timeout_ms >= 0 && end - now < IDLE_WAIT_MS ? (int)(end - now) : IDLE_WAIT_MS;
        int error = sleep_at_bell(&p->at, p->bell, idle_wait);
        if (error == -EINTR)
            return error;
        if (error && attachment_is_dead(&p->at))
            return -ECONNABORTED;
        if (error && p->retry_count)
            break; /* requests without path are repeated */
    }
    take_in(p);
    return p->event_count == 0 && has_ended(p) ? -ECONNABORTED : 0;
}

/* ---- sending ---- */

static int send_short(struct hx_program *p, uint32_t to, struct head *head, const void *data, void *context)
{
    uint32_t bytes = (uint32_t)head->bytes;
    bool copied = bytes && !memory_is_ours(p, data, bytes);
    if (!pair_may(p, to, CHANNEL_SHORT) || (copied && !p->bounces))
        return -EAGAIN;
    struct note note = {.purpose = SHORT, .peer = to, .bounce = -1, .context = context};
    if (copied) {
        note.bounce = (int16_t)memory_take(&p->bounces);
        data = memcpy(memory_bounce(p, (unsigned)note.bounce), data, bytes);
    }
    pair_send(p, &note, CHANNEL_SHORT, head, bytes ? data : NULL, bytes);
    return 0;
}

int hx_program_send_noted(struct hx_program *p, uint32_t to, uint64_t tag, uint32_t note, const void *data,
                          uint64_t bytes, void *context)
{
    struct head head = {.kind = HEAD_MESSAGE, .tag = tag, .bytes = bytes, .length = note};
    if (to >= p->at.hosts)
        return -EINVAL;
    int error = bytes > HX_PROGRAM_SHORT ? long_begin(p, to, tag, note, data, bytes, context)
                                         : send_short(p, to, &head, data, context);
    p->refused = p->refused || error == -EAGAIN;
    return error;
}

int hx_program_send(struct hx_program *p, uint32_t to, uint64_t tag, const void *data, uint64_t bytes, void *context)
{
    return hx_program_send_noted(p, to, tag, 0, data, bytes, context);
}

/* ---- open and close ---- */

/* Asks the worker to begin a session; the attachment is ours. */
static int begin(struct hx_program *p)
{
    struct attachment_head *head = p->at.head;
    uint32_t wanted = ((uint32_t)getpid() * 2654435761U ^ (uint32_t)hx_monotonic_ns()) | 1U;
    uint64_t end = now_ms() + OPEN_MS;
    atomic_store(&head->wanted, wanted);
    for (;;) {
        uint32_t seen = atomic_load(&head->bell);
        if (atomic_load(&head->served) == wanted)
            break;
        if (now_ms() > end || attachment_is_dead(&p->at))
            return -ETIMEDOUT;
        (void)sleep_at_bell(&p->at, seen, IDLE_WAIT_MS);
    }
    p->self = head->host;
    p->session = atomic_load(&head->session);
    p->requested = atomic_load(&head->first);
    p->completed = atomic_load(&head->completed);
    p->arrived = atomic_load(&head->arrived);
    return p->self < p->at.hosts ? 0 : -EPROTO;
}

static void release_all(struct hx_program *p)
{
    memory_free_all(p);
    free(p->pair);
    free(p->dirty);
    free(p->event);
    free(p);
}

/* Allocates the state of the library. */
static int prepare(struct hx_program *p)
{
    p->pair = calloc(p->at.hosts, sizeof *p->pair);
    p->dirty = calloc(p->at.hosts, sizeof *p->dirty);
    p->bounces = UINT64_MAX >> (64 - ATTACHMENT_BOUNCES);
    p->bounce_parts = UINT64_MAX >> (64 - ATTACHMENT_BOUNCE_PARTS);
    p->landings = UINT64_MAX >> (64 - ATTACHMENT_LANDINGS);
    if (!p->pair || !p->dirty)
        return -ENOMEM;
    int error = begin(p);
    if (!error)
        pair_meet_self(p);
    return error;
}

static int hold(struct attachment *at, const char *fabric, const char *host)
{
    int wakeup_fd = -1;
    int attach_socket = attach_socket_find(fabric);
    int fd = attach_socket < 0 ? attach_socket : attach_socket_request(attach_socket, host, &wakeup_fd);
    if (attach_socket >= 0)
        (void)close(attach_socket);
    int error = fd < 0 ? fd : attachment_hold(at, fd, wakeup_fd);
    if (error && fd >= 0) {
        (void)close(fd);
        (void)close(wakeup_fd);
    }
    return error;
}

int hx_program_open(struct hx_program **opened, const char *fabric, const char *host)
{
    struct hx_program *p = calloc(1, sizeof *p);
    *opened = NULL;
    if (!p)
        return -ENOMEM;
    const char *when_idle = getenv("HXMESH_IDLE");
    p->idle_sleep = when_idle && strcmp(when_idle, "sleep") == 0;
    int error = hold(&p->at, fabric, host);
    if (!error) {
        error = prepare(p);
        if (error) {
            atomic_store(&p->at.head->wanted, 0);
            attachment_close(&p->at);
        }
    }
    if (error)
        release_all(p);
    else
        *opened = p;
    return error;
}

/* Waits shortly for messages in flight. The worker notifies the peers. */
void hx_program_close(struct hx_program *p)
{
    uint64_t end = now_ms() + LEAVE_MS;
    while (p->in_flight && now_ms() < end && !has_ended(p)) {
        p->bell = atomic_load(&p->at.head->bell);
        requests_take(p);
        if (p->completed < p->requested)
            (void)sleep_at_bell(&p->at, p->bell, 1);
    }
    atomic_store(&p->at.head->wanted, 0);
    attachment_wakeup(&p->at);
    attachment_close(&p->at);
    release_all(p);
}

int hx_program_find(const char *fabric)
{
    int attach_socket = attach_socket_find(fabric);
    if (attach_socket >= 0)
        (void)close(attach_socket);
    return attach_socket >= 0 || attach_socket == -ENOTUNIQ ? 0 : attach_socket;
}

uint32_t hx_program_self(const struct hx_program *p)
{
    return p->self;
}

uint32_t hx_program_hosts(const struct hx_program *p)
{
    return p->at.hosts;
}

int hx_program_name(const struct hx_program *p, uint32_t host, char name[HX_PROGRAM_NAME_BYTES])
{
    if (host >= p->at.hosts)
        return -EINVAL;
    (void)snprintf(name, HX_PROGRAM_NAME_BYTES, "a%u,%u", p->at.address[host][0], p->at.address[host][1]);
    return 0;
}
