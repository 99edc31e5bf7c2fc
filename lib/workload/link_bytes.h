/* link_bytes.h - bytes on a few links of a large fabric: work with them takes the time of the links that have some. */
#ifndef LINK_BYTES_H
#define LINK_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/* Invariant: a port is in `port` once if it is listed; bytes[] of all others is 0. */
struct link_bytes {
    double *bytes;  /* [ports] */
    uint32_t *port; /* [ports]: listed ones */
    uint32_t count;
    bool *listed; /* [ports] */
};

void link_bytes_open(struct link_bytes *b, uint32_t ports);
void link_bytes_close(struct link_bytes *b);
void link_bytes_clear(struct link_bytes *b);

/* Lists a port, before bytes are added to it. */
void link_bytes_list(struct link_bytes *b, uint32_t port);

/* Adds `times` times what others have; times may be below zero. */
void link_bytes_add(struct link_bytes *b, const struct link_bytes *others, double times);

/* The same to bytes[ports]. */
void link_bytes_add_to(double *bytes, const struct link_bytes *others, double times);

/* Seconds of the fullest link. slowness: [ports], seconds a byte. */
double link_bytes_fullest(const struct link_bytes *b, const double *slowness);

#endif
