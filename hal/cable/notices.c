/* notices.c - notices of dead links over a cable (notices.h). */
#include "notices.h"
#include "hxmesh/error.h"

/* Before it has the peer's counts, an end does not know whether the peer has the session. */
void cable_notices_follow(struct cable_end *c, struct hx_notices *n, unsigned port, uint64_t now)
{
    const bool begun = n->open >> port & 1;
    if (begun && (!c->link.heard || c->noticed_session != c->link.sessions))
        hx_notices_close(n, port);
    if (!c->link.heard || (begun && c->noticed_session == c->link.sessions))
        return;
    c->noticed_session = c->link.sessions;
    hx_notices_open(n, port, now);
}

void cable_notices_take(struct hx_notices *n, unsigned port, const uint8_t *frame, size_t bytes, uint64_t now)
{
    struct hx_notice_frame f;
    if (hx_notice_decode(&f, frame, bytes) == HX_OK)
        hx_notices_take(n, port, &f, now);
}

unsigned cable_notices_write(struct cable_end *c, struct hx_notices *n, unsigned port, uint64_t now,
                             uint8_t frame[CABLE_NOTICE_BYTES])
{
    struct hx_notice_frame f;
    if (!(n->open >> port & 1) || !hx_notices_are_due(n, port, now))
        return 0;
    hx_notices_next(n, port, &f, now);
    return cable_notice_write(c, frame, &f);
}
