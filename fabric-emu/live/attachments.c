/* attachments.c - makes and removes what programs attach to (attachments.h). */
#include "attachments.h"
#include "descriptors.h"
#include "host/error.h"
#include "host/name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The magic last: who finds the object meanwhile sees that it is not ready. */
static void describe(const struct attachment *at, const struct hx_fabric *g, uint32_t host)
{
    at->head->version = ATTACHMENT_VERSION;
    at->head->host = host;
    at->head->hosts = g->hosts;
    for (uint32_t other = 0; other < g->hosts; other++) {
        struct hx_coordinate address = hx_address_of(g, other);
        at->address[other][0] = (uint16_t)address.d0;
        at->address[other][1] = (uint16_t)address.d1;
    }
    atomic_thread_fence(memory_order_release);
    at->head->magic = ATTACHMENT_MAGIC;
}

/* Returns 0 or a negative errno value. */
static int make(struct attachments *all, const struct fab_fabric *f, uint32_t host)
{
    struct attachment *at = &all->programs.at[host];
    struct hx_coordinate address = hx_address_of(f->g, host);
    char name[sizeof all->arena->name];
    if (snprintf(name, sizeof name, "%s.%u.a%u,%u", shm_arena_name(&f->arena), host, address.d0, address.d1) >=
        (int)sizeof name)
        return -ENAMETOOLONG;
    attachment_lay_out(at, f->g->hosts, NULL);
    int error = shm_arena_create_sparse(&all->arena[host], name, at->bytes);
    if (error)
        return error;
    attachment_lay_out(at, f->g->hosts, all->arena[host].base);
    at->fd = all->arena[host].fd;
    describe(at, f->g, host);
    return 0;
}

bool attachments_open(struct attachments *all, const struct fab_fabric *f, struct hx_problem *problem)
{
    descriptors_allow();
    *all = (struct attachments){.programs = {.g = f->g, .at = hx_allocate(f->g->hosts, sizeof *all->programs.at)},
                                .arena = hx_allocate(f->g->hosts, sizeof *all->arena)};
    for (uint32_t host = 0; host < f->g->hosts; host++) {
        int error = f->layout.dead[host] ? 0 : make(all, f, host);
        if (!error)
            continue;
        attachments_close(all);
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, "/dev/shm",
                       "cannot create what programs attach to host %u by: %s%s", host, strerror(-error),
                       descriptors_advice(-error));
    }
    return true;
}

void attachments_close(struct attachments *all)
{
    for (uint32_t host = 0; all->arena && host < all->programs.g->hosts; host++) {
        const struct attachment *at = &all->programs.at[host];
        if (!all->arena[host].base)
            continue;
        atomic_store(&at->head->ended, 1);
        attachment_ring(at);
        shm_arena_close(&all->arena[host], true);
    }
    free(all->arena);
    free(all->programs.at);
    *all = (struct attachments){.arena = NULL};
}
