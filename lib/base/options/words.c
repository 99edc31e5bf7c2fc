/* words.c - prints a table of options for shell completion (tools/completion/hxmesh).
 *
 * A line per option, separated by tabs: its words, the name of its value, its choices, and "file" if it also accepts a
 * file name. Options without a value have only the words. The first line has "operands" and their name, or the possible
 * ones as "one|two". */
#include "base/options/table.h"

static void print_option(FILE *out, const struct hx_option *o)
{
    if (o->letter)
        fprintf(out, "-%c ", o->letter);
    fprintf(out, "--%s", o->name);
    if (o->negatable)
        fprintf(out, " --no-%s", o->name);
    fprintf(out, "\t%s\t", hx_option_argument(o));
    for (unsigned i = 0; o->kind == HX_OPTION_CHOICE && o->choices[i]; i++)
        if (!hx_option_is_file(o, i))
            fprintf(out, "%s%s", i ? " " : "", o->choices[i]);
    fputs(o->file ? "\tfile\n" : "\n", out);
}

static void print_options(FILE *out, const struct hx_option *options)
{
    for (const struct hx_option *o = options; o && o->kind != HX_OPTION_END; o++)
        if (o->kind != HX_OPTION_HEADING)
            print_option(out, hx_option_shown(o));
}

static void print_operand_words(const char *const *words, FILE *out)
{
    for (unsigned i = 0; words[i]; i++)
        fprintf(out, "%s%s", i ? "|" : "", words[i]);
    fputc('\n', out);
}

void hx_print_words(const struct hx_command *command, FILE *out)
{
    struct hx_common common = {0};
    struct hx_option shared[HX_COMMON_OPTIONS + 1];
    hx_common_options(command, &common, shared);
    fputs("operands\t", out);
    if (command->operand_words)
        print_operand_words(command->operand_words, out);
    else
        fprintf(out, "%s\n", command->operands ? command->operands : "");
    print_options(out, command->options);
    print_options(out, shared);
}
