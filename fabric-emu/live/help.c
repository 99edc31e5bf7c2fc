/* help.c - help of the program hxmesh: verbs, exit codes, files (help.h). */
#include "help.h"
#include "base/error.h"
#include "base/options/manual.h"
#include "spec/spec.h"

static const char summary[] = "A HammingMesh of real switch and endpoint firmware on one machine";

/* A fabric file. */
static const char sample[] = "fabric: 4x4 Hx2Mesh\n"
                             "name: lab\n"
                             "planes: 2\n"
                             "failed_boards: [[1, 0]]\n"
                             "jobs:\n"
                             "  - tag: 7\n"
                             "    rectangle: [[2, 2], [3, 3]]\n"
                             "traffic: {pattern: uniform, message: 64KiB, duration: 10s}\n";

static void print_text(const struct verb *verbs, FILE *out)
{
    fprintf(out, "hxmesh - %s\n\nusage: hxmesh VERB [ARGUMENTS]      hxmesh VERB --help\n\n", summary);
    for (const struct verb *v = verbs; v->name; v++)
        fprintf(out, "  %-10s %s\n", v->name, v->help);
    fprintf(out, "\nexit codes:\n");
    for (const struct hx_exit_meaning *e = hx_exit_meanings; e->meaning; e++)
        fprintf(out, "  %-10d %s\n", e->code, e->meaning);
}

static void print_man(const struct verb *verbs, FILE *out)
{
    hx_man_begin(out, "hxmesh", 1, summary);
    fputs(".SH SYNOPSIS\n.B hxmesh\n.I VERB\n[ARGUMENTS]\n.SH DESCRIPTION\n", out);
    hx_man_paragraphs(
        out, "A fabric is written as \"4x4 Hx2Mesh\": 4x4 boards of 2x2 accelerators; a *.hxm.yaml file says what "
             "that cannot. Each verb has a page of its own.");
    fputs(".SH VERBS\n", out);
    for (const struct verb *v = verbs; v->name; v++) {
        fprintf(out, ".TP\n.BR hxmesh\\-%s (1)\n", v->name);
        hx_man_text(out, v->help);
        fputc('\n', out);
    }
    hx_man_exit_codes(out, "something was lost, corrupted or broken: the page of the verb says what");
    hx_man_see_also(out, NULL);
}

static void print_markdown(const struct verb *verbs, FILE *out)
{
    fputs("## hxmesh\n\n| Verb | |\n|---|---|\n", out);
    for (const struct verb *v = verbs; v->name; v++)
        fprintf(out, "| `%s` | %s |\n", v->name, v->help);
    fputs("\nEvery verb has these options too; a verb that reports nothing has no `--json`:\n", out);
    hx_print_markdown_common(out);
    fputs("\n| Exit code | |\n|---|---|\n", out);
    for (const struct hx_exit_meaning *e = hx_exit_meanings; e->meaning; e++)
        fprintf(out, "| %d | %s |\n", e->code, e->meaning);
    hx_spec_print_keys(HX_HELP_MARKDOWN, out);
}

void help_print_fabric_page(FILE *out)
{
    hx_man_begin(out, "hxmesh-fabric", 5, "file that says what a fabric is and how it is run");
    fputs(".SH DESCRIPTION\n", out);
    hx_man_paragraphs(
        out, "YAML in a file named *.hxm.yaml, for what a spec such as \"4x4 Hx2Mesh\" cannot say. A key and the "
             "option of hxmesh run of the same meaning take the same values; an option goes before the file.");
    hx_man_paragraphs(out, "A file of traffic that it names lies beside it, unless its name begins with a /. A capture "
                           "is written where the "
                           "command runs.");
    hx_spec_print_keys(HX_HELP_MAN, out);
    fputs(".SH EXAMPLES\n.nf\n", out);
    hx_man_text(out, sample);
    fputs(".fi\n", out);
    hx_man_see_also(out, "hxmesh-run hxmesh-info hxmesh-check");
}

void help_print(const struct verb *verbs, enum hx_help_format format, FILE *out)
{
    switch (format) {
    case HX_HELP_MAN:
        print_man(verbs, out);
        break;
    case HX_HELP_MARKDOWN:
        print_markdown(verbs, out);
        break;
    case HX_HELP_WORDS:
        for (const struct verb *v = verbs; v->name; v++)
            fprintf(out, "%s\n", v->name);
        break;
    default:
        print_text(verbs, out);
    }
}
