/* trial.c - the table of a trial (trial.h). */
#include "trial.h"
#include "base/error.h"
#include "device_modes.h"
#include "devices.h"

#include <inttypes.h>
#include <rte_cycles.h>
#include <stdio.h>

enum { WAIT_MS = 2000, TICK_MS = 20 };

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
    printf("  %-6s %-24s", node_port_word(word, c, port), c->port[port].device);
    if (n->refused >> port & 1 || rte_eth_dev_info_get(device, &info) != 0) {
        printf(" refused\n");
        return;
    }
    printf(" %-14s %5u %4d  %-11s %-8s %-7s %s\n", info.driver_name, lcore, n->numa[port], device_promiscuous(device),
           device_pause(device), atomic_load(&n->carrier) >> port & 1 ? "yes" : "no", device_speed(device, speed));
}

int trial_run(struct node *n)
{
    const struct node_config *c = n->config;
    wait_for_carriers(n);
    printf("%s of a %s: %" PRIu32 " packet buffers, %" PRIu32 " blocks a VC\n", c->name, c->spec.fabric,
           n->buffers.frames, n->buffers.blocks);
    printf("  %-6s %-24s %-14s %5s %4s  %-11s %-8s %-7s %s\n", "port", "device", "driver", "lcore", "NUMA",
           "promiscuous", "pause", "carrier", "speed");
    for (unsigned port = 0; port < c->ports; port++)
        if (c->port[port].device[0])
            print_port(n, port);
    if (n->refused) {
        printf("refused: %d of %d devices\n", __builtin_popcountll(n->refused), (int)node_ports_used(c));
        return HX_EXIT_ENVIRONMENT;
    }
    const int waiting = __builtin_popcountll(n->unstarted);
    printf("all devices carry frames of an MTU of %u", (unsigned)c->values.mtu);
    printf(waiting ? "; %d wait for their other side\n" : "\n", waiting);
    return HX_EXIT_DONE;
}
