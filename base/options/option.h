/* option.h - an option, a table of them, and a command line: what reads and prints them is in options.h. */
#ifndef HXMESH_BASE_OPTIONS_OPTION_H
#define HXMESH_BASE_OPTIONS_OPTION_H

#include "base/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum hx_option_kind {
    HX_OPTION_HEADING,     /* no option: a heading in --help; .help is its text */
    HX_OPTION_FLAG,        /* to.flag */
    HX_OPTION_STRING,      /* to.string */
    HX_OPTION_LIST,        /* to.list: may be given again and again */
    HX_OPTION_NUMBER,      /* to.number, low .. high */
    HX_OPTION_BYTES,       /* to.number, bytes, low .. high */
    HX_OPTION_DURATION,    /* to.number, nanoseconds, low .. high */
    HX_OPTION_REAL,        /* to.real, real_low .. real_high */
    HX_OPTION_COORDINATE,  /* to.coordinate */
    HX_OPTION_COORDINATES, /* to.coordinates: may be given again and again, and hold several */
    HX_OPTION_CHOICE,      /* to.choice, place in .choices; --help lists the choices */
    HX_OPTION_HELP,        /* prints and exits: only among the common options */
    HX_OPTION_VERSION,     /* likewise */
    HX_OPTION_END
};

enum { HX_OPTION_MOST_ITEMS = 32 };
struct hx_option_list {
    const char *item[HX_OPTION_MOST_ITEMS];
    unsigned count;
};

struct hx_option {
    const char *name;
    const char *alias; /* older name, which --help does not print; results have it as their key. NULL: none */
    const char *key;   /* in files, as "traffic.message" or "jobs[].tag" (base/yaml/keys.h); NULL: it is in none */
    bool key_required; /* where what it is in is there */
    char letter;       /* 0: none */
    enum hx_option_kind kind;
    bool negatable;       /* FLAG: --no-NAME exists */
    const char *argument; /* its name in --help; NULL: by kind */
    const char *help;     /* says nothing of range and default, which are printed behind it */
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
    const uint64_t *default_value; /* what is taken if it is not given, where the target does not hold that */
    const char *otherwise;         /* the same in words, where no value says it; "": nothing is said */
    /* CHOICE that may also be the name of a file, which then is stored here, and the choice is the place of the word
     * that stands for it in --help. A name has a '/' or a '.' in it or is there; a word of the list is that word. NULL:
     * no. */
    const char **file;
    unsigned file_choice;
    unsigned *given; /* where `given_bit` is set when the option was used; NULL: nowhere */
    unsigned given_bit;
    const struct hx_option
        *shown; /* whose values, range and default are printed, where this one only keeps the text; NULL: its own */
    uint64_t applies;    /* the runs it is for, as base/options/applies.h has it; 0: all */
    const char *instead; /* what to say to whoever uses it in another one, in parentheses; NULL: nothing */
};

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

/* What --help prints, and --help=WORD. */
enum hx_help_format { HX_HELP_TEXT, HX_HELP_MAN, HX_HELP_MARKDOWN, HX_HELP_WORDS, HX_HELP_FORMATS };

/* A command line, and what it is for. */
struct hx_example {
    const char *command, *what;
};
enum { HX_MOST_EXAMPLES = 6 };

struct hx_command {
    const char *program;              /* as a user types it: "hxmesh route" */
    const char *operands;             /* "SPEC", NULL: none */
    const char *const *operand_words; /* what an operand may be, for completion; ends with NULL; NULL: anything */
    const char *summary;              /* what it does, one or two sentences */
    const char *details;              /* NULL or paragraphs behind the options */
    struct hx_example examples[HX_MOST_EXAMPLES + 1]; /* ends with .command NULL */
    const char *failed;  /* what the exit code HX_EXIT_FAILED says of it; NULL: it never ends with it */
    const char *related; /* pages of other programs, as "hxmesh-run hxmesh-trace"; NULL: none */
    unsigned least_operands, most_operands;
    bool hides_operands; /* they are taken, and completed, but what they say an option says, too: usage does not name
                         * them */
    bool no_json;
    const struct hx_option *options;                          /* ends with HX_OPTIONS_END; NULL: none of its own */
    void (*file_keys)(enum hx_help_format format, FILE *out); /* prints the keys of its own kind of file; NULL: none */
};

/* A program, and the pages of others that go with it. */
#define HX_PROGRAM(name, others) .program = (name), .related = (others)
/* What stands behind the options of a command line, and how many there may be. */
#define HX_OPERANDS(names, least, most) .operands = (names), .least_operands = (least), .most_operands = (most)

enum { HX_MOST_OPTIONS = 128 }; /* of a table, with its headings and what is common */

struct hx_common {
    const char *json;           /* file or "-"; NULL: the table for a person */
    bool quiet;                 /* no progress */
    unsigned color;             /* enum hx_color (base/color.h): chosen already */
    time_t started;             /* when the command line was read */
    const char *line;           /* the command line, quoted as a shell reads it; kept until another one is read */
    bool used[HX_MOST_OPTIONS]; /* by place in the command's own table: it was on the command line */
};

/* The key of an option's value in results. */
static inline const char *hx_option_result_key(const struct hx_option *option)
{
    return option->alias ? option->alias : option->name;
}

#endif
