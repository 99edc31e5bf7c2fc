/* json.h - current option values by name, for the provenance in reports. */
#ifndef HXMESH_BASE_OPTIONS_JSON_H
#define HXMESH_BASE_OPTIONS_JSON_H

#include "base/options/option.h"

#include <jansson.h>

/* Sets in `into` the value of each option that applies to the run (base/options/applies.h): numbers and bytes as
 * integers, durations as text ("500ms"), choices as words, coordinates as lists. Omits missing texts. */
void hx_options_json(const struct hx_option *options, uint64_t run, json_t *into);

#endif
