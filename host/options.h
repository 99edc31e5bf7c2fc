/* options.h - one table of options a program, from which both the parsing and --help are made.
 *
 *     static struct my_settings s = {.message = 1 << 20};
 *     static const struct hx_option options[] = {
 *         HX_OPTIONS_HEADING("Traffic"),
 *         {.name = "message", .letter = 'm', .argument = "SIZE", .help = "bytes of a message (1MiB)",
 *          .kind = HX_OPTION_BYTES, .to.number = &s.message, .low = 1, .high = 1ULL << 32},
 *         {.name = "verify", .help = "check every byte", .kind = HX_OPTION_FLAG, .to.flag = &s.verify},
 *         HX_OPTIONS_END};
 *     static const struct hx_command command = {.program = "hxmesh run", .operands = "SPEC|FILE", .most_operands = 1,
 *                                               .summary = "Runs a fabric.", .options = options};
 *     struct hx_common common;
 *     int first = hx_options_parse(&command, argc, argv, &common);  // operands: argv[first] .. argv[argc - 1]
 *
 * Every program has, without naming them, --json FILE|- (unless .no_json), --quiet, --help and --version.
 * Options and operands may be mixed; a long option may be shortened while it stays unique; a FLAG that is on by
 * default is switched off by --no-NAME where .negatable is set. Anything that cannot be understood ends the program
 * with one line and HX_EXIT_USAGE. */
#ifndef HXMESH_HOST_OPTIONS_H
#define HXMESH_HOST_OPTIONS_H

#include "host/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum hx_option_kind {
    HX_OPTION_HEADING,    /* no option: a heading in --help; .help is its text */
    HX_OPTION_FLAG,       /* to.flag */
    HX_OPTION_STRING,     /* to.string */
    HX_OPTION_LIST,       /* to.list: may be given again and again */
    HX_OPTION_NUMBER,     /* to.number, low .. high */
    HX_OPTION_BYTES,      /* to.number, bytes, low .. high */
    HX_OPTION_DURATION,   /* to.number, nanoseconds, low .. high */
    HX_OPTION_REAL,       /* to.real, real_low .. real_high */
    HX_OPTION_COORDINATE, /* to.coordinate */
    HX_OPTION_CHOICE,     /* to.choice, place in .choices; --help lists the choices */
    HX_OPTION_END
};

enum { HX_OPTION_MOST_ITEMS = 32 };
struct hx_option_list {
    const char *item[HX_OPTION_MOST_ITEMS];
    unsigned count;
};

struct hx_option {
    const char *name;
    char letter; /* 0: none */
    enum hx_option_kind kind;
    bool negatable;       /* FLAG: --no-NAME exists */
    const char *argument; /* its name in --help; NULL: by kind */
    const char *help;
    union {
        bool *flag;
        const char **string;
        struct hx_option_list *list;
        uint64_t *number;
        double *real;
        struct hx_coordinate *coordinate;
        unsigned *choice;
    } to;
    uint64_t low, high;
    double real_low, real_high;
    const char *const *choices; /* ends with NULL */
    unsigned *given;            /* where `given_bit` is set when the option was used; NULL: nowhere */
    unsigned given_bit;
};

/* clang-format off */
#define HX_OPTIONS_HEADING(text) {.kind = HX_OPTION_HEADING, .help = (text)}
#define HX_OPTIONS_END           {.kind = HX_OPTION_END}
/* clang-format on */

struct hx_command {
    const char *program;  /* as a user types it: "hxmesh route" */
    const char *operands; /* "SPEC", NULL: none */
    const char *summary;  /* what it does, one or two sentences */
    const char *details;  /* NULL or paragraphs behind the options */
    unsigned least_operands, most_operands;
    bool no_json;
    const struct hx_option *options; /* ends with HX_OPTIONS_END; NULL: none of its own */
};

struct hx_common {
    const char *json; /* file or "-"; NULL: the table for a person */
    bool quiet;       /* no progress */
};

/* Parses; returns the index of the first operand (argv is reordered so that operands come last). --help and
 * --version print to stdout and exit 0. argv[0] is not looked at. */
int hx_options_parse(const struct hx_command *command, int argc, char **argv, struct hx_common *common);

/* Reads `text` as the value of one option and stores it; NULL if it is good, else what is wrong (as value.h). A flag is
 * set by NULL (the option alone) or by a switch word (a configuration file). */
const char *hx_option_apply(const struct hx_option *option, const char *text);

/* The text of --help. */
void hx_options_help(const struct hx_command *command, FILE *out);

#endif
