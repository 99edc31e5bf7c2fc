/* json.h - values as they hold, by the names of their options: what a report says of how it came about. */
#ifndef HXMESH_BASE_OPTIONS_JSON_H
#define HXMESH_BASE_OPTIONS_JSON_H

#include "base/options/option.h"

#include <jansson.h>

/* Sets in `into` what each option's target holds, of those that are for this run (base/options/applies.h). Numbers and
 * bytes are integers, durations texts as the option takes them ("500ms"), words words, coordinates lists; texts that
 * are not there are left out. */
void hx_options_json(const struct hx_option *options, uint64_t run, json_t *into);

#endif
