/* starts.h - numbers that tell this start of a node from those before: of links' sessions, and of the endpoint. */
#ifndef DPDK_NODE_STARTS_H
#define DPDK_NODE_STARTS_H

#include <stdint.h>

struct starts {
    uint32_t session; /* of this start's first links (hxmesh/credit.h); the node may count on from it */
    uint8_t epoch;    /* of the endpoint (hxmesh/endpoint.h) */
};

/* `file` counts starts; "": there is none, and the clock has to do. Then an endpoint that is away for longer than two
 * minutes may be taken for an older one of itself, for its epoch has but 8 bits. Dies if the file cannot be kept. */
struct starts starts_next(const char *file);

#endif
