/* messages.h - traffic of an image's endpoint: the configured number of messages, to the configured ranks in turn.
 *
 * Every other accelerator computes and checks the same payload (workload/payload.h). */
#ifndef BARE_NODE_MESSAGES_H
#define BARE_NODE_MESSAGES_H

#include "node.h"

struct messages {
    const struct config *config;
    struct node *node;
    bool may_begin;
    uint64_t begun;
    uint64_t began_at; /* ns: start of the first message */
    uint64_t bytes_corrupted;
};

void messages_init(struct messages *m, const struct config *config, struct node *node);

/* Callbacks of the endpoint. */
struct hal_user messages_user(struct messages *m);

/* Starts the messages that are due; the first one when all cables are up. Returns how many. */
unsigned messages_begin(struct messages *m, uint64_t now);

#endif
