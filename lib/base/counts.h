/* counts.h - counters by name: drop reasons, and causes of stalls. */
#ifndef HXMESH_BASE_COUNTS_H
#define HXMESH_BASE_COUNTS_H

#include "hxmesh/switch.h"

/* Names of enum hx_drop in reports; ends with NULL. */
extern const char *const hx_drop_names[HX_DROP_COUNT + 1];

/* The same of enum hx_stall. */
extern const char *const hx_stall_names[HX_STALL_COUNT + 1];

/* Prints a line of a text report: the counts that are not 0, or "none". `names` ends with NULL. */
void hx_print_counts(const char *title, const char *const *names, const uint64_t *counts);

#endif
