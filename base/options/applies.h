/* applies.h - which runs an option is for: some are for one clock only, some for a few traffic patterns.
 *
 * A mask has a bit for every clock and for every pattern. Of an option it says what the option is for; no clock's bit,
 * or no pattern's, means all of them, so 0 is everything. Of a run it says what the run is; of a file that does not
 * name its clock or its pattern, all that it could be run as.
 *
 * The masks stand in the options' own table (struct hx_option, `applies`), and the command line, files and the
 * documentation are judged and written by it:
 *
 *     hxmesh: error: --rate: is for --traffic all-to-all, ... or incast, not all-reduce
 *     hxmesh: error: lab.hxm.yaml:7:3: traffic.rate: is for pattern: all-to-all, ... or incast, not all-reduce */
#ifndef HXMESH_BASE_OPTIONS_APPLIES_H
#define HXMESH_BASE_OPTIONS_APPLIES_H

#include "base/options/option.h"
#include "base/options/runs.h"

#include <stdbool.h>
#include <stdint.h>

bool hx_applies(uint64_t option, uint64_t run);

/* What an option is for, as options say it: "--clock virtual", "--traffic incast or broadcast", both with "; " between
 * them; empty: for everything. `text` has HX_APPLIES_TEXT bytes. Returns text. */
enum { HX_APPLIES_TEXT = 320 };
const char *hx_applies_print(char *text, uint64_t option);

/* What is wrong with the option in that run ("is for --clock wall, not virtual"), NULL: nothing. A file says it in its
 * own words ("is for clock: wall, not virtual"). Overwritten by the next call. */
enum hx_applies_words { HX_APPLIES_OPTIONS, HX_APPLIES_KEYS };
const char *hx_applies_wrong(const struct hx_option *option, uint64_t run, enum hx_applies_words words);

/* Dies with HX_EXIT_USAGE of the first option on the command line that is not for this run. */
void hx_options_check(const struct hx_command *command, const struct hx_common *common, uint64_t run);

#endif
