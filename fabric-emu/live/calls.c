/* calls.c - sleeping until somebody calls (calls.h). */
#include "calls.h"
#include "tuns.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

static struct attachment_head *head_of(const struct worker *w, unsigned accelerator)
{
    return w->workload->programs->at[w->accelerator[accelerator].rank].head;
}

static void add(struct calls *c, const _Atomic uint32_t *word, uint32_t value)
{
    c->wait[c->count++] = (struct futex_waitv){.val = value, .uaddr = (uintptr_t)word, .flags = FUTEX_32};
}

void calls_begin(struct worker *w, uint32_t wake)
{
    struct calls *c = &w->calls;
    c->count = 0;
    c->unheard = false;
    add(c, &w->f->area[w->self].wake, wake);
    for (unsigned i = 0; w->workload->programs && i < w->accelerators; i++) {
        struct attachment_head *head = head_of(w, i);
        if (!head || !atomic_load_explicit(&head->served, memory_order_relaxed))
            continue;
        if (c->refused || tuns_are_open(w) || c->count == FUTEX_WAITV_MAX) {
            c->unheard = true;
            return;
        }
        add(c, &head->call, atomic_load(&head->call));
        atomic_store_explicit(&head->asleep, 1, memory_order_relaxed);
    }
}

void calls_end(struct worker *w)
{
    for (unsigned i = 0; w->workload->programs && i < w->accelerators; i++) {
        struct attachment_head *head = head_of(w, i);
        if (head && atomic_load_explicit(&head->asleep, memory_order_relaxed))
            atomic_store_explicit(&head->asleep, 0, memory_order_relaxed);
    }
}

static void sleep_on_own(const struct calls *c, long longest)
{
    const struct timespec time = {.tv_nsec = longest};
    (void)syscall(SYS_futex, c->wait[0].uaddr, FUTEX_WAIT, (uint32_t)c->wait[0].val, &time, NULL, 0);
}

/* Until a time, as it wants to know it. */
static void sleep_on_all(struct calls *c, long longest)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += longest;
    until.tv_sec += until.tv_nsec / NS_PER_S;
    until.tv_nsec %= NS_PER_S;
    if (syscall(SYS_futex_waitv, c->wait, c->count, 0, &until, CLOCK_MONOTONIC) < 0 && errno == ENOSYS)
        c->refused = true;
}

void calls_sleep(struct worker *w, long longest)
{
    if (w->calls.count > 1)
        sleep_on_all(&w->calls, longest);
    else
        sleep_on_own(&w->calls, longest);
}
