/* options.c - parses a command line by a table of options (base/options/options.h). */
#include "base/options/options.h"
#include "base/color.h"
#include "base/error.h"
#include "base/options/command_line.h"
#include "base/options/table.h"
#include "base/output.h"
#include "base/version.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIRST_LONG = 256, NEGATED = 1024 };

/* Input of getopt_long, and the names for "did you mean". */
struct parser {
    const struct hx_command *command;
    struct hx_common *common;
    const struct hx_option *by_index[HX_MOST_OPTIONS];
    unsigned count;
    struct option longs[2 * HX_MOST_OPTIONS + 1];
    unsigned long_count;
    char letters[2 * HX_MOST_OPTIONS + 2];
    char names[2 * HX_MOST_OPTIONS][32];            /* "--planes" */
    const char *name_list[2 * HX_MOST_OPTIONS + 1]; /* without aliases */
    unsigned name_count;
};

static void add_long(struct parser *p, const char *name, int value, int argument)
{
    p->longs[p->long_count++] = (struct option){name, argument, NULL, value};
}

static int argument_of(const struct hx_option *option)
{
    switch (option->kind) {
    case HX_OPTION_FLAG:
    case HX_OPTION_VERSION:
        return no_argument;
    case HX_OPTION_HELP:
        return optional_argument;
    default:
        return required_argument;
    }
}

static void add_option(struct parser *p, const struct hx_option *option)
{
    if (option->kind == HX_OPTION_HEADING || p->count == HX_MOST_OPTIONS)
        return;
    int argument = argument_of(option);
    int value = FIRST_LONG + (int)p->count;
    p->by_index[p->count++] = option;
    add_long(p, option->name, value, argument);
    p->name_list[p->name_count++] = option->name;
    if (option->alias)
        add_long(p, option->alias, value, argument);
    if (option->negatable) {
        char *name = p->names[p->name_count];
        snprintf(name, sizeof p->names[0], "no-%s", option->name);
        add_long(p, name, NEGATED + value, no_argument);
        p->name_list[p->name_count++] = name;
    }
    if (option->letter) {
        size_t at = strlen(p->letters);
        p->letters[at] = option->letter;
        p->letters[at + 1] = argument == required_argument ? ':' : '\0';
    }
}

static const struct hx_option *by_letter(const struct parser *p, int letter)
{
    for (unsigned i = 0; i < p->count; i++)
        if (p->by_index[i]->letter == letter)
            return p->by_index[i];
    return NULL;
}

static bool is_file(const char *text)
{
    struct stat found;
    return strpbrk(text, "/.") || (stat(text, &found) == 0 && !S_ISDIR(found.st_mode));
}

static const char *apply_choice(const struct hx_option *option, const char *text, char *why)
{
    unsigned choice = 0;
    bool is_word = !hx_value_choice(text, option->choices, &choice, why) && !hx_option_is_file(option, choice);
    if (is_word || !option->file || !is_file(text))
        return hx_value_choice(text, option->choices, option->to.choice, why);
    *option->file = text;
    *option->to.choice = option->file_kind ? option->file_kind(text) : option->file_choice;
    return NULL;
}

const char *hx_option_apply(const struct hx_option *option, const char *text, char *why)
{
    const char *wrong = NULL;
    switch (option->kind) {
    case HX_OPTION_FLAG:
        if (text)
            wrong = hx_value_switch(text, option->to.flag, why);
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
        wrong = hx_value_number(text, option->low, option->high, option->to.number, why);
        break;
    case HX_OPTION_BYTES:
        wrong = hx_value_bytes(text, option->low, option->high, option->to.number, why);
        break;
    case HX_OPTION_DURATION:
        wrong = hx_value_duration(text, option->low, option->high, option->to.number, why);
        break;
    case HX_OPTION_REAL:
        wrong = hx_value_real(text, option->real_low, option->real_high, option->to.real, why);
        break;
    case HX_OPTION_COORDINATE:
        wrong = hx_value_coordinate(text, option->to.coordinate, why);
        break;
    case HX_OPTION_COORDINATES:
        wrong = hx_value_coordinates(text, option->to.coordinates, why);
        break;
    case HX_OPTION_CHOICE:
        wrong = apply_choice(option, text, why);
        break;
    default:
        break;
    }
    if (!wrong && option->given)
        *option->given |= option->given_bit;
    return wrong;
}

