/* options.h - one table of options a program, from which both the parsing and --help are made.
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
 * The default of an option is written nowhere: it is what its target holds when the table is read, and is printed from
 * there. Every program has, without naming them, --json FILE|- (unless .no_json), --quiet, --color, --help and
 * --version. --help=man, =markdown and =words print the same table as a manual page, as a section of docs/options.md
 * and for completion. Options and operands may be mixed; a long option may be shortened while it stays unique; a FLAG
 * that is on by default is switched off by --no-NAME where .negatable is set. Of two values for an option the last one
 * counts, so that a script may add its own behind what it was given. Anything that cannot be understood ends the
 * program with one line and HX_EXIT_USAGE. */
#ifndef HXMESH_BASE_OPTIONS_OPTIONS_H
#define HXMESH_BASE_OPTIONS_OPTIONS_H

#include "base/options/option.h"

/* Parses; returns the index of the first operand (argv is reordered so that operands come last). --help and
 * --version print to stdout and exit 0. argv[0] is not looked at. */
int hx_options_parse(const struct hx_command *command, int argc, char **argv, struct hx_common *common);

/* Dies with HX_EXIT_USAGE of what would be passed over in silence: of one of `names` on the command line where `needed`
 * is not on it, and of one of `others` beside `one`. Lists end with NULL; all are names in the command's own table. */
void hx_options_need(const struct hx_command *command, const struct hx_common *common, const char *needed,
                     const char *const names[]);
void hx_options_apart(const struct hx_command *command, const struct hx_common *common, const char *one,
                      const char *const others[]);

/* Reads `text` as the value of one option and stores it; NULL if it is good, else what is wrong (as value.h). A flag is
 * set by NULL (the option alone) or by a switch word (a configuration file). */
const char *hx_option_apply(const struct hx_option *option, const char *text);

/* Takes over what was given in another table: of each option whose given_bit is set there, the value. Both tables have
 * the same entries with other targets, and end with HX_OPTIONS_END. Texts stay their owner's. */
void hx_options_take(const struct hx_option *to, const struct hx_option *from);

/* The format that a word (NULL: none) names; dies with HX_EXIT_USAGE of one that is unknown. */
enum hx_help_format hx_help_format(const char *word);

void hx_options_print(const struct hx_command *command, enum hx_help_format format, FILE *out);

/* The options every program has, which HX_HELP_MARKDOWN leaves out. */
void hx_print_markdown_common(FILE *out);

#endif
