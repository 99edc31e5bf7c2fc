/* tuns.c - waiting for packets of programs (tuns.h). */
#include "tuns.h"
#include "host/error.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    MOST_EVENTS = 64,
    WAKE = -1 /* what an event bears in place of a host: another worker woke this one */
};

static void watch(const struct worker *w, int fd, int64_t what)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = (uint64_t)what};
    if (epoll_ctl(w->tuns, EPOLL_CTL_ADD, fd, &event) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "cannot wait for packets of programs: %s", strerror(errno));
}

void tuns_open(struct worker *w)
{
    const struct packets *p = w->workload->packets;
    w->tuns = -1;
    if (!p)
        return;
    w->tuns = epoll_create1(EPOLL_CLOEXEC);
    if (w->tuns < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "cannot wait for packets of programs: %s", strerror(errno));
    watch(w, w->f->wake[w->self], WAKE);
    for (unsigned i = 0; i < w->accelerators; i++) {
        uint32_t rank = w->accelerator[i].rank;
        if (p->tun[rank] >= 0)
            watch(w, p->tun[rank], rank);
    }
}

void tuns_close(struct worker *w)
{
    if (w->tuns >= 0)
        (void)close(w->tuns);
}

void tuns_wait(struct worker *w, long ns)
{
    struct epoll_event event[MOST_EVENTS];
    const struct timespec longest = {.tv_nsec = ns};
    int events = epoll_pwait2(w->tuns, event, MOST_EVENTS, &longest, NULL);
    if (events < 0 && errno != EINTR) /* Linux has it since 5.11 */
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "cannot wait for packets of programs: %s", strerror(errno));
    for (int i = 0; i < events; i++) {
        eventfd_t wakes;
        if ((int64_t)event[i].data.u64 == WAKE)
            (void)eventfd_read(w->f->wake[w->self], &wakes);
        else
            w->workload->packets->readable[event[i].data.u64] = true;
    }
}
