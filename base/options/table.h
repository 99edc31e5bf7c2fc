/* table.h - what parsing (options.c) and all that prints options share; programs do not include it. */
#ifndef HXMESH_BASE_OPTIONS_TABLE_H
#define HXMESH_BASE_OPTIONS_TABLE_H

#include "base/options/option.h"

/* The options every program has. */
enum { HX_COMMON_OPTIONS = 6 }; /* with their heading */
void hx_common_options(const struct hx_command *command, struct hx_common *common,
                       struct hx_option table[HX_COMMON_OPTIONS + 1]);

/* What is printed in an option's place. */
static inline const struct hx_option *hx_option_shown(const struct hx_option *option)
{
    return option->shown ? option->shown : option;
}

/* The name of an option's value in --help: its own, or one by kind; empty for a flag. */
const char *hx_option_argument(const struct hx_option *option);

enum { HX_OPTION_TEXT = 320 };

/* What holds if it is not given, as one would write it; NULL: there is nothing to say. `text`: HX_OPTION_TEXT bytes. */
const char *hx_option_default(const struct hx_option *option, char *text);

/* "1 to 64"; NULL: any value of its kind. */
const char *hx_option_range(const struct hx_option *option, char *text);

/* Range and default as they stand behind the help: " (1 to 64; default 64)", or nothing. */
const char *hx_option_limits(const struct hx_option *option, char *text);

/* What stands behind a program's name: "SPEC|FILE [options]". Options come first where a "--" is among the operands:
 * what is behind it is another program's. */
const char *hx_usage_of(const struct hx_command *command, char *text);

/* "all-to-all, uniform, ..."; empty where it is no choice. */
const char *hx_option_choices(const struct hx_option *option, char *text);

/* Value, default and help of an option: the end of a row of a Markdown table. */
void hx_markdown_option_cells(const struct hx_option *option, FILE *out);

/* The same in a manual page, below the line that names the option. */
void hx_man_option_text(const struct hx_option *option, FILE *out);

/* --help in each format. */
void hx_print_text(const struct hx_command *command, FILE *out);
void hx_print_man(const struct hx_command *command, FILE *out);
void hx_print_markdown(const struct hx_command *command, FILE *out);
void hx_print_words(const struct hx_command *command, FILE *out);

#endif
