/* table.h - shared by options.c and all that prints options; programs do not include it. */
#ifndef HXMESH_BASE_OPTIONS_TABLE_H
#define HXMESH_BASE_OPTIONS_TABLE_H

#include "base/options/option.h"

/* Fills in the common options. */
enum { HX_COMMON_OPTIONS = 6 }; /* with their heading */
void hx_common_options(const struct hx_command *command, struct hx_common *common,
                       struct hx_option table[HX_COMMON_OPTIONS + 1]);

/* Returns the option to print in place of this one. */
static inline const struct hx_option *hx_option_shown(const struct hx_option *option)
{
    return option->shown ? option->shown : option;
}

/* Returns the name of an option's value in --help: its own, or one by kind; empty for a flag. */
const char *hx_option_argument(const struct hx_option *option);

enum { HX_OPTION_TEXT = 320 };

/* Returns the default in option syntax; NULL: none to print. `text`: HX_OPTION_TEXT bytes. */
const char *hx_option_default(const struct hx_option *option, char *text);

/* Returns the range, "1 to 64"; NULL: any value of its kind. */
const char *hx_option_range(const struct hx_option *option, char *text);

/* Returns range and default for the end of the help, " (1 to 64; default 64)", or "". */
const char *hx_option_limits(const struct hx_option *option, char *text);

/* Returns the usage after a program's name: "SPEC|FILE [options]". Options come first if the operands contain "--",
 * which begins another program's. */
const char *hx_usage_of(const struct hx_command *command, char *text);

/* Returns "all-to-all, uniform, ..."; empty if it is not a choice. */
const char *hx_option_choices(const struct hx_option *option, char *text);

/* Prints value, default and help of an option: the end of a row of a Markdown table. */
void hx_markdown_option_cells(const struct hx_option *option, FILE *out);

/* Prints the same in a manual page, below the option's name. */
void hx_man_option_text(const struct hx_option *option, FILE *out);

/* Print --help in each format. */
void hx_print_text(const struct hx_command *command, FILE *out);
void hx_print_man(const struct hx_command *command, FILE *out);
void hx_print_markdown(const struct hx_command *command, FILE *out);
void hx_print_words(const struct hx_command *command, FILE *out);

#endif
