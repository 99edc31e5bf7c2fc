/* partners.h - patterns with one fixed partner for each host; only traffic.c uses it. */
#ifndef TRAFFIC_PARTNERS_H
#define TRAFFIC_PARTNERS_H

#include "workload/traffic.h"

bool traffic_has_partners(unsigned pattern);

/* Chooses t->partner. Call when the jobs are known. */
void traffic_choose_partners(struct traffic *t);

#endif
