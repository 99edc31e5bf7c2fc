/* manual.c - manual pages and Markdown tables (base/options/manual.h). */
#include "base/options/manual.h"
#include "base/error.h"
#include "base/version.h"

#include <ctype.h>
#include <string.h>

static void put_title(FILE *out, const char *name)
{
    for (; *name; name++)
        fputc(*name == ' ' ? '-' : toupper((unsigned char)*name), out);
}

void hx_man_begin(FILE *out, const char *name, unsigned section, const char *what)
{
    const char *end = strstr(what, ". ");
    size_t length = end ? (size_t)(end - what) : strlen(what);
    length -= !end && length && what[length - 1] == '.';
    fputs(".TH ", out);
    put_title(out, name);
    fprintf(out, " %u \"\" \"hxmesh %s\" \"hxmesh\"\n.SH NAME\n", section, HXMESH_VERSION);
    for (; *name; name++) {
        const char letter[] = {*name == ' ' ? '-' : *name, '\0'};
        hx_man_text(out, letter);
    }
    fputs(" \\- ", out);
    char first[512];
    snprintf(first, sizeof first, "%.*s", (int)length, what);
    hx_man_text(out, first);
    fputc('\n', out);
}

void hx_man_text(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\\')
            fputs("\\e", out);
        else if (*c == '-')
            fputs("\\-", out);
        else if (c == text && (*c == '.' || *c == '\''))
            fprintf(out, "\\&%c", *c);
        else
            fputc(*c, out);
    }
}

void hx_man_paragraphs(FILE *out, const char *text)
{
    while (*text) {
        char line[2048];
        size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        if (length)
            hx_man_text(out, line);
        else
            fputs(".PP", out);
        fputc('\n', out);
        text += length + (text[length] == '\n');
    }
}

void hx_man_exit_codes(FILE *out, const char *failed)
{
    fputs(".SH EXIT STATUS\n", out);
    for (const struct hx_exit_meaning *e = hx_exit_meanings; e->meaning; e++) {
        if (e->code == HX_EXIT_FAILED && !failed)
            continue;
        fprintf(out, ".TP\n.B %d\n", e->code);
        hx_man_text(out, e->code == HX_EXIT_FAILED ? failed : e->meaning);
        fputc('\n', out);
    }
}

void hx_man_examples(FILE *out, const struct hx_example *examples)
{
    if (examples->command)
        fputs(".SH EXAMPLES\n", out);
    for (const struct hx_example *e = examples; e->command; e++) {
        fputs(".TP\n.B ", out);
        hx_man_text(out, e->command);
        fputc('\n', out);
        hx_man_text(out, e->what);
        fputc('\n', out);
    }
}

void hx_man_see_also(FILE *out, const char *related)
{
    fputs(".SH SEE ALSO\n", out);
    for (const char *page = related ? related : ""; *page; page += strcspn(page, " "), page += *page == ' ') {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(page, " "), page);
        fputs(".BR ", out);
        hx_man_text(out, name);
        fputs(" (1),\n", out);
    }
    fputs(".BR hxmesh (1),\n.BR hxmesh\\-fabric (5)\n.PP\nPages that are named docs/... are installed in "
          "PREFIX/share/doc/hxmesh/docs, examples in PREFIX/share/hxmesh/examples.\n",
          out);
}

void hx_markdown_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|' || *text == '*' || *text == '<' || *text == '_')
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}
