/* options.h - one table of options per program, for parsing and --help.
 *
 *     static struct my_settings s = {.message = 1 << 20};
 *     static const struct hx_option options[] = {
 *         HX_OPTIONS_HEADING("Traffic"),
 *         {.name = "message", .letter = 'm', .argument = "SIZE", .help = "bytes of a message",
 *          .kind = HX_OPTION_BYTES, .to.number = &s.message, .low = 1, .high = 1ULL << 32},
 *         {.name = "verify", .help = "check every byte", .kind = HX_OPTION_FLAG, .to.flag = &s.verify},
 *         HX_OPTIONS_END};
 *     static const struct hx_command command = {.program = "hxmesh run", .operands = "SPEC|FILE", .most_operands = 1,
 *                                               .summary = "Runs a fabric.", .options = options};
 *     struct hx_common common;
 *     int first = hx_options_parse(&command, argc, argv, &common);  // operands: argv[first] .. argv[argc - 1]
 *
 * An option's default is what its target holds when the table is read; --help prints it from there. Every program also
 * has --json FILE|- (unless .no_json), --quiet, --color, --help and --version. --help=man, =markdown and =words print
 * the table as a manual page, as a section of docs/options.md and for completion; =keys prints the keys of a report.
 * Options and operands may be mixed, and a long option may be abbreviated while it stays unique. --no-NAME switches a
 * FLAG off if .negatable is set. The last of two values of an option counts, so a script may append its own. Errors end
 * the program with one line and HX_EXIT_USAGE. */
#ifndef HXMESH_BASE_OPTIONS_OPTIONS_H
#define HXMESH_BASE_OPTIONS_OPTIONS_H

#include "base/options/option.h"

/* Parses argv, without argv[0], and moves operands to its end. Returns the index of the first operand. --help and
 * --version print to stdout and exit 0. */
int hx_options_parse(const struct hx_command *command, int argc, char **argv, struct hx_common *common);

/* Die with HX_EXIT_USAGE at options without effect: one of `names` without `needed`, or one of `others` together with
 * `one`. Lists end with NULL; all names are in the command's own table. */
void hx_options_need(const struct hx_command *command, const struct hx_common *common, const char *needed,
                     const char *const names[]);
void hx_options_apart(const struct hx_command *command, const struct hx_common *common, const char *one,
                      const char *const others[]);

/* Dies at an option among `names` that was used, and says why. */
void hx_options_refuse(const struct hx_command *command, const struct hx_common *common, const char *const names[],
                       const char *why);

/* Stores `text` as the value of one option. Returns NULL, or a message as in value.h. NULL sets a flag (the option
 * alone); in a file, a switch word sets it. */
const char *hx_option_apply(const struct hx_option *option, const char *text, char *why);

/* Copies the values of options with given_bit set in `from` to `to`. Both tables have the same entries with other
 * targets, and end with HX_OPTIONS_END. Texts keep their owner. */
void hx_options_take(const struct hx_option *to, const struct hx_option *from);

/* Returns the format that a word names (NULL: text); dies with HX_EXIT_USAGE if it is unknown. */
enum hx_help_format hx_help_format(const char *word);

void hx_options_print(const struct hx_command *command, enum hx_help_format format, FILE *out);

/* Prints the common options, which HX_HELP_MARKDOWN omits. */
void hx_print_markdown_common(FILE *out);

#endif
