/* device_counts.c - counts of ethdevs (device_counts.h). */
#include "device_counts.h"
#include "base/error.h"

#include <rte_ethdev.h>
#include <stdlib.h>

void device_counts_add(struct device_counts *sum, uint16_t device)
{
    struct rte_eth_stats stats;
    if (!rte_eth_dev_is_valid_port(device) || rte_eth_stats_get(device, &stats) != 0)
        return;
#define ADD(name, of) sum->name += stats.of;
    DEVICE_COUNTS(ADD)
#undef ADD
}

uint64_t device_counts_lost(const struct device_counts *c)
{
    return c->device_missed + c->device_rx_errors + c->device_no_buffer + c->device_tx_errors;
}

void device_counts_extended(uint16_t device, void (*visit)(void *of, const char *name, uint64_t value), void *of)
{
    const int room = rte_eth_dev_is_valid_port(device) ? rte_eth_xstats_get(device, NULL, 0) : 0;
    if (room <= 0)
        return;
    struct rte_eth_xstat *value = hx_allocate((size_t)room, sizeof *value);
    struct rte_eth_xstat_name *name = hx_allocate((size_t)room, sizeof *name);
    const int names = rte_eth_xstats_get_names(device, name, (unsigned)room);
    const int values = names == room ? rte_eth_xstats_get(device, value, (unsigned)room) : 0;
    for (int i = 0; i < values && values <= room; i++)
        if (value[i].value && value[i].id < (uint64_t)room)
            visit(of, name[value[i].id].name, value[i].value);
    HX_FREE(value, name);
}
