/* link_bytes.c - bytes on a few links of a large fabric (link_bytes.h). */
#include "workload/link_bytes.h"
#include "base/error.h"

void link_bytes_open(struct link_bytes *b, uint32_t ports)
{
    *b = (struct link_bytes){.bytes = hx_allocate(ports, sizeof *b->bytes),
                             .port = hx_allocate(ports, sizeof *b->port),
                             .listed = hx_allocate(ports, sizeof *b->listed)};
}

void link_bytes_close(struct link_bytes *b)
{
    HX_FREE(b->bytes, b->port, b->listed);
}

void link_bytes_clear(struct link_bytes *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        b->bytes[b->port[i]] = 0;
        b->listed[b->port[i]] = false;
    }
    b->count = 0;
}

void link_bytes_list(struct link_bytes *b, uint32_t port)
{
    if (b->listed[port])
        return;
    b->listed[port] = true;
    b->port[b->count++] = port;
}

void link_bytes_add(struct link_bytes *b, const struct link_bytes *others, double times)
{
    for (uint32_t i = 0; i < others->count; i++)
        link_bytes_list(b, others->port[i]);
    link_bytes_add_to(b->bytes, others, times);
}

void link_bytes_add_to(double *bytes, const struct link_bytes *others, double times)
{
    for (uint32_t i = 0; i < others->count; i++)
        bytes[others->port[i]] += times * others->bytes[others->port[i]];
}

double link_bytes_fullest(const struct link_bytes *b, const double *slowness)
{
    double most = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        const double seconds = b->bytes[b->port[i]] * slowness[b->port[i]];
        most = seconds > most ? seconds : most;
    }
    return most;
}
