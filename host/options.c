/* options.c - turns a table of options into a parsed command line (host/options.h); options_help.c prints it. */
#include "host/options.h"
#include "host/error.h"
#include "host/options_table.h"
#include "host/version.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 64, FIRST_LONG = 256, NEGATED = 1024 };

/* What getopt_long wants, and the list of names for "did you mean". */
struct parser {
    const struct hx_command *command;
    const struct hx_option *by_index[MOST_OPTIONS];
    unsigned count;
    struct option longs[2 * MOST_OPTIONS + 1];
    unsigned long_count;
    char letters[2 * MOST_OPTIONS + 2];
    char names[2 * MOST_OPTIONS][32]; /* "--planes" */
    const char *name_list[2 * MOST_OPTIONS + 1];
};

static void add_long(struct parser *p, const char *name, int value, bool argument)
{
    p->longs[p->long_count] = (struct option){name, argument ? required_argument : no_argument, NULL, value};
    p->name_list[p->long_count] = name;
    p->long_count++;
}

static void add_option(struct parser *p, const struct hx_option *option)
{
    if (option->kind == HX_OPTION_HEADING || p->count == MOST_OPTIONS)
        return;
    bool argument = option->kind != HX_OPTION_FLAG;
    int value = FIRST_LONG + (int)p->count;
    p->by_index[p->count++] = option;
    add_long(p, option->name, value, argument);
    if (option->negatable) {
        char *name = p->names[p->long_count];
        snprintf(name, sizeof p->names[0], "no-%s", option->name);
        add_long(p, name, NEGATED + value, false);
    }
    if (option->letter) {
        size_t at = strlen(p->letters);
        p->letters[at] = option->letter;
        p->letters[at + 1] = argument ? ':' : '\0';
    }
}

static const struct hx_option *by_letter(const struct parser *p, int letter)
{
    for (unsigned i = 0; i < p->count; i++)
        if (p->by_index[i]->letter == letter)
            return p->by_index[i];
    return NULL;
}

const char *hx_option_apply(const struct hx_option *option, const char *text)
{
    const char *wrong = NULL;
    switch (option->kind) {
    case HX_OPTION_FLAG:
        if (text)
            wrong = hx_value_switch(text, option->to.flag);
        else
            *option->to.flag = true;
        break;
    case HX_OPTION_STRING:
        *option->to.string = text;
        break;
    case HX_OPTION_LIST:
        if (option->to.list->count < HX_OPTION_MOST_ITEMS)
            option->to.list->item[option->to.list->count++] = text;
        else
            wrong = "given too often";
        break;
    case HX_OPTION_NUMBER:
        wrong = hx_value_number(text, option->low, option->high, option->to.number);
        break;
    case HX_OPTION_BYTES:
        wrong = hx_value_bytes(text, option->low, option->high, option->to.number);
        break;
    case HX_OPTION_DURATION:
        wrong = hx_value_duration(text, option->low, option->high, option->to.number);
        break;
    case HX_OPTION_REAL:
        wrong = hx_value_real(text, option->real_low, option->real_high, option->to.real);
        break;
    case HX_OPTION_COORDINATE:
        wrong = hx_value_coordinate(text, option->to.coordinate);
        break;
    case HX_OPTION_CHOICE:
        wrong = hx_value_choice(text, option->choices, option->to.choice);
        break;
    default:
        break;
    }
    if (!wrong && option->given)
        *option->given |= option->given_bit;
    return wrong;
}

/* The option that a value of getopt_long stands for. */
static const struct hx_option *by_value(const struct parser *p, int value)
{
    if (value < FIRST_LONG)
        return by_letter(p, value);
    return p->by_index[(unsigned)(value % NEGATED - FIRST_LONG) % MOST_OPTIONS];
}

