/* renotify.h - when to notify workers again of changed link conditions.
 *
 * Workers follow one after another. An endpoint may ask for a path when its own worker knows of a restored link and the
 * next one does not, get "unreachable", and wait for another change. So all are notified again once all have followed.
 * A stopped worker follows late: they are also notified after a while, after twice that, and so on. */
#ifndef RENOTIFY_H
#define RENOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#define RENOTIFY_FIRST_NS UINT64_C(50000000)

struct renotify {
    uint64_t at_ns;   /* deadline of the next notification; 0: none is due */
    uint64_t wait_ns; /* interval since the last one; not 0 while at_ns is set */
};

/* Call it after a first notification. */
static inline void renotify_begin(struct renotify *r, uint64_t now_ns)
{
    *r = (struct renotify){.at_ns = now_ns + RENOTIFY_FIRST_NS, .wait_ns = RENOTIFY_FIRST_NS};
}

/* Returns whether to notify now. all_follow: all workers have followed the last one. */
static inline bool renotify_is_due(struct renotify *r, uint64_t now_ns, bool all_follow)
{
    if (!r->at_ns || (!all_follow && now_ns < r->at_ns))
        return false;
    r->wait_ns *= 2;
    r->at_ns = all_follow ? 0 : now_ns + r->wait_ns;
    return true;
}

#endif
