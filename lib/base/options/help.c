/* help.c - prints --help as text from the table that options.c parses; man.c, markdown.c and words.c print other
 * formats. */
#include "base/error.h"
#include "base/options/options.h"
#include "base/options/table.h"

#include <string.h>

enum { WIDTH = 80, HELP_COLUMN = 26 };

/* Prints words from `column` on, wrapped at WIDTH and indented by `indent`; keeps line feeds. */
static void print_wrapped(FILE *out, const char *text, unsigned column, unsigned indent)
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
    char choices[HX_OPTION_TEXT];
    char limits[HX_OPTION_TEXT];
    char all[3 * HX_OPTION_TEXT];
    snprintf(all, sizeof all, "%s%s%s%s", o->help, o->kind == HX_OPTION_CHOICE ? ": " : "",
             hx_option_choices(o, choices), hx_option_limits(o, limits));
    print_wrapped(out, all, HELP_COLUMN, HELP_COLUMN);
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
            print_option(out, hx_option_shown(o));
    }
}

/* Returns the letters up to the next space outside quotes, or the end. */
static size_t argument_length(const char *text)
{
    char quote = '\0';
    size_t n = 0;
    for (; text[n] && (quote || text[n] != ' '); n++) {
        if (quote)
            quote = text[n] == quote ? '\0' : quote;
        else if (text[n] == '"' || text[n] == '\'')
            quote = text[n];
    }
    return n;
}

/* Prints a command line, wrapped with backslashes. */
static void print_command(FILE *out, const char *text)
{
    enum { INDENT = 2, FURTHER = 6, END = 2 /* " \\" */ };
    size_t column = INDENT;
    fprintf(out, "%*s", INDENT, "");
    for (bool first = true; *text; first = false) {
        size_t length = argument_length(text);
        if (!first && column + 1 + length + END > WIDTH) {
            fprintf(out, " \\\n%*s", FURTHER, "");
            column = FURTHER;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)length, text);
        column += length;
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

static void print_example(FILE *out, const struct hx_example *e)
{
    enum { INDENT = 6 };
    print_command(out, e->command);
    fprintf(out, "%*s", INDENT, "");
    print_wrapped(out, e->what, INDENT, INDENT);
    fputc('\n', out);
}

void hx_print_text(const struct hx_command *command, FILE *out)
{
    struct hx_common common = {0};
    struct hx_option shared[HX_COMMON_OPTIONS + 1];
    hx_common_options(command, &common, shared);

    char operands[HX_OPTION_TEXT];
    fprintf(out, "usage: %s %s\n\n", command->program, hx_usage_of(command, operands));
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
    if (command->examples->command)
        fputs("\nExamples:\n", out);
    for (const struct hx_example *e = command->examples; e->command; e++)
        print_example(out, e);
}

void hx_options_print(const struct hx_command *command, enum hx_help_format format, FILE *out)
{
    static void (*const print[HX_HELP_FORMATS])(const struct hx_command *,
                                                FILE *) = {[HX_HELP_TEXT] = hx_print_text,
                                                           [HX_HELP_MAN] = hx_print_man,
                                                           [HX_HELP_MARKDOWN] = hx_print_markdown,
                                                           [HX_HELP_WORDS] = hx_print_words};
    if (format != HX_HELP_KEYS)
        print[format](command, out);
    else if (command->report_keys)
        command->report_keys(out);
    else
        hx_die(HX_EXIT_USAGE, "--help", "%s has no table of keys", command->program);
}