static void apply(const struct parser *p, int value)
{
    bool negated = value >= NEGATED;
    const struct hx_option *option = by_value(p, value);
    const char *text = negated ? "no" : (option->kind == HX_OPTION_FLAG ? NULL : optarg);
    const char *wrong = hx_option_apply(option, text);
    if (!wrong)
        return;
    char where[64];
    snprintf(where, sizeof where, "--%s", option->name);
    hx_die(HX_EXIT_USAGE, where, "%s", wrong);
}

/* Long options that `word` (of `length` letters) shortens. */
static unsigned shortened(const struct parser *p, const char *word, size_t length)
{
    unsigned count = 0;
    for (unsigned i = 0; i < p->long_count; i++)
        count += strncmp(p->longs[i].name, word, length) == 0;
    return count;
}

/* getopt_long said '?': optopt is an option that was given a value it does not take, or a letter nobody knows; or
 * 0, and `word`, the argument itself, is a long option that is unknown or ambiguous. */
_Noreturn static void die_of_unknown(const struct parser *p, const char *word)
{
    char where[64];
    if (optopt >= FIRST_LONG) {
        snprintf(where, sizeof where, "--%s", by_value(p, optopt)->name);
        hx_die(HX_EXIT_USAGE, where, "takes no value");
    }
    if (optopt) {
        snprintf(where, sizeof where, "-%c", optopt);
        hx_die(HX_EXIT_USAGE, where, "unknown option (try '%s --help')", p->command->program);
    }
    size_t length = strcspn(word + 2, "=");
    snprintf(where, sizeof where, "--%.*s", (int)(length < 48 ? length : 48), word + 2);
    if (length && shortened(p, word + 2, length) > 1)
        hx_die(HX_EXIT_USAGE, where, "could be several options (try '%s --help')", p->command->program);
    const char *nearest = hx_nearest(where + 2, p->name_list);
    if (nearest)
        hx_die(HX_EXIT_USAGE, where, "unknown option (did you mean '--%s'?)", nearest);
    hx_die(HX_EXIT_USAGE, where, "unknown option (try '%s --help')", p->command->program);
}

_Noreturn static void die_of_missing_value(const struct parser *p)
{
    const struct hx_option *option = by_value(p, optopt);
    char where[64];
    snprintf(where, sizeof where, "--%s", option->name);
    hx_die(HX_EXIT_USAGE, where, "needs a value (%s)", hx_option_argument(option));
}

static void check_operands(const struct hx_command *c, int count, char **operands)
{
    if ((unsigned)count < c->least_operands)
        hx_die(HX_EXIT_USAGE, c->program, "%s is missing (try '%s --help')", c->operands, c->program);
    if ((unsigned)count > c->most_operands)
        hx_die(HX_EXIT_USAGE, operands[c->most_operands], "unexpected argument%s",
               c->most_operands ? " (quote a fabric that has a space: \"4x4 Hx2Mesh\")" : "");
}

int hx_options_parse(const struct hx_command *command, int argc, char **argv, struct hx_common *common)
{
    bool help = false;
    bool version = false;
    *common = (struct hx_common){0};
    struct hx_option shared[HX_COMMON_OPTIONS + 1];
    hx_common_options(command, common, &help, &version, shared);

    struct parser p = {.command = command, .letters = ":"};
    for (const struct hx_option *o = command->options; o && o->kind != HX_OPTION_END; o++)
        add_option(&p, o);
    for (const struct hx_option *o = shared; o->kind != HX_OPTION_END; o++)
        add_option(&p, o);

    opterr = 0;
    optind = 0; /* glibc: start over, with the options of this call */
    int value;
    while ((value = getopt_long(argc, argv, p.letters, p.longs, NULL)) != -1) {
        if (value == '?')
            die_of_unknown(&p, argv[optind - 1]);
        if (value == ':')
            die_of_missing_value(&p);
        apply(&p, value);
        if (help) {
            hx_options_help(command, stdout);
            exit(HX_EXIT_DONE);
        }
        if (version) {
            printf("hxmesh %s\n", HXMESH_VERSION);
            exit(HX_EXIT_DONE);
        }
    }
    check_operands(command, argc - optind, argv + optind);
    return optind;
}
