/* partners.h - the patterns in which everyone has one partner for good; traffic.c alone asks. */
#ifndef TRAFFIC_PARTNERS_H
#define TRAFFIC_PARTNERS_H

#include "workload/traffic.h"

bool traffic_has_partners(unsigned pattern);

/* Chooses t->partner, once the jobs are known. */
void traffic_choose_partners(struct traffic *t);

#endif