static void copy_value(const struct hx_option *to, const struct hx_option *from)
{
    switch (from->kind) {
    case HX_OPTION_FLAG:
        *to->to.flag = *from->to.flag;
        break;
    case HX_OPTION_STRING:
        *to->to.string = *from->to.string;
        break;
    case HX_OPTION_LIST:
        *to->to.list = *from->to.list;
        break;
    case HX_OPTION_NUMBER:
    case HX_OPTION_BYTES:
    case HX_OPTION_DURATION:
        *to->to.number = *from->to.number;
        break;
    case HX_OPTION_REAL:
        *to->to.real = *from->to.real;
        break;
    case HX_OPTION_COORDINATE:
        *to->to.coordinate = *from->to.coordinate;
        break;
    case HX_OPTION_COORDINATES:
        *to->to.coordinates = *from->to.coordinates;
        break;
    case HX_OPTION_CHOICE:
        if (from->file)
            *to->file = *from->file;
        *to->to.choice = *from->to.choice;
        break;
    default:
        break;
    }
}

void hx_options_take(const struct hx_option *to, const struct hx_option *from)
{
    for (; from->kind != HX_OPTION_END; to++, from++) {
        if (!from->given || !(*from->given & from->given_bit))
            continue;
        copy_value(to, from);
        *to->given |= from->given_bit;
    }
}

/* Returns the option of a getopt_long value. */
static const struct hx_option *by_value(const struct parser *p, int value)
{
    if (value < FIRST_LONG)
        return by_letter(p, value);
    return p->by_index[(unsigned)(value % NEGATED - FIRST_LONG) % HX_MOST_OPTIONS];
}

/* Marks an option of the command's own table as used; common options are not in it. */
static void note_used(const struct parser *p, const struct hx_option *option)
{
    for (unsigned i = 0; p->command->options && p->command->options[i].kind != HX_OPTION_END; i++)
        p->common->used[i] = p->common->used[i] || &p->command->options[i] == option;
}

/* Formats an option for a message. */
enum { WHERE_BYTES = 64 };
static const char *where_of(char where[WHERE_BYTES], const char *name)
{
    (void)snprintf(where, WHERE_BYTES, "--%s", name);
    return where;
}

static void apply(struct parser *p, int value)
{
    bool negated = value >= NEGATED;
    const struct hx_option *option = by_value(p, value);
    const char *text = negated ? "no" : (option->kind == HX_OPTION_FLAG ? NULL : optarg);
    char why[HX_WHY_TEXT];
    const char *wrong = hx_option_apply(option, text, why);
    char where[WHERE_BYTES];
    if (wrong)
        hx_die(HX_EXIT_USAGE, where_of(where, option->name), "%s", wrong);
    note_used(p, option);
}

/* Counts the long options that `word` (of `length` letters) abbreviates. */
static unsigned shortened(const struct parser *p, const char *word, size_t length)
{
    unsigned count = 0;
    for (unsigned i = 0; i < p->long_count; i++)
        count += strncmp(p->longs[i].name, word, length) == 0;
    return count;
}

/* Handles '?' of getopt_long: optopt is an option that takes no value, or an unknown letter. If it is 0, `word`, the
 * argument itself, is an unknown or ambiguous long option. */
_Noreturn static void die_of_unknown(const struct parser *p, const char *word)
{
    char where[WHERE_BYTES];
    if (optopt >= FIRST_LONG)
        hx_die(HX_EXIT_USAGE, where_of(where, by_value(p, optopt)->name), "takes no value");
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
    char where[WHERE_BYTES];
    hx_die(HX_EXIT_USAGE, where_of(where, option->name), "needs a value (%s)", hx_option_argument(option));
}

/* Explains an extra argument: most often a fabric. */
_Noreturn static void die_of_operand(const struct parser *p, const char *operand)
{
    const struct hx_command *c = p->command;
    if (!c->most_operands)
        hx_die(HX_EXIT_USAGE, operand, "unexpected argument (%s takes options alone: try '%s --help')", c->program,
               c->program);
    for (unsigned i = 0; p->name_list[i]; i++)
        if (strcmp(p->name_list[i], "fabric") == 0)
            hx_die(HX_EXIT_USAGE, operand, "unexpected argument (say a fabric by --fabric: --fabric \"4x4 Hx2Mesh\")");
    if (strncmp(c->operands, "SPEC", 4) == 0)
        hx_die(HX_EXIT_USAGE, operand, "unexpected argument (quote a fabric that has a space: \"4x4 Hx2Mesh\")");
    hx_die(HX_EXIT_USAGE, operand, "unexpected argument (%s takes %s: try '%s --help')", c->program, c->operands,
           c->program);
}

