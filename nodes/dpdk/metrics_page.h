/* metrics_page.h - a node's counts in Prometheus' text format (version 0.0.4). */
#ifndef DPDK_NODE_METRICS_PAGE_H
#define DPDK_NODE_METRICS_PAGE_H

#include "node.h"

#include <stdio.h>

/* Writes the page. Any thread may call it while the node runs. */
void metrics_page_write(const struct node *n, FILE *out);

#endif
