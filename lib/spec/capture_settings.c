/* capture_settings.c - merges options into a file's settings (spec/capture_settings.h). */
#include "spec/capture_settings.h"
#include "base/options/options.h"
#include "base/options/runs.h"

void hx_capture_settings_merge(struct hx_capture_settings *into, const struct hx_capture_settings *over)
{
    struct hx_capture_settings source = *over;
    const struct hx_option to[] = {HX_CAPTURE_OPTIONS(into), HX_OPTIONS_END};
    const struct hx_option of[] = {HX_CAPTURE_OPTIONS(&source), HX_OPTIONS_END};
    hx_options_take(to, of);
}
