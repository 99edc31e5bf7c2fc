/* publish.h - publishes a worker's counters for readers outside (topology/metrics.h), periodically and at the end. */
#ifndef PUBLISH_H
#define PUBLISH_H

#include "node.h"

void publish(struct worker *w);
/* Publishes if it is time; cheap enough for each sweep. */
void publish_if_due(struct worker *w);

#endif
