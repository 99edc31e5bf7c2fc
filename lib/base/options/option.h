/* option.h - an option, a table of options, and a command line; options.h reads and prints them. */
#ifndef HXMESH_BASE_OPTIONS_OPTION_H
#define HXMESH_BASE_OPTIONS_OPTION_H

#include "base/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum hx_option_kind {
    HX_OPTION_HEADING,     /* not an option: a heading in --help with .help as its text */
    HX_OPTION_FLAG,        /* to.flag */
    HX_OPTION_STRING,      /* to.string */
    HX_OPTION_LIST,        /* to.list: repeatable */
    HX_OPTION_NUMBER,      /* to.number, low .. high */
    HX_OPTION_BYTES,       /* to.number, bytes, low .. high */
    HX_OPTION_DURATION,    /* to.number, nanoseconds, low .. high */
    HX_OPTION_REAL,        /* to.real, real_low .. real_high */
    HX_OPTION_COORDINATE,  /* to.coordinate */
    HX_OPTION_COORDINATES, /* to.coordinates: repeatable, several each */
    HX_OPTION_CHOICE,      /* to.choice, index in .choices; --help lists them */
    HX_OPTION_HELP,        /* prints and exits: common options only */
    HX_OPTION_VERSION,     /* prints and exits: common options only */
    HX_OPTION_END
};

enum { HX_OPTION_MOST_ITEMS = 32 };
struct hx_option_list {
    const char *item[HX_OPTION_MOST_ITEMS];
    unsigned count;
};

struct hx_option {
    const char *name;
    const char *alias; /* older name, hidden in --help; NULL: none */
    const char *key;   /* in files, "traffic.message" or "jobs[].tag" (base/yaml/keys.h); NULL: not in files */
    bool key_required; /* if its parent is present */
    char letter;       /* 0: none */
    enum hx_option_kind kind;
    bool negatable;       /* FLAG: --no-NAME exists */
    const char *argument; /* name of the value in --help; NULL: by kind */
    const char *help;     /* without range and default, which --help appends */
    union {
        bool *flag;
        const char **string;
        struct hx_option_list *list;
        uint64_t *number;
        double *real;
        struct hx_coordinate *coordinate;
        struct hx_coordinates *coordinates;
        unsigned *choice;
    } to;
    uint64_t low, high;
    double real_low, real_high;
    const char *const *choices;    /* ends with NULL */
    const uint64_t *default_value; /* the default if the target does not hold it */
    const char *otherwise;         /* the default in words; "": do not print one */
    /* A CHOICE that also accepts a file name stores it here and sets file_choice. --help lists the word of file_choice.
     * A file name contains '/' or '.', or exists; words of the list take precedence. NULL: words only. */
    const char **file;
    unsigned file_choice;
    /* Chooses by the file's content among file_choice and the choices after it: the last of them is last_file_choice.
     * NULL: file_choice. */
    unsigned (*file_kind)(const char *path);
    unsigned last_file_choice;
    uint64_t *given; /* where to set `given_bit` if the option is used; NULL: nowhere */
    uint64_t given_bit;
    const struct hx_option *shown; /* option to print instead, if this one only keeps the text; NULL: itself */
    uint64_t applies;              /* mask of the runs it applies to (base/options/applies.h); 0: all */
    const char *instead;           /* hint for use in another run, printed in parentheses; NULL: none */
};

/* Fields of an option: its use sets `bit` in (s)->given. */
#define HX_GIVEN_IN(s, bit) .given = &(s)->given, .given_bit = (uint64_t)(bit)

/* clang-format off */
/* What every option of a kind has; what only some have stands behind it: {HX_FLAG("all", &all, "every host"),
 * .letter = 'a'}. */
