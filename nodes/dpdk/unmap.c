/* unmap.c - munmap() that waits for cores (unmap.h). */
#include "unmap.h"

#include <rte_interrupts.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct rte_rcu_qsbr *_Atomic loops; /* of the cores; a process has one munmap() */

bool unmap_open(unsigned cores)
{
    struct rte_rcu_qsbr *v = rte_zmalloc("unmap", rte_rcu_qsbr_get_memsize(cores), RTE_CACHE_LINE_SIZE);
    if (!v || rte_rcu_qsbr_init(v, cores) != 0)
        return false;
    for (unsigned core = 0; core < cores; core++)
        (void)rte_rcu_qsbr_thread_register(v, core);
    atomic_store(&loops, v);
    return true;
}

/* Cores start after it is set. */
static struct rte_rcu_qsbr *of_core(void)
{
    return atomic_load_explicit(&loops, memory_order_relaxed);
}

void unmap_begin(unsigned core)
{
    rte_rcu_qsbr_thread_online(of_core(), core);
}

void unmap_end(unsigned core)
{
    rte_rcu_qsbr_thread_offline(of_core(), core);
}

void unmap_between_loops(unsigned core)
{
    rte_rcu_qsbr_quiescent(of_core(), core);
}

int munmap(void *addr, size_t len)
{
    struct rte_rcu_qsbr *v = atomic_load(&loops);
    if (v && rte_thread_is_intr())
        rte_rcu_qsbr_synchronize(v, RTE_QSBR_THRID_INVALID);
    return (int)syscall(SYS_munmap, addr, len);
}
