/* renotify.h - when workers are told once more that conditions of links have changed.
 *
 * They follow one after the other: an endpoint that asks for a way as soon as its own worker knows of a link that is
 * back may be told that there is none by one that does not know yet, and would wait for the next change. So all are
 * told once more when all have followed; and, as one that is stopped follows no earlier than it goes on, also a while
 * after the change, and after twice that, and so on: who follows at all has done so by then. */
#ifndef RENOTIFY_H
#define RENOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#define RENOTIFY_FIRST_NS UINT64_C(50000000)

struct renotify {
    uint64_t at_ns;   /* when to tell at the latest; 0: nothing is left to tell */
    uint64_t wait_ns; /* how long that was after they were told last; not 0 where at_ns is not */
};

/* Something has changed, and they were told. */
static inline void renotify_begin(struct renotify *r, uint64_t now_ns)
{
    *r = (struct renotify){.at_ns = now_ns + RENOTIFY_FIRST_NS, .wait_ns = RENOTIFY_FIRST_NS};
}

/* Whether to tell now. all_follow: everybody follows what was told last. */
static inline bool renotify_is_due(struct renotify *r, uint64_t now_ns, bool all_follow)
{
    if (!r->at_ns || (!all_follow && now_ns < r->at_ns))
        return false;
    r->wait_ns *= 2;
    r->at_ns = all_follow ? 0 : now_ns + r->wait_ns;
    return true;
}

#endif
