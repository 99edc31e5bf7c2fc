/* support_capture_write.c - writes captures of the model as pcapng (support_capture.h). */
#include "base/pcapng/write.h"
#include "tests/support/support_capture.h"

#include <errno.h>
#include <stdlib.h>

static int put(void *context, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, context) == length ? 0 : EIO;
}

static const char *comment(const struct sim_capture *c, char *text, size_t bytes)
{
    const struct sim_settings *s = &c->set;
    snprintf(text, bytes, "hxmesh fabric: %ux%u H%ux%uMesh planes=%u credits=%u link=%s crc=%s clock=%s span=run", s->x,
             s->y, s->a, s->b, s->planes, s->credits, s->wire ? "wire" : "memory", s->crc ? "on" : "off",
             s->live ? "wall" : "virtual");
    return c->comment ? c->comment : text;
}

bool sim_write(const struct sim_capture *c, FILE *out, bool (*keep)(const char *name))
{
    uint8_t *room = malloc(HX_PCAPNG_ROOM);
    uint32_t *number = malloc(c->interfaces * sizeof *number);
    if (!room || !number)
        abort();
    char text[200];
    struct hx_pcapng_writer w;
    hx_pcapng_begin(&w, room, HX_PCAPNG_ROOM, put, out);
    hx_pcapng_section(
        &w, &(struct hx_pcapng_section){.application = "capture model", .comments = {comment(c, text, sizeof text)}});
    for (uint32_t i = 0; i < c->interfaces; i++) {
        const char *name = sim_interface_name(&c->set, i);
        number[i] = UINT32_MAX;
        if (keep && !keep(name))
            continue;
        number[i] = w.interfaces;
        hx_pcapng_interface(&w, &(struct hx_pcapng_interface){.name = name, .snaplen = c->set.snaplen});
    }
    for (size_t i = 0; i < c->count; i++) {
        const struct sim_record *r = &c->records[i];
        if (number[r->interface] != UINT32_MAX)
            hx_pcapng_packet(&w, &(struct hx_pcapng_packet){.interface = number[r->interface],
                                                            .time_ns = r->time_ns,
                                                            .bytes = r->frame,
                                                            .captured = r->captured,
                                                            .original = r->bytes,
                                                            .direction = (enum hx_pcapng_direction)r->direction,
                                                            .comments = {i == c->annotation_at ? c->annotation : NULL},
                                                            .has_queue = true,
                                                            .queue = r->vc});
    }
    bool good = hx_pcapng_flush(&w) == 0 && fflush(out) == 0;
    free(number);
    free(room);
    return good;
}
