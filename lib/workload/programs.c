/* programs.c - writes the constants in the attachments of hosts (programs.h). */
#include "workload/programs.h"

void programs_describe(const struct programs *programs, uint32_t host)
{
    const struct attachment *at = &programs->at[host];
    at->head->magic = ATTACHMENT_MAGIC;
    at->head->version = ATTACHMENT_VERSION;
    at->head->host = host;
    at->head->hosts = programs->g->hosts;
    atomic_store(&at->head->ended, 0);
    for (uint32_t other = 0; other < programs->g->hosts; other++) {
        struct hx_coordinate address = hx_coordinate_of(programs->g, other);
        at->address[other][0] = (uint16_t)address.addr_hi;
        at->address[other][1] = (uint16_t)address.addr_lo;
    }
}
