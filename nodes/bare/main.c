/* main.c - the image of a node: builds it once, then runs steps until the console ends it.
 *
 * Input, a character each:    g  start sending    d  start no more messages    q  end
 *                             0 to 9  this hart hangs, to test its watchdog
 * Output, a line each:        ready; stat and its numbers, state and its numbers, periodically and at the end;
 *                             panic and its place
 *
 * A `stat` line has totals since the start of the image. A `state` line has present values: bytes of stack that hart 0
 * ever used, ports with a link (bit by port), 1 if the endpoint is idle, harts. */
#include "hal/bare/bare.h"
#include "hal/riscv-virt/board.h"
#include "harts.h"
#include "messages.h"

#include <stdatomic.h>

enum { LOOK_STEPS = 64 /* steps between two reads of the console */ };
static const uint64_t stat_ns = UINT64_C(250000000);

struct image {
    struct config config;
    struct node node;
    struct messages messages;
    struct harts harts;
    uint64_t printed_at;
};

/* Drops of switch and endpoint, and stalls of the switch. */
static void print_counts(const struct node *n)
{
#define NAME(id, text) text,
    static const char *const drop_names[] = {HX_DROP_REASONS(NAME)};
    static const char *const stall_names[] = {HX_STALLS(NAME)};
#undef NAME
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++) {
        uint64_t drops = n->switch_hal.node.drops[reason] + n->endpoint_hal.node.drops[reason];
        if (drops)
            bare_print(" drops_%s=%lu", drop_names[reason], drops);
    }
    for (unsigned cause = 0; cause < HX_STALL_COUNT; cause++)
        if (n->switch_hal.node.stalls[cause])
            bare_print(" stalls_%s=%lu", stall_names[cause], n->switch_hal.node.stalls[cause]);
}

static void print_statistics(const struct image *i)
{
    const struct node *n = &i->node;
    const struct hx_endpoint_stats *s = &n->endpoint.stats;
    bare_print("stat messages_sent=%lu messages_received=%lu messages_failed=%lu", s->messages_sent,
               s->messages_received, s->messages_failed);
    bare_print(" packets_sent=%lu packets_repeated=%lu packets_delivered=%lu", s->packets_sent, s->packets_repeated,
               s->packets_delivered);
    bare_print(" bytes_delivered=%lu bytes_corrupted=%lu hops=%lu", s->bytes_delivered, i->messages.bytes_corrupted,
               n->hops);
    print_counts(n);
    bare_print("\nstate stack=%u links=%lu idle=%u harts=%u\n", bare_stack_used(), n->up,
               hx_endpoint_idle(&n->endpoint), n->harts);
}

/* Returns false at the end. */
static bool read_console(struct image *i)
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
        harts_begin_loop();
        uint64_t now = board_now();
        unsigned begun = messages_begin(&i->messages, now);
        unsigned moved = node_step(&i->node, now);
        if (now - i->printed_at >= stat_ns) {
            print_statistics(i);
            i->printed_at = now;
        }
        if ((idle || steps % LOOK_STEPS == 0) && !read_console(i))
            break;
        if (harts_end_loop(&idle, begun || moved))
            node_idle_wait(&i->node, now);
    }
    print_statistics(i);
    return 0;
}
