/* host_names.h - names of hosts for programs that run on them (`hxmesh up`).
 *
 * Host 5 with address (1, 2) is a1,2. Name resolvers may refuse a comma, so it is also a1-2, its own name, and h5. */
#ifndef HOST_NAMES_H
#define HOST_NAMES_H

#include "base/error.h"
#include "topology/name.h"

#include <stdio.h>

/* "a1,2". */
const char *host_place(char name[HX_NAME_BYTES], const struct hx_fabric *g, uint32_t host);

/* "a1-2". */
const char *host_own_name(char name[HX_NAME_BYTES], const struct hx_fabric *g, uint32_t host);

/* Parses any of its names, or 1,2. Returns false: unknown host. */
bool host_parse(const char *name, const struct hx_fabric *g, uint32_t *host, struct hx_problem *problem);

/* Writes lines of /etc/hosts for this machine and all hosts in `runs`. Returns false: write error. */
bool host_names_write(FILE *out, const struct hx_fabric *g, const bool *runs);

#endif