#define HX_KIND_(n, k, h) .name = (n), .kind = HX_OPTION_##k, .help = (h)
#define HX_FLAG(n, target, h)                HX_KIND_(n, FLAG, h), .to.flag = (target)
#define HX_STRING(n, word, target, h)        HX_KIND_(n, STRING, h), .argument = (word), .to.string = (target)
#define HX_LIST(n, word, target, h)          HX_KIND_(n, LIST, h), .argument = (word), .to.list = (target)
#define HX_NUMBER(n, target, least, most, h) \
    HX_KIND_(n, NUMBER, h), .to.number = (target), .low = (least), .high = (most)
#define HX_BYTES(n, target, least, most, h) \
    HX_KIND_(n, BYTES, h), .to.number = (target), .low = (least), .high = (most)
#define HX_DURATION(n, target, least, most, h) \
    HX_KIND_(n, DURATION, h), .to.number = (target), .low = (least), .high = (most)
#define HX_REAL(n, target, least, most, h) \
    HX_KIND_(n, REAL, h), .to.real = (target), .real_low = (least), .real_high = (most)
#define HX_COORDINATE(n, target, h)          HX_KIND_(n, COORDINATE, h), .to.coordinate = (target)
#define HX_CHOICE(n, target, words, h)       HX_KIND_(n, CHOICE, h), .to.choice = (target), .choices = (words)
#define HX_OPTIONS_HEADING(text) {.kind = HX_OPTION_HEADING, .help = (text)}
#define HX_OPTIONS_END           {.kind = HX_OPTION_END}
/* clang-format on */

/* Formats of --help, and of --help=WORD. */
enum hx_help_format { HX_HELP_TEXT, HX_HELP_MAN, HX_HELP_MARKDOWN, HX_HELP_WORDS, HX_HELP_KEYS, HX_HELP_FORMATS };

/* A command line and its purpose. */
struct hx_example {
    const char *command, *what;
};
enum { HX_MOST_EXAMPLES = 8 };

struct hx_command {
    const char *program;                              /* "hxmesh route" */
    const char *operands;                             /* "SPEC", NULL: none */
    const char *const *operand_words;                 /* possible operands, for completion; ends with NULL; NULL: any */
    const char *summary;                              /* one or two sentences */
    const char *details;                              /* paragraphs after the options, or NULL */
    struct hx_example examples[HX_MOST_EXAMPLES + 1]; /* ends with .command NULL */
    const char *failed;                               /* meaning of the exit code HX_EXIT_FAILED; NULL: never used */
    const char *related;                              /* other manual pages, "hxmesh-run hxmesh-trace"; NULL: none */
    unsigned least_operands, most_operands;
    bool hides_operands; /* accepts and completes operands, but usage shows only the equivalent option */
    bool no_json;
    bool called;                     /* by a library: output, signals and questions are those of its caller */
    const struct hx_option *options; /* ends with HX_OPTIONS_END; NULL: none */
    void (*file_keys)(enum hx_help_format format, FILE *out); /* prints the keys of its kind of file; NULL: none */
    void (*report_keys)(FILE *out); /* prints those of its JSON report, in Markdown; NULL: not from a table */
};

/* A program, and related manual pages. */
#define HX_PROGRAM(name, others) .program = (name), .related = (others)
/* The operands of a command line, and their number. */
#define HX_OPERANDS(names, least, most) .operands = (names), .least_operands = (least), .most_operands = (most)

enum { HX_MOST_OPTIONS = 128 }; /* of a table, with headings and common options */

struct hx_common {
    const char *json;           /* file or "-"; NULL: print the table for people */
    bool quiet;                 /* no progress */
    unsigned color;             /* enum hx_color (base/color.h), already chosen */
    time_t started;             /* when the command line was read */
    const char *line;           /* the command line, quoted for a shell; kept until the next is read */
    bool used[HX_MOST_OPTIONS]; /* by index in the command's own table: was on the command line */
};

/* Whether a choice of this option stands for a file's name. */
static inline bool hx_option_is_file(const struct hx_option *option, unsigned choice)
{
    unsigned last = option->file_kind ? option->last_file_choice : option->file_choice;
    return option->file && choice >= option->file_choice && choice <= last;
}

#endif
