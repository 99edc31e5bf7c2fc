/* shares_read.h - reads the shares of an all-to-all (schedule/shares.h) as --shares has them.
 *
 *     4,1,1,1    what each member sends to the members, in their order
 *     FILE       such a line for each member; one line is that of all. A line of one weight is that for all others */
#ifndef WORKLOAD_SHARES_READ_H
#define WORKLOAD_SHARES_READ_H

#include "base/error.h"

#include <stdint.h>

/* Returns weights of members x members, for free(). Returns NULL and sets *problem. */
uint32_t *shares_read(const char *how, uint32_t members, struct hx_problem *problem);

#endif
