/* keys_print.c - prints every key of a kind of file, for docs/options.md and manual pages (keys.h). */
#include "base/options/manual.h"
#include "base/options/table.h"
#include "base/yaml/keys.h"

#include <string.h>

struct print {
    const struct hx_yaml_kind *kind;
    enum hx_help_format format;
    FILE *out;
};

static void print_key(const struct print *p, const char *key, struct hx_option o, bool required)
{
    if (o.kind == HX_OPTION_FLAG)
        o.argument = "on, off";
    if (required)
        o.otherwise = "none: it must be there";
    if (p->format == HX_HELP_MARKDOWN) {
        fprintf(p->out, "| `%s` | ", key);
        hx_markdown_option_cells(&o, p->out);
        return;
    }
    fputs(".TP\n\\fB", p->out);
    hx_man_text(p->out, key);
    fputs("\\fR \\fI", p->out);
    hx_man_text(p->out, hx_option_argument(&o));
    fputs("\\fR\n", p->out);
    hx_man_option_text(&o, p->out);
}

/* Whether a key is directly in `outer`, which ends with its dot or brackets: "", "traffic.", "jobs[].". */
static bool is_within(const char *outer, const char *key)
{
    size_t length = strlen(outer);
    return strncmp(key, outer, length) == 0 && !strpbrk(key + length, ".[");
}

static void print_within(const struct print *p, const char *outer)
{
    for (const struct hx_option *o = p->kind->options; o->kind != HX_OPTION_END; o++)
        if (o->key && is_within(outer, o->key))
            print_key(p, o->key, *o, o->key_required);
    for (const struct hx_yaml_group *g = p->kind->groups; g->key; g++) {
        char inner[64];
        if (!is_within(outer, g->key))
            continue;
        const struct hx_option o = {
            .kind = HX_OPTION_STRING, .argument = g->argument, .help = g->help, .otherwise = ""};
        print_key(p, g->key, o, g->required);
        snprintf(inner, sizeof inner, "%s%s.", g->key, g->holds == HX_YAML_ENTRIES ? "[]" : "");
        if (g->holds == HX_YAML_KEYS || g->holds == HX_YAML_ENTRIES)
            print_within(p, inner);
    }
}

void hx_yaml_keys_print(const struct hx_yaml_kind *kind, enum hx_help_format format, FILE *out)
{
    const struct print p = {.kind = kind, .format = format, .out = out};
    if (format == HX_HELP_MARKDOWN)
        fprintf(out, "\n%s:\n\n| Key | Value | Default | |\n|---|---|---|---|\n", kind->title);
    else
        fprintf(out, ".SH KEYS\n");
    print_within(&p, "");
}
