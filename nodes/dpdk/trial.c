/* trial.c - the table of a trial (trial.h). */
#include "trial.h"
#include "base/error.h"
#include "device_modes.h"
#include "devices.h"

#include <inttypes.h>
#include <rte_cycles.h>
#include <stdio.h>

enum { WAIT_MS = 2000, TICK_MS = 20 };

/* Devices that are open and, but for the built-in endpoint's, outside of this process. */
static uint64_t started(const struct node *n)
{
    return n->cables & ~n->unstarted & ~n->refused;
}

static void wait_for_carriers(struct node *n)
{
    for (unsigned ms = 0; ms < WAIT_MS; ms += TICK_MS) {
        (void)node_watch_links(n);
        if ((n->cables & ~n->refused & ~atomic_load(&n->carrier)) == 0)
            return;
        rte_delay_us_sleep(TICK_MS * 1000);
    }
}

static void print_port(const struct node *n, unsigned port)
{
    const struct node_config *c = n->config;
    const unsigned lcore = n->core[n->owner[port]]->lcore;
    const uint16_t device = n->port[port].device;
    char word[HX_NAME_BYTES];
    char speed[DEVICE_SPEED_TEXT];
    struct rte_eth_dev_info info;
    uint16_t mtu = 0;
    printf("  %-6s %-24s", node_port_word(word, c, port), c->port[port].device);
    if (n->refused >> port & 1 || rte_eth_dev_info_get(device, &info) != 0) {
        printf(" refused\n");
        return;
    }
    (void)rte_eth_dev_get_mtu(device, &mtu);
    printf(" %-14s %5u %4d %5u  %-11s %-8s %-7s %s\n", info.driver_name, lcore, n->numa[port], mtu,
           device_promiscuous(device), device_pause(device), atomic_load(&n->carrier) >> port & 1 ? "yes" : "no",
           device_speed(device, speed));
}

int trial_run(struct node *n)
{
    const struct node_config *c = n->config;
    wait_for_carriers(n);
    printf("%s of a %s: %" PRIu32 " packet buffers, %" PRIu32 " blocks a VC\n", c->name, c->spec.fabric,
           n->buffers.frames, n->buffers.blocks);
    printf("  %-6s %-24s %-14s %5s %4s %5s  %-11s %-8s %-7s %s\n", "port", "device", "driver", "lcore", "NUMA", "MTU",
           "promiscuous", "pause", "carrier", "speed");
    for (unsigned port = 0; port < c->ports; port++)
        if (c->port[port].device[0])
            print_port(n, port);
    if (n->refused) {
        printf("refused: %d of %d devices\n", __builtin_popcountll(n->refused), (int)node_ports_used(c));
        return HX_EXIT_ENVIRONMENT;
    }
    printf("%d of %d devices can carry this node's frames\n", __builtin_popcountll(started(n)),
           (int)node_ports_used(c));
    return HX_EXIT_DONE;
}
