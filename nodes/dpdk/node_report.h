/* node_report.h - results of a node, as text or JSON. */
#ifndef DPDK_NODE_REPORT_H
#define DPDK_NODE_REPORT_H

#include "control.h"

#include <jansson.h>

/* True if the built-in endpoint found no error and, unless a signal ended the run, sent all messages. */
bool report_is_good(const struct control *c);

void report_print(const struct control *c);
/* Returns a new reference. */
json_t *report_json(const struct control *c);

#endif
