/* note.c - prints notes of the datapath (note.h). */
#include "fabric-emu/capture/note.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const reasons[HX_TAP_REASONS] = {
    [HX_TAP_ONLY] = "the only way",  [HX_TAP_MOST_ROOM] = "most room",
    [HX_TAP_TURN] = "its turn",      [HX_TAP_WAITED] = "waited, first with room",
    [HX_TAP_ARRIVED] = "it is here", [HX_TAP_UNREACHABLE] = "no path, its sender is notified",
};

struct text {
    char *to;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(t->to + t->used, CAPTURE_NOTE_BYTES - t->used, format, arguments);
    va_end(arguments);
    t->used += length > 0 ? (size_t)length : 0;
    if (t->used >= CAPTURE_NOTE_BYTES)
        t->used = CAPTURE_NOTE_BYTES - 1;
}

/* The last part of the port's name. */
static const char *short_name(char name[HX_NAME_BYTES], const struct hx_fabric *g, const struct capture_port *at,
                              unsigned port)
{
    if (port >= hx_fabric_ports(g, at->node))
        return "?";
    const char *last = strrchr(hx_port_name(name, g, at->plane, at->node, port), '/');
    return last ? last + 1 : name;
}

static void add_candidates(struct text *t, const struct hx_fabric *g, const struct capture_port *at,
                           const struct hx_tap_note *n)
{
    char name[HX_NAME_BYTES];
    unsigned i = 0;
    add(t, ". candidates");
    for (uint64_t left = n->candidates; left; left &= left - 1, i++) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        add(t, "%s %s", i ? "," : "", short_name(name, g, at, port));
        if (i < HX_TAP_ROOMS)
            add(t, " %u", n->room[i]);
        if (i == 0)
            add(t, " packets");
        if (n->wanted >> port & 1)
            add(t, " (reserved for waiting packets)");
    }
}

const char *capture_note_print(char text[CAPTURE_NOTE_BYTES], const struct hx_fabric *g,
                               const struct capture_port *port, const struct hx_tap_note *note, unsigned vc)
{
    struct text t = {.to = text};
    char in[HX_NAME_BYTES];
    char name[HX_NAME_BYTES];
    const char *out = short_name(name, g, port, note->output);
    text[0] = 0;
    if (note->reason == HX_TAP_REPLAYED) {
        add(&t, "out %s vc %u: put there from outside", out, vc);
        return text;
    }
    add(&t, "in %s vc %u, out %s vc %u: %s", short_name(in, g, port, note->input), note->input_vc, out, vc,
        note->reason < HX_TAP_REASONS && reasons[note->reason] ? reasons[note->reason] : "?");
    if (note->candidates)
        add_candidates(&t, g, port, note);
    unsigned before = (unsigned)__builtin_popcountll(note->candidates & (((uint64_t)1 << (note->output & 63)) - 1));
    if (note->candidates >> (note->output & 63) & 1 && before < HX_TAP_ROOMS && note->room[before])
        add(&t, "; %u left on %s", note->room[before] - 1U, out);
    return text;
}
