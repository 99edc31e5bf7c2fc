/* main.c - the image of a node: built once, then step after step until the console says that it is over.
 *
 * It hears, a character each:   g  begin to send    d  begin nothing more    q  the end
 *                               0 to 9  that hart hangs: its watchdog is to be tried
 * It says, a line each:         ready; stat and its numbers, state and its numbers, now and then and at
 *                               the end; panic and where
 *
 * Numbers of a `stat` line count since the start of the image; those of a `state` line are what is so now: bytes of
 * stack that hart 0 ever used, ports that lead somewhere (bit by port), whether nothing of its endpoint is under
 * way. */
#include "hal/bare/bare.h"
#include "hal/riscv-virt/board.h"
#include "harts.h"
#include "messages.h"

#include <stdatomic.h>

enum { LOOK_STEPS = 64 /* from look to look at the console */ };
static const uint64_t stat_ns = UINT64_C(250000000);

struct image {
    struct config config;
    struct node node;
    struct messages messages;
    struct harts harts;
    uint64_t told_at;
};

/* Of its switch and its endpoint together. */
static void say_drops(const struct node *n)
{
    static const char *const names[] = {
#define NAME(id, text) text,
        HX_DROP_REASONS(NAME)
#undef NAME
    };
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++) {
        uint64_t drops = n->switch_hal.node.drops[reason] + n->endpoint_hal.node.drops[reason];
        if (drops)
            bare_print(" drops_%s=%lu", names[reason], drops);
    }
}

static void say_statistics(const struct image *i)
{
    const struct node *n = &i->node;
    const struct hx_endpoint_stats *s = &n->endpoint.stats;
    bare_print("stat messages_sent=%lu messages_received=%lu messages_failed=%lu", s->messages_sent,
               s->messages_received, s->messages_failed);
    bare_print(" packets_sent=%lu packets_repeated=%lu packets_delivered=%lu", s->packets_sent, s->packets_repeated,
               s->packets_delivered);
    bare_print(" bytes_delivered=%lu bytes_corrupted=%lu hops=%lu", s->bytes_delivered, i->messages.bytes_corrupted,
               n->hops);
    say_drops(n);
    bare_print("\nstate stack=%u links=%lu idle=%u harts=%u\n", bare_stack_used(), n->up,
               hx_endpoint_idle(&n->endpoint), n->harts);
}

/* Returns whether the image is to go on. */
static bool hear(struct image *i)
{
    int c = board_get();
    i->messages.may_begin = c == 'g' || (c != 'd' && i->messages.may_begin);
    if (c == '0')
        harts_hang();
    if (c >= '1' && c <= '9')
        atomic_store_explicit(&i->harts.hangs, (unsigned)(c - '0'), memory_order_relaxed);
    return c != 'q';
}

static void build(struct image *i)
{
    config_read(&i->config, board_text());
    messages_init(&i->messages, &i->config, &i->node);
    node_build(&i->node, &i->config, harts_useful(board_harts(), NODE_CABLES), messages_user(&i->messages));
    harts_start(&i->harts, &i->node);
}

int image_main(void)
{
    struct image *i = bare_take(sizeof *i);
    build(i);
    bare_print("ready a%u,%u/p%u\n", i->config.gx, i->config.gy, i->config.plane);
    unsigned idle = 0;
    for (unsigned steps = 0;; steps++) {
        harts_begin_round();
        uint64_t now = board_now();
        unsigned begun = messages_begin(&i->messages, now);
        unsigned moved = node_step(&i->node, now);
        if (now - i->told_at >= stat_ns) {
            say_statistics(i);
            i->told_at = now;
        }
        if ((idle || steps % LOOK_STEPS == 0) && !hear(i))
            break;
        if (harts_end_round(&idle, begun || moved))
            node_idle_wait(&i->node, now);
    }
    say_statistics(i);
    return 0;
}
