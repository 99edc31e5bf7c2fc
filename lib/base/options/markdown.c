/* markdown.c - prints a table of options as a section of docs/options.md (base/options/options.h), without common
 * options, which hx_print_markdown_common() prints once. */
#include "base/options/applies.h"
#include "base/options/manual.h"
#include "base/options/options.h"
#include "base/options/table.h"

void hx_markdown_option_cells(const struct hx_option *o, FILE *out)
{
    char text[HX_OPTION_TEXT];
    const char *range = hx_option_range(o, text);
    hx_markdown_text(out, hx_option_argument(o));
    if (range)
        fprintf(out, ", %s", range);
    fputs(o->kind == HX_OPTION_CHOICE ? ": " : "", out);
    hx_markdown_text(out, hx_option_choices(o, text));
    const char *default_value = hx_option_default(o, text);
    fputs(" | ", out);
    hx_markdown_text(out, default_value ? default_value : "");
    fputs(" | ", out);
    hx_markdown_text(out, o->help);
    if (o->applies) {
        char runs[HX_APPLIES_TEXT];
        fputs(". Only for ", out);
        hx_markdown_text(out, hx_applies_print(runs, o->applies));
    }
    fputs(" |\n", out);
}

static void print_option(const struct hx_option *o, FILE *out)
{
    fputs("| ", out);
    if (o->letter)
        fprintf(out, "`-%c` ", o->letter);
    fprintf(out, "`--%s%s` | ", o->negatable ? "[no-]" : "", o->name);
    hx_markdown_option_cells(o, out);
}

static void print_options(const struct hx_option *options, FILE *out)
{
    bool head = false;
    for (const struct hx_option *o = options; o && o->kind != HX_OPTION_END; o++) {
        if (o->kind == HX_OPTION_HEADING)
            fprintf(out, "\n%s:\n", o->help);
        if (o->kind == HX_OPTION_HEADING || !head)
            fputs("\n| Option | Value | Default | |\n|---|---|---|---|\n", out);
        head = true;
        if (o->kind != HX_OPTION_HEADING)
            print_option(hx_option_shown(o), out);
    }
}

void hx_print_markdown(const struct hx_command *command, FILE *out)
{
    fprintf(out, "\n## %s\n\n", command->program);
    char operands[HX_OPTION_TEXT];
    fprintf(out, "`%s %s`: ", command->program, hx_usage_of(command, operands));
    hx_markdown_text(out, command->summary);
    fputc('\n', out);
    print_options(command->options, out);
    if (command->file_keys)
        command->file_keys(HX_HELP_MARKDOWN, out);
}

void hx_print_markdown_common(FILE *out)
{
    static const struct hx_command any = {.program = ""};
    struct hx_common common = {0};
    struct hx_option shared[HX_COMMON_OPTIONS + 1];
    hx_common_options(&any, &common, shared);
    print_options(shared + 1, out); /* without their heading */
}
