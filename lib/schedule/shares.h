/* shares.h - an all-to-all with bytes for each pair.
 *
 * A table of shares has n x n weights; that of member i to member j is weight[i * n + j]. A pair has its weight's share
 * of the bytes of all members, rounded down to elements. Equal weights are an all-to-all of equal segments. */
#ifndef SCHEDULE_SHARES_H
#define SCHEDULE_SHARES_H

#include "hxmesh/collective.h"

enum { SHARES_MOST = 1024 /* members */ };

/* Whether a table can be of `members` members: 1 .. SHARES_MOST, and not all weights 0. */
bool shares_are_good(const uint32_t *weight, uint32_t members);
/* Whether each member sends to each. */
bool shares_reach_all(const uint32_t *weight, uint32_t members);
/* What members send to others, as a share of all. */
double shares_of_others(const uint32_t *weight, uint32_t members);

/* Gives an all-to-all of config->size members a size for each pair, and moves it to position 0. config->bytes: the
 * vector that a member has on average; afterwards the longest one. weight: by position. The sizes at all positions are
 * one array, from config->outgoing on: shares_free() frees it. */
void shares_set(struct hx_collective_config *config, const uint32_t *weight);
void shares_free(const struct hx_collective_config *config);

/* What the members of an all-to-all exchange, bytes. */
struct shares_bytes {
    double mean;    /* of the vector that a member has, on average */
    double sent;    /* to other members, of a member on average */
    double fullest; /* most that one member sends to others, or receives from others */
    double longest; /* most that one member has before or after, with what it keeps */
};
struct shares_bytes shares_bytes_of(const struct hx_collective_config *config);

/* Whether a collective can be carried out (hx_collective_check()), with sizes of shares_set() at each position. */
bool shares_are_possible(const struct hx_collective_config *config);

/* Moves a configuration to a position; of an all-to-all with sizes of shares_set() also the sizes. */
void shares_move(struct hx_collective_config *config, uint32_t position);

#endif
