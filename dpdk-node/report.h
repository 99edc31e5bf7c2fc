/* report.h - what a node has done, for a person or as JSON. */
#ifndef DPDK_NODE_REPORT_H
#define DPDK_NODE_REPORT_H

#include "control.h"

#include <jansson.h>

/* Nothing that the built-in endpoint judged was wrong, and it did all it had to, unless a signal ended it. */
bool report_is_good(const struct control *c);

void report_print(const struct control *c);
/* A new reference. */
json_t *report_json(const struct control *c);

#endif
