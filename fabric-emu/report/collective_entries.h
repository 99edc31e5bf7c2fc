/* collective_entries.h - the collectives of a rank among its entries that were kept, by group.
 *
 * Made once, in time proportional to the entries; a search takes the logarithm of the collectives. */
#ifndef COLLECTIVE_ENTRIES_H
#define COLLECTIVE_ENTRIES_H

#include "fabric-emu/report/entries.h"

#define COLLECTIVE_ENTRIES_NONE UINT64_MAX

struct collective_entries {
    const struct schedule_job *job;
    uint32_t rank;
    uint64_t *from;   /* [groups of the rank + 2]: index in `number`; NULL: not opened */
    uint64_t *number; /* of entries, ascending in each group */
};

void collective_entries_open(struct collective_entries *c, const struct schedule_job *job, uint32_t rank);
/* One that is zero is allowed. */
void collective_entries_close(struct collective_entries *c);

/* Number of the entry at the rank of `c` for the collective that has entry `number` at the rank of `of`. All members
 * end as many collectives of a group, so they are counted from the last. COLLECTIVE_ENTRIES_NONE: it was not kept. */
uint64_t collective_entries_same(const struct collective_entries *c, const struct collective_entries *of,
                                 uint32_t group, uint64_t number);

#endif
