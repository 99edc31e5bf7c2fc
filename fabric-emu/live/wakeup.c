/* wakeup.c - sleep until a wakeup (wakeup.h). */
#include "wakeup.h"
#include "base/error.h"
#include "node.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MOST_EVENTS = 64 };

/* Source of an event. */
enum caller { WORKER, PROGRAM, INTERFACE };

/* ---- sources ---- */

static void watch(const struct worker *w, int fd, enum caller caller, uint32_t host)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = (uint64_t)caller << 32 | host};
    if (epoll_ctl(w->wakeup, EPOLL_CTL_ADD, fd, &event) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "cannot wait for programs: %s", strerror(errno));
}

static void watch_host(const struct worker *w, uint32_t host)
{
    const struct packets *packets = w->workload->packets;
    const struct programs *programs = w->workload->programs;
    if (packets && packets->tun[host] >= 0)
        watch(w, packets->tun[host], INTERFACE, host);
    if (programs && programs->at[host].head)
        watch(w, programs->at[host].wakeup_fd, PROGRAM, host);
}

void wakeup_open(struct worker *w)
{
    w->wakeup = -1;
    if (!w->workload->packets && !w->workload->programs)
        return;
    w->wakeup = epoll_create1(EPOLL_CLOEXEC);
    if (w->wakeup < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "cannot wait for programs: %s", strerror(errno));
    watch(w, w->f->wake[w->self], WORKER, 0);
    for (unsigned i = 0; i < w->accelerators; i++)
        watch_host(w, w->accelerator[i].rank);
}

void wakeup_close(struct worker *w)
{
    if (w->wakeup >= 0)
        (void)close(w->wakeup);
}

/* ---- wakeups by programs ---- */

static struct attachment_head *head_of(const struct worker *w, unsigned accelerator)
{
    return w->workload->programs->at[w->accelerator[accelerator].rank].head;
}

void wakeup_begin(struct worker *w)
{
    for (unsigned i = 0; w->workload->programs && i < w->accelerators; i++) {
        struct attachment_head *head = head_of(w, i);
        if (head && atomic_load_explicit(&head->served, memory_order_relaxed))
            atomic_store_explicit(&head->asleep, 1, memory_order_relaxed);
    }
}

void wakeup_end(struct worker *w)
{
    for (unsigned i = 0; w->workload->programs && i < w->accelerators; i++) {
        struct attachment_head *head = head_of(w, i);
        if (head && atomic_load_explicit(&head->asleep, memory_order_relaxed))
            atomic_store_explicit(&head->asleep, 0, memory_order_relaxed);
    }
}

/* ---- sleep ---- */

/* Clears an eventfd without blocking: programs share its description, may clear O_NONBLOCK, and may read first. */
static void read_wakeup(int fd)
{
    uint64_t times;
    const struct iovec to = {.iov_base = &times, .iov_len = sizeof times};
    (void)preadv2(fd, &to, 1, -1, RWF_NOWAIT);
}

/* Events are edge-triggered and stay until read: an old one costs one more sweep. */
static void take_event(const struct worker *w, uint64_t source)
{
    uint32_t host = (uint32_t)source;
    if (source >> 32 == INTERFACE)
        w->workload->packets->readable[host] = true;
    else
        read_wakeup(source >> 32 == PROGRAM ? w->workload->programs->at[host].wakeup_fd : w->f->wake[w->self]);
}

static void wait_for_events(const struct worker *w, long ns)
{
    struct epoll_event event[MOST_EVENTS];
    const struct timespec longest = {.tv_nsec = ns};
    int events = epoll_pwait2(w->wakeup, event, MOST_EVENTS, &longest, NULL);
    if (events < 0 && errno != EINTR) /* epoll_pwait2() needs Linux 5.11 */
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "cannot wait for programs: %s", strerror(errno));
    for (int i = 0; i < events; i++)
        take_event(w, event[i].data.u64);
}

void wakeup_look(struct worker *w)
{
    wait_for_events(w, 0);
}

void wakeup_sleep(struct worker *w, uint32_t wake, long longest)
{
    const struct timespec time = {.tv_nsec = longest};
    struct fab_area *area = &w->f->area[w->self];
    if (w->wakeup < 0)
        (void)syscall(SYS_futex, &area->wake, FUTEX_WAIT, wake, &time, NULL, 0);
    else if (atomic_load(&area->wake) == wake) /* the last sweep may have read the wakeup */
        wait_for_events(w, longest);
}
