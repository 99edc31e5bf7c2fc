/* notices.c - notices of dead links over a cable (notices.h). */
#include "notices.h"
#include "hxmesh/error.h"

void cable_notices_say(struct hx_notices *n, struct cable_links *l, uint32_t node, uint64_t up, uint64_t now)
{
    l->were_up |= now < l->grace_end ? up : l->all;
    (void)hx_notices_say(n, node, l->all & l->were_up & ~up, now);
}

/* Before it has the peer's counts, an end does not know whether the peer has the session. */
static bool has_begun(const struct cable_end *c, const struct hx_notices *n, unsigned port)
{
    return n->open >> port & 1 && c->link.heard && c->noticed_session == c->link.sessions;
}

void cable_notices_follow(struct cable_end *c, struct hx_notices *n, unsigned port, uint64_t now)
{
    if (has_begun(c, n, port))
        return;
    if (n->open >> port & 1)
        hx_notices_close(n, port);
    if (!c->link.heard)
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
    if (!has_begun(c, n, port) || !hx_notices_are_due(n, port, now))
        return 0;
    hx_notices_next(n, port, &f, now);
    return cable_notice_write(c, frame, &f);
}
