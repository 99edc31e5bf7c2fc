/* foreign_frames.c - describes foreign frames of a cable (foreign_frames.h). */
#include "foreign_frames.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

void foreign_frames_note(struct fab_foreign_frames *foreign_frames, const uint8_t *frame, uint32_t bytes,
                         bool unauthenticated)
{
    unsigned type = hx_frame_ethertype(frame, bytes);
    unsigned plane_at = type == HX_ETHERTYPE_DATA ? HX_AT_PLANE : HX_AT_CONTROL_PLANE;
    foreign_frames->frames++;
    foreign_frames->bytes = bytes;
    foreign_frames->unauthenticated = unauthenticated;
    foreign_frames->ethertype = (uint16_t)type;
    foreign_frames->version = bytes > HX_AT_VERSION ? frame[HX_AT_VERSION] : 0;
    foreign_frames->plane = bytes > plane_at ? frame[plane_at] : 0;
}

static const char *foreign_text(char text[FOREIGN_FRAMES_TEXT], const struct fab_foreign_frames *foreign_frames,
                                unsigned plane)
{
    int used = snprintf(text, FOREIGN_FRAMES_TEXT, "%" PRIu64 " frame%s came, the last one ", foreign_frames->frames,
                        hx_plural(foreign_frames->frames));
    char *rest = text + used;
    size_t room = FOREIGN_FRAMES_TEXT - (size_t)used;
    if (foreign_frames->ethertype != HX_ETHERTYPE_DATA && foreign_frames->ethertype != HX_ETHERTYPE_CONTROL)
        (void)snprintf(rest, room, "of EtherType 0x%04x, not ours", foreign_frames->ethertype);
    else if (foreign_frames->version != HX_WIRE_VERSION)
        (void)snprintf(rest, room, "of version %u of the wire format, this is version %u", foreign_frames->version,
                       (unsigned)HX_WIRE_VERSION);
    else if (foreign_frames->plane != plane)
        (void)snprintf(rest, room, "of plane %u, this is plane %u", foreign_frames->plane, plane);
    else if (foreign_frames->unauthenticated)
        (void)snprintf(rest, room, "without an authentication tag by this cable's key (external[].key, --key-file)");
    else
        (void)snprintf(rest, room, "malformed, of %" PRIu32 " bytes", foreign_frames->bytes);
    return text;
}

const char *foreign_frames_text(char text[FOREIGN_FRAMES_TEXT], const struct fab_cable *cable, const struct wire *wire,
                                unsigned plane)
{
    const struct fab_cable_count *c = &cable->count;
    if (cable->foreign_frames.frames)
        return foreign_text(text, &cable->foreign_frames, plane);
    if (wire->server.why)
        (void)snprintf(text, FOREIGN_FRAMES_TEXT, "a peer was refused: %s", wire->server.why);
    else if (c->strangers)
        (void)snprintf(text, FOREIGN_FRAMES_TEXT, "%" PRIu64 " credit frame%s came, none in answer to ours",
                       c->strangers, hx_plural(c->strangers));
    else if (c->reflected)
        (void)snprintf(text, FOREIGN_FRAMES_TEXT, "only our own frames came back");
    else if (wire->server.state == MEMIF_IS_CONNECTED)
        (void)snprintf(text, FOREIGN_FRAMES_TEXT, "a peer is connected and sends nothing");
    else
        return NULL;
    return text;
}
