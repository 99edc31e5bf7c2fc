/* came.c - what came by a cable (came.h). */
#include "came.h"

#include <inttypes.h>
#include <stdio.h>

void came_note(struct fab_came *came, const uint8_t *frame, uint32_t bytes, bool unsealed)
{
    unsigned type = hx_frame_ethertype(frame, bytes);
    unsigned plane_at = type == HX_ETHERTYPE_DATA ? HX_AT_PLANE : HX_AT_CONTROL_PLANE;
    came->frames++;
    came->bytes = bytes;
    came->unsealed = unsealed;
    came->ethertype = (uint16_t)type;
    came->version = bytes > HX_AT_VERSION ? frame[HX_AT_VERSION] : 0;
    came->plane = bytes > plane_at ? frame[plane_at] : 0;
}

static const char *foreign_text(char text[CAME_TEXT], const struct fab_came *came, unsigned plane)
{
    int used = snprintf(text, CAME_TEXT, "%" PRIu64 " frames came, the last one ", came->frames);
    char *rest = text + used;
    size_t room = CAME_TEXT - (size_t)used;
    if (came->ethertype != HX_ETHERTYPE_DATA && came->ethertype != HX_ETHERTYPE_CONTROL)
        (void)snprintf(rest, room, "of EtherType 0x%04x, not ours", came->ethertype);
    else if (came->version != HX_WIRE_VERSION)
        (void)snprintf(rest, room, "of version %u of the wire format, this is version %u", came->version,
                       (unsigned)HX_WIRE_VERSION);
    else if (came->plane != plane)
        (void)snprintf(rest, room, "of plane %u, this is plane %u", came->plane, plane);
    else if (came->unsealed)
        (void)snprintf(rest, room, "without a seal by this cable's key (external[].key, --key-file)");
    else
        (void)snprintf(rest, room, "malformed, of %" PRIu32 " bytes", came->bytes);
    return text;
}

const char *came_text(char text[CAME_TEXT], const struct fab_cable *cable, const struct wire *wire, unsigned plane)
{
    const struct fab_cable_count *c = &cable->count;
    if (cable->came.frames)
        return foreign_text(text, &cable->came, plane);
    if (wire->server.why)
        (void)snprintf(text, CAME_TEXT, "who came was sent away: %s", wire->server.why);
    else if (c->strangers)
        (void)snprintf(text, CAME_TEXT, "%" PRIu64 " credit frames came, none in answer to ours", c->strangers);
    else if (c->reflected)
        (void)snprintf(text, CAME_TEXT, "only our own frames came back");
    else if (wire->server.state == MEMIF_IS_CONNECTED)
        (void)snprintf(text, CAME_TEXT, "somebody is connected and says nothing");
    else
        return NULL;
    return text;
}
