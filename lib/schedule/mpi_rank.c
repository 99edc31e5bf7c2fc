/* mpi_rank.c - makes a rank's operations from its calls (mpi_rank.h). */
#include "schedule/mpi_rank.h"

#include <stdlib.h>

void mpi_rank_free(struct mpi_rank *r)
{
    HX_FREE(r->ended, r->request);
}

void mpi_rank_compute(struct mpi_rank *r)
{
    const uint64_t most = SCHEDULE_MOST_TIME / 1000;
    while (r->computing) {
        uint64_t ns = r->computing < most ? r->computing : most;
        r->computing -= ns;
        uint32_t number = schedule_compute(r->b, r->rank, ns * 1000, 0);
        mpi_rank_order(r, number, true);
    }
}

void mpi_rank_order(struct mpi_rank *r, uint32_t number, bool blocks)
{
    if (r->has_last && r->last_start)
        schedule_after_start(r->b, r->rank, number, r->last);
    else if (r->has_last)
        schedule_after(r->b, r->rank, number, r->last);
    for (size_t i = 0; i < r->ended_count; i++)
        schedule_after(r->b, r->rank, number, r->ended[i]);
    r->ended_count = 0;
    r->has_last = true;
    r->last = number;
    r->last_start = !blocks;
}

void mpi_rank_wait(struct mpi_rank *r, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        r->ended = hx_grow(r->ended, r->ended_count, &r->ended_room, sizeof *r->ended);
        r->ended[r->ended_count++] = first + i;
    }
}

struct mpi_request *mpi_rank_request(struct mpi_rank *r, uint32_t number)
{
    while (number >= r->requests) {
        size_t used = r->requests;
        r->request = hx_grow(r->request, used, &r->requests, sizeof *r->request);
        for (size_t i = used; i < r->requests; i++)
            r->request[i] = (struct mpi_request){.is_begun = false};
    }
    return &r->request[number];
}

void mpi_rank_leave_out(struct mpi_rank *r, const struct mpi_request *request)
{
    struct schedule_operation *o = schedule_builder_at(r->b, r->rank, request->first);
    *o = (struct schedule_operation){.kind = SCHEDULE_COMPUTE};
}

uint32_t mpi_rank_end(struct mpi_rank *r)
{
    uint32_t count = 0;
    for (size_t i = 0; i < r->requests; i++) {
        if (r->request[i].is_begun && r->request[i].is_receive) {
            mpi_rank_leave_out(r, &r->request[i]);
            count++;
        }
    }
    return count;
}
