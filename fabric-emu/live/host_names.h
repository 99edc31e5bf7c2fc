/* host_names.h - how programs call hosts, where programs run on them (`hxmesh up`).
 *
 * Host 5 with address (1, 2) is a1,2 as everywhere. What resolves names may refuse a comma, so it is a1-2 and h5 as
 * well; a1-2 is the name that it gives itself. */
#ifndef HOST_NAMES_H
#define HOST_NAMES_H

#include "base/error.h"
#include "topology/name.h"

#include <stdio.h>

/* "a1,2". */
const char *host_place(char name[HX_NAME_BYTES], const struct hx_fabric *g, uint32_t host);

/* "a1-2". */
const char *host_own_name(char name[HX_NAME_BYTES], const struct hx_fabric *g, uint32_t host);

/* Any of its names, and 1,2. false: there is no such host. */
bool host_parse(const char *name, const struct hx_fabric *g, uint32_t *host, struct hx_problem *problem);

/* Lines of /etc/hosts for this machine itself and all hosts that `runs` has; returns false if they cannot be
 * written. */
bool host_names_write(FILE *out, const struct hx_fabric *g, const bool *runs);

#endif
