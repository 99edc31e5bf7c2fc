/* unmap.h - memory of a memif stays mapped while a core may read it.
 *
 * When the other side of a memif leaves, EAL's interrupt thread marks the device as closed and unmaps its memory,
 * while cores poll it (DPDK 22.11). A core that is within a burst at that moment would end the process. So munmap() is
 * defined here: in the interrupt thread it waits until each core has begun another loop, which finds the device closed
 * (read-copy-update, rte_rcu_qsbr.h).
 *
 * One node a process. A core calls these functions for itself, from its own thread. */
#ifndef NODE_UNMAP_H
#define NODE_UNMAP_H

#include <stdbool.h>

/* Before cores run. Returns false if there is no memory for so many cores. Its memory is kept until the process ends,
 * as the interrupt thread may use it until then. */
bool unmap_open(unsigned cores);

/* munmap() waits for core `core`, 0 .. cores - 1, between these two: not before it runs, nor while it sleeps. */
void unmap_begin(unsigned core);
void unmap_end(unsigned core);

/* Between two loops: the core reads no device now. */
void unmap_between_loops(unsigned core);

#endif
