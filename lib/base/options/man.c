/* man.c - prints a table of options as a manual page, section 1 (base/options/options.h). */
#include "base/options/applies.h"
#include "base/options/manual.h"
#include "base/options/table.h"

void hx_man_option_text(const struct hx_option *o, FILE *out)
{
    char text[HX_OPTION_TEXT];
    hx_man_text(out, o->help);
    fputs(o->kind == HX_OPTION_CHOICE ? ":\n" : "\n", out);
    if (o->kind == HX_OPTION_CHOICE) {
        hx_man_text(out, hx_option_choices(o, text));
        fputc('\n', out);
    }
    if (hx_option_limits(o, text)[0]) {
        hx_man_text(out, text + 1);
        fputc('\n', out);
    }
    if (o->applies) {
        char runs[HX_APPLIES_TEXT];
        fputs("Only for ", out);
        hx_man_text(out, hx_applies_print(runs, o->applies));
        fputs(".\n", out);
    }
}

static void print_option(FILE *out, const struct hx_option *o)
{
    fputs(".TP\n", out);
    if (o->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", out);
    fputs(o->negatable ? "\\fR[\\fBno\\-\\fR]\\fB" : "", out);
    hx_man_text(out, o->name);
    fputs("\\fR", out);
    if (hx_option_argument(o)[0]) {
        fputs(" \\fI", out);
        hx_man_text(out, hx_option_argument(o));
        fputs("\\fR", out);
    }
    fputc('\n', out);
    hx_man_option_text(o, out);
}

static void print_options(FILE *out, const struct hx_option *options)
{
    for (const struct hx_option *o = options; o && o->kind != HX_OPTION_END; o++) {
        if (o->kind != HX_OPTION_HEADING) {
            print_option(out, hx_option_shown(o));
            continue;
        }
        fputs(".SS ", out);
        hx_man_text(out, o->help);
        fputc('\n', out);
    }
}

void hx_print_man(const struct hx_command *command, FILE *out)
{
    struct hx_common common = {0};
    struct hx_option shared[HX_COMMON_OPTIONS + 1];
    hx_common_options(command, &common, shared);
    hx_man_begin(out, command->program, 1, command->summary);
    fputs(".SH SYNOPSIS\n\\fB", out);
    hx_man_text(out, command->program);
    fputs("\\fR ", out);
    char operands[HX_OPTION_TEXT];
    hx_man_text(out, hx_usage_of(command, operands));
    fputs("\n.SH DESCRIPTION\n", out);
    hx_man_paragraphs(out, command->summary);
    if (command->details) {
        fputs(".PP\n", out);
        hx_man_paragraphs(out, command->details);
    }
    fputs(".SH OPTIONS\n", out);
    print_options(out, command->options);
    print_options(out, shared);
    hx_man_examples(out, command->examples);
    hx_man_exit_codes(out, command->failed);
    hx_man_see_also(out, command->related);
}
