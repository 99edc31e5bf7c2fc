/* messages.h - the traffic of an image's endpoint: as many messages as it was told, to those it was told in turn, with
 * payload that every other accelerator of the fabric computes and checks likewise (workload/payload.h). */
#ifndef BARE_NODE_MESSAGES_H
#define BARE_NODE_MESSAGES_H

#include "node.h"

struct messages {
    const struct config *config;
    struct node *node;
    bool may_begin;
    uint64_t begun;
    uint64_t began_at; /* when the first one did */
    uint64_t bytes_corrupted;
};

void messages_init(struct messages *m, const struct config *config, struct node *node);

/* What the endpoint is to be built with. */
struct hal_user messages_user(struct messages *m);

/* Begins what may begin now; the first one when all cables are up. Returns how many. */
unsigned messages_begin(struct messages *m, uint64_t now);

#endif
