/* link_times.h - when both ends of a link know that it is shut or open again, under the virtual clock (faults.h). */
#ifndef LINK_TIMES_H
#define LINK_TIMES_H

#include "base/link_fault.h"

/* A link is shut, or open again. */
struct link_time {
    uint64_t ns;
    bool shut;
};

/* Times that ascend and alternate; the first one shuts the link. */
struct link_times {
    struct link_time *of; /* NULL: none; for free() */
    size_t count;
};

/* Times at which the ends detect that a link died or lives again, after `detect_ns` without a break. They do not notice
 * shorter changes. */
struct link_times link_times_detected(const struct hx_link_change *change, size_t changes, uint64_t detect_ns);
/* Times at which the plan closes and opens a link. */
struct link_times link_times_planned(const struct hx_link_change *change, size_t changes);
/* Times of a port that is shut while either shuts it. */
struct link_times link_times_of_either(const struct link_times *a, const struct link_times *b);

/* Whether the link is shut at a time. */
bool link_times_shut(const struct link_times *times, uint64_t ns);

#endif
