/* harts.c - the loop of harts that serve devices (harts.h). */
#include "harts.h"
#include "hal/bare/bare.h"
#include "node.h"

#include <stdatomic.h>

enum { IDLE_LOOPS = 64 /* without work, before an idle wait */ };
static const uint64_t watchdog_ns = UINT64_C(5000000000);

void harts_begin_loop(void)
{
    board_watch(watchdog_ns);
}

bool harts_end_loop(unsigned *idle, bool worked)
{
    *idle = worked ? 0 : *idle + 1;
    return *idle >= IDLE_LOOPS;
}

_Noreturn void harts_hang(void)
{
    for (;;) {
    }
}

/* A hart that serves devices. */
struct server {
    struct harts *harts;
    unsigned hart;
};

static void serve(void *of)
{
    const struct server *s = of;
    unsigned idle = 0;
    for (;;) {
        harts_begin_loop();
        if (atomic_load_explicit(&s->harts->hangs, memory_order_relaxed) == s->hart)
            harts_hang();
        uint64_t now = board_now();
        unsigned moved = node_take_in(s->harts->node, s->hart, now) + node_send_out(s->harts->node, s->hart, now);
        if (harts_end_loop(&idle, moved > 0))
            board_idle_wait(HARTS_IDLE_WAIT_NS);
    }
}

void harts_start(struct harts *h, struct node *n)
{
    *h = (struct harts){.node = n};
    for (unsigned hart = 1; hart < n->harts; hart++) {
        struct server *s = bare_take(sizeof *s);
        *s = (struct server){.harts = h, .hart = hart};
        board_hart_start(hart, serve, s);
    }
}
