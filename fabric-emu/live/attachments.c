/* attachments.c - makes and removes attachments of hosts (attachments.h). */
#include "attachments.h"
#include "base/error.h"
#include "descriptors.h"

#include <stdlib.h>
#include <string.h>

static bool make_all(struct programs *programs, const struct fab_fabric *f, struct hx_problem *problem)
{
    for (uint32_t host = 0; host < f->g->hosts; host++) {
        struct attachment *at = &programs->at[host];
        int error = f->layout.dead[host] ? 0 : attachment_make(at, f->g->hosts);
        if (error)
            return hx_fail(problem, HX_EXIT_ENVIRONMENT, f->spec.source,
                           "what programs attach to host %u by cannot be made: %s%s", host, strerror(-error),
                           descriptors_advice(-error));
        if (at->head)
            programs_describe(programs, host);
    }
    return true;
}

bool attachments_open(struct attachments *all, const struct fab_fabric *f, struct hx_problem *problem)
{
    descriptors_allow();
    *all = (struct attachments){.programs = {.g = f->g, .at = hx_allocate(f->g->hosts, sizeof *all->programs.at)},
                                .attach_server.attach_socket = -1};
    if (make_all(&all->programs, f, problem) &&
        attach_server_open(&all->attach_server, shm_arena_name(&f->arena), problem))
        return true;
    attachments_close(all);
    return false;
}

void attachments_close(struct attachments *all)
{
    attach_server_close(&all->attach_server);
    for (uint32_t host = 0; all->programs.at && host < all->programs.g->hosts; host++) {
        struct attachment *at = &all->programs.at[host];
        if (!at->head)
            continue;
        atomic_store(&at->head->ended, 1);
        attachment_ring(at);
        attachment_close(at);
    }
    free(all->programs.at);
    *all = (struct attachments){.attach_server.attach_socket = -1};
}
