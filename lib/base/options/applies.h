/* applies.h - the runs that an option applies to: some are for one clock, some for a few traffic patterns.
 *
 * A mask has a bit for every clock and every pattern. An option's mask has those it applies to; without a clock's bit,
 * or a pattern's, it applies to all of them, so 0 is everything. A run's mask has its clock and pattern; a file without
 * them has all that it may run as.
 *
 * The masks are in the options' table (struct hx_option, `applies`). Checks of the command line and files, and the
 * documentation, use them:
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

/* Prints the runs of an option: "--clock virtual", "--traffic incast or broadcast", joined by "; "; empty: all. `text`
 * has HX_APPLIES_TEXT bytes. Returns text. */
enum { HX_APPLIES_TEXT = 320 };
const char *hx_applies_print(char *text, uint64_t option);

/* Returns why the option does not apply to a run ("is for --clock wall, not virtual"; in files, "is for clock: wall,
 * not virtual"); NULL: it applies. `why` as in base/value.h. */
enum hx_applies_words { HX_APPLIES_OPTIONS, HX_APPLIES_KEYS };
const char *hx_applies_wrong(const struct hx_option *option, uint64_t run, enum hx_applies_words words, char *why);

/* Dies with HX_EXIT_USAGE at the first option on the command line that does not apply to this run. */
void hx_options_check(const struct hx_command *command, const struct hx_common *common, uint64_t run);

#endif