static void check_operands(const struct parser *p, int count, char **operands)
{
    const struct hx_command *c = p->command;
    if ((unsigned)count < c->least_operands)
        hx_die(HX_EXIT_USAGE, c->program, "%s is missing (try '%s --help')", c->operands, c->program);
    if ((unsigned)count > c->most_operands)
        die_of_operand(p, operands[c->most_operands]);
}

enum hx_help_format hx_help_format(const char *word)
{
    static const char *const words[HX_HELP_FORMATS + 1] = {"text", "man", "markdown", "words", "keys", NULL};
    unsigned format = HX_HELP_TEXT;
    char why[HX_WHY_TEXT];
    const char *wrong = word ? hx_value_choice(word, words, &format, why) : NULL;
    if (wrong)
        hx_die(HX_EXIT_USAGE, "--help", "%s", wrong);
    return format;
}

/* Answers --help and --version before any value is stored, while targets hold the defaults. Works on a copy, since
 * getopt reorders its arguments and later errors need their order. */
static void answer_questions(const struct parser *p, int argc, char **given)
{
    char **argv = hx_allocate((size_t)argc + 1, sizeof *argv);
    memcpy(argv, given, (size_t)argc * sizeof *argv);
    bool answered = false;
    int value;
    optind = 0; /* glibc: restart with the options of this call */
    while (!answered && (value = getopt_long(argc, argv, p->letters, p->longs, NULL)) != -1) {
        if (value == '?' || value == ':')
            continue;
        enum hx_option_kind kind = by_value(p, value)->kind;
        if (kind == HX_OPTION_HELP)
            hx_options_print(p->command, hx_help_format(optarg), stdout);
        if (kind == HX_OPTION_VERSION)
            printf("hxmesh %s\n", HXMESH_VERSION);
        answered = kind == HX_OPTION_HELP || kind == HX_OPTION_VERSION;
    }
    free(argv);
    if (answered)
        exit(HX_EXIT_DONE);
}

int hx_options_parse(const struct hx_command *command, int argc, char **argv, struct hx_common *common)
{
    if (!command->called)
        hx_output_guard();
    *common = (struct hx_common){.started = time(NULL), .line = hx_command_line(command->program, argc, argv)};
    struct hx_option shared[HX_COMMON_OPTIONS + 1];
    hx_common_options(command, common, shared);

    struct parser p = {.command = command, .common = common, .letters = ":"};
    for (const struct hx_option *o = command->options; o && o->kind != HX_OPTION_END; o++)
        add_option(&p, o);
    for (const struct hx_option *o = shared; o->kind != HX_OPTION_END; o++)
        add_option(&p, o);

    opterr = 0;
    if (!command->called)
        answer_questions(&p, argc, argv);
    optind = 0;
    int value;
    while ((value = getopt_long(argc, argv, p.letters, p.longs, NULL)) != -1) {
        if (value == '?')
            die_of_unknown(&p, argv[optind - 1]);
        if (value == ':')
            die_of_missing_value(&p);
        apply(&p, value);
    }
    if (!command->called)
        hx_color_choose((enum hx_color)common->color);
    check_operands(&p, argc - optind, argv + optind);
    return optind;
}

static bool is_used(const struct hx_command *command, const struct hx_common *common, const char *name)
{
    unsigned i = 0;
    while (command->options[i].kind == HX_OPTION_HEADING || strcmp(command->options[i].name, name) != 0)
        i++;
    return common->used[i];
}

void hx_options_need(const struct hx_command *command, const struct hx_common *common, const char *needed,
                     const char *const names[])
{
    char where[WHERE_BYTES];
    for (unsigned i = 0; names[i] && !is_used(command, common, needed); i++)
        if (is_used(command, common, names[i]))
            hx_die(HX_EXIT_USAGE, where_of(where, names[i]), "says nothing without --%s", needed);
}

void hx_options_apart(const struct hx_command *command, const struct hx_common *common, const char *one,
                      const char *const others[])
{
    for (unsigned i = 0; others[i] && is_used(command, common, one); i++)
        if (is_used(command, common, others[i]))
            hx_die(HX_EXIT_USAGE, command->program, "give --%s or --%s, not both", one, others[i]);
}

void hx_options_refuse(const struct hx_command *command, const struct hx_common *common, const char *const names[],
                       const char *why)
{
    char where[WHERE_BYTES];
    for (unsigned i = 0; names[i]; i++)
        if (is_used(command, common, names[i]))
            hx_die(HX_EXIT_USAGE, where_of(where, names[i]), "%s", why);
}
