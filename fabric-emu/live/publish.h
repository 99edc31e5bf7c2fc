/* publish.h - a worker's counters for readers outside (topology/metrics.h), now and then and at the end. */
#ifndef PUBLISH_H
#define PUBLISH_H

#include "node.h"

void publish(struct worker *w);
/* Cheap to call in every sweep. */
void publish_if_due(struct worker *w);

#endif
