/* device_watch.c - removal and return of devices (device_watch.h). */
#define ALLOW_EXPERIMENTAL_API /* events of a bus, in DPDK 22.11 */
#include "device_watch.h"
#include "base/error.h"

#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int leave(uint16_t device, enum rte_eth_event_type type, void *watch, void *data)
{
    struct device_watch *w = watch;
    (void)device;
    (void)type;
    (void)data;
    atomic_store(&w->gone, true);
    return 0;
}

static void leave_bus(const char *parent, enum rte_dev_event_type type, void *watch)
{
    struct device_watch *w = watch;
    if (type == RTE_DEV_EVENT_REMOVE && strcmp(parent, w->parent) == 0)
        atomic_store(&w->gone, true);
}

/* A bus without events is served by the driver's own. */
void device_watch_open(void)
{
    (void)rte_dev_event_monitor_start();
    (void)rte_dev_hotplug_handle_enable();
}

static char *arguments_of(const struct rte_device *parent)
{
    const struct rte_devargs *d = rte_dev_devargs(parent);
    const char *more = d && d->args ? d->args : "";
    const size_t bytes = strlen(rte_dev_name(parent)) + strlen(more) + 2;
    char *text = hx_allocate(bytes, 1);
    (void)snprintf(text, bytes, "%s%s%s", rte_dev_name(parent), more[0] ? "," : "", more);
    return text;
}

void device_watch_begin(struct device_watch *w, uint16_t device)
{
    struct rte_eth_dev_info info;
    device_watch_free(w);
    if (rte_eth_dev_info_get(device, &info) != 0 || !info.device)
        return;
    w->arguments = arguments_of(info.device);
    (void)snprintf(w->parent, sizeof w->parent, "%s", rte_dev_name(info.device));
    atomic_store(&w->gone, false);
    (void)rte_eth_dev_callback_register(device, RTE_ETH_EVENT_INTR_RMV, leave, w);
    (void)rte_dev_event_callback_register(w->parent, leave_bus, w);
}

void device_watch_free(struct device_watch *w)
{
    if (w->arguments)
        (void)rte_dev_event_callback_unregister(w->parent, leave_bus, w);
    free(w->arguments);
    w->arguments = NULL;
}
