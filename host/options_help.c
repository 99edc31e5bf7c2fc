/* options_help.c - prints --help from the same table that options.c parses by. */
#include "host/options_table.h"

#include <string.h>

enum { WIDTH = 80, HELP_COLUMN = 26 };

void hx_common_options(const struct hx_command *command, struct hx_common *common, bool *help, bool *version,
                       struct hx_option table[HX_COMMON_OPTIONS + 1])
{
    unsigned n = 0;
    table[n++] = (struct hx_option){.kind = HX_OPTION_HEADING, .help = "Common"};
    if (!command->no_json)
        table[n++] = (struct hx_option){.name = "json",
                                        .kind = HX_OPTION_STRING,
                                        .argument = "FILE",
                                        .to.string = &common->json,
                                        .help = "write the result as JSON to FILE; - is stdout"};
    table[n++] = (struct hx_option){
        .name = "quiet", .letter = 'q', .kind = HX_OPTION_FLAG, .to.flag = &common->quiet, .help = "show no progress"};
    table[n++] = (struct hx_option){
        .name = "help", .letter = 'h', .kind = HX_OPTION_FLAG, .to.flag = help, .help = "print this and exit"};
    table[n++] = (struct hx_option){.name = "version",
                                    .letter = 'V',
                                    .kind = HX_OPTION_FLAG,
                                    .to.flag = version,
                                    .help = "print the version and exit"};
    table[n] = (struct hx_option){.kind = HX_OPTION_END};
}

const char *hx_option_argument(const struct hx_option *option)
{
    static const char *const by_kind[] = {
        [HX_OPTION_HEADING] = "",      [HX_OPTION_FLAG] = "",    [HX_OPTION_STRING] = "TEXT",
        [HX_OPTION_LIST] = "TEXT",     [HX_OPTION_NUMBER] = "N", [HX_OPTION_BYTES] = "SIZE",
        [HX_OPTION_DURATION] = "TIME", [HX_OPTION_REAL] = "X",   [HX_OPTION_COORDINATE] = "gx,gy",
        [HX_OPTION_CHOICE] = "WORD",   [HX_OPTION_END] = ""};
    return option->argument ? option->argument : by_kind[option->kind];
}

/* Prints words from `column` on, broken at WIDTH and indented by `indent`; a line feed in the text is kept. Returns
 * the column it ended in. */
static unsigned print_wrapped(FILE *out, const char *text, unsigned column, unsigned indent)
{
    bool first = true;
    while (*text) {
        if (*text == '\n') {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            first = true;
            text++;
            continue;
        }
        size_t word = strcspn(text, " \n");
        bool breaks = !first && column + 1 + word > WIDTH;
        if (breaks) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)word, text);
        column += (unsigned)word;
        first = false;
        text += word;
        text += *text == ' ';
    }
    return column;
}

static void print_choices(FILE *out, const struct hx_option *o, unsigned column)
{
    char text[240] = ": ";
    for (unsigned i = 0; o->choices[i]; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", o->choices[i]);
    }
    print_wrapped(out, text, column, HELP_COLUMN);
}

static void print_option(FILE *out, const struct hx_option *o)
{
    char left[80];
    int length = snprintf(left, sizeof left, "  %c%c%s --%s%s %s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                          o->letter ? "," : " ", o->negatable ? "[no-]" : "", o->name, hx_option_argument(o));
    fputs(left, out);
    if (length >= HELP_COLUMN) {
        fputc('\n', out);
        length = 0;
    }
    fprintf(out, "%*s", HELP_COLUMN - length, "");
    unsigned column = print_wrapped(out, o->help, HELP_COLUMN, HELP_COLUMN);
    if (o->kind == HX_OPTION_CHOICE)
        print_choices(out, o, column);
    fputc('\n', out);
}

static void print_options(FILE *out, const struct hx_option *options)
{
    bool under_heading = false;
    for (const struct hx_option *o = options; o->kind != HX_OPTION_END; o++) {
        if (o->kind == HX_OPTION_HEADING)
            fprintf(out, "\n%s:\n", o->help);
        else if (!under_heading)
            fputs("\nOptions:\n", out);
        under_heading = true;
        if (o->kind != HX_OPTION_HEADING)
            print_option(out, o);
    }
}

void hx_options_help(const struct hx_command *command, FILE *out)
{
    struct hx_common common;
    bool help;
    bool version;
    struct hx_option shared[HX_COMMON_OPTIONS + 1];
    hx_common_options(command, &common, &help, &version, shared);

    fprintf(out, "usage: %s%s%s [options]\n\n", command->program, command->operands ? " " : "",
            command->operands ? command->operands : "");
    print_wrapped(out, command->summary, 0, 0);
    fputc('\n', out);
    if (command->options && command->options->kind != HX_OPTION_END)
        print_options(out, command->options);
    print_options(out, shared);
    if (command->details) {
        fputc('\n', out);
        print_wrapped(out, command->details, 0, 0);
        fputc('\n', out);
    }
}
