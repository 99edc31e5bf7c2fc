/* fetch.h - asks for the memory that an entity is going to touch while those before it in the window run.
 *
 * The state of a large fabric does not fit into a cache, and what an endpoint keeps of its peers lies far apart: without
 * this more than a third of the time would go into waiting for it. Fetching changes nothing but speed. */
#ifndef VIRTUAL_FETCH_H
#define VIRTUAL_FETCH_H

#include "entity.h"

/* Three visits before the entity's own: itself. */
void virtual_fetch_first(const struct virtual_entity *e);
/* Two visits before: its ports. `end`: of the window. */
void virtual_fetch_second(const struct virtual_entity *e, uint64_t end);
/* One visit before: packets and credits that come by its ports, and what the endpoint needs for its peers. */
void virtual_fetch_third(const struct virtual_entity *e, uint64_t end);

#endif
