/* capture_report.c - the report of a capture (capture_report.h). */
#include "fabric-emu/capture/capture_report.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

json_t *capture_report_json(const struct capture_report *r)
{
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s?}", "file", hx_json_text(r->file), "interfaces",
                     (json_int_t)r->interfaces, "received", (json_int_t)r->received, "accepted",
                     (json_int_t)r->accepted, "dropped", (json_int_t)r->dropped, "written", (json_int_t)r->written,
                     "unwritten", (json_int_t)r->unwritten, "bytes", (json_int_t)r->bytes, "files",
                     (json_int_t)r->files, "error", r->error ? strerror(r->error) : NULL);
}

void capture_report_print(const struct capture_report *r)
{
    char size[HX_VALUE_TEXT];
    printf("  capture        %" PRIu64 " of %" PRIu64 " frames at %" PRIu32 " port%s, %" PRIu64
           " dropped by the tap%s, %" PRIu64 " not written; %s in %s%s\n",
           r->written, r->received, r->interfaces, hx_plural(r->interfaces), r->dropped,
           r->dropped ? " (without --capture-drop the fabric waits for the file)" : "", r->unwritten,
           hx_value_print_bytes(size, r->bytes), r->file, r->files > 1 ? " and others" : "");
}

bool capture_report_complain(const struct capture_report *r)
{
    if (!r->error)
        return false;
    if (r->error == EOWNERDEAD) {
        hx_complain(r->file, "the process that wrote this capture was killed: its end is missing");
        return true;
    }
    hx_complain(r->file, "%s: %" PRIu64 " frames written, %" PRIu64 " not (%" PRIu64 " dropped by the tap)",
                strerror(r->error), r->written, r->unwritten, r->dropped);
    return true;
}
