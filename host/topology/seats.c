/* seats.c - where the hosts of a fabric sit (host/topology/seats.h). */
#include "host/topology/seats.h"

#include <stdlib.h>

uint32_t hx_fabric_seat(const struct hx_fabric *f, uint32_t host)
{
    unsigned links = 0;
    uint32_t far = HX_NOWHERE;
    for (unsigned port = 0; port < HX_LOCAL; port++) {
        uint32_t next = hx_fabric_far(f, host, port).node;
        links += next != HX_NOWHERE;
        far = next != HX_NOWHERE ? next : far;
    }
    return links == 1 && !hx_is_host(f, far) ? far : host;
}

void hx_seats_take(struct hx_seats *s, const struct hx_fabric *f)
{
    uint32_t *number = hx_allocate(f->nodes, sizeof *number); /* + 1; 0: none yet */
    *s = (struct hx_seats){.node = hx_allocate(f->hosts, sizeof *s->node),
                           .host = hx_allocate(f->hosts, sizeof *s->host),
                           .weight = hx_allocate(f->hosts, sizeof *s->weight)};
    for (uint32_t host = 0; host < f->hosts; host++) {
        uint32_t seat = hx_fabric_seat(f, host);
        if (f->failed && f->failed[host])
            continue;
        s->living++;
        if (number[seat] == 0) {
            s->node[s->count] = seat;
            s->host[s->count] = host;
            number[seat] = ++s->count;
        }
        s->weight[number[seat] - 1]++;
    }
    free(number);
}

void hx_seats_free(struct hx_seats *s)
{
    free(s->node);
    free(s->host);
    free(s->weight);
}
