/* capture_settings.c - options over a file's settings (host/capture_settings.h). */
#include "host/capture_settings.h"

void hx_capture_settings_merge(struct hx_capture_settings *into, const struct hx_capture_settings *over)
{
    unsigned given = over->given;
    if (over->file)
        into->file = over->file;
    if (given & HX_GIVEN_CAPTURE_PORTS)
        into->ports = over->ports;
    if (given & HX_GIVEN_CAPTURE_FILTER)
        into->filter = over->filter;
    if (given & HX_GIVEN_CAPTURE_SNAPLEN)
        into->snaplen = over->snaplen;
    if (given & HX_GIVEN_CAPTURE_BUFFER)
        into->buffer = over->buffer;
    if (given & HX_GIVEN_CAPTURE_ANNOTATE)
        into->annotate = over->annotate;
    if (given & HX_GIVEN_CAPTURE_DROP)
        into->drop = over->drop;
    into->given |= given;
}
