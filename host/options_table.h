/* options_table.h - what options.c (parsing) and options_help.c (--help) share; nobody else includes it. */
#ifndef HXMESH_HOST_OPTIONS_TABLE_H
#define HXMESH_HOST_OPTIONS_TABLE_H

#include "host/options.h"

/* The options every program has. */
enum { HX_COMMON_OPTIONS = 5 }; /* with their heading */
void hx_common_options(const struct hx_command *command, struct hx_common *common, bool *help, bool *version,
                       struct hx_option table[HX_COMMON_OPTIONS + 1]);

/* The name of an option's value in --help: its own, or one by kind; empty for a flag. */
const char *hx_option_argument(const struct hx_option *option);

#endif
