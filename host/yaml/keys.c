/* keys.c - walks a schema and says what each key is (host/yaml/keys.h). */
#include "host/yaml/keys.h"
#include "host/options/manual.h"
#include "host/options/table.h"

#include <string.h>

enum { LONGEST_PATH = 96 };

struct walk {
    const struct hx_yaml_keys *keys;
    enum hx_help_format format;
    FILE *out;
};

static const struct hx_option *by_name(const struct hx_option *options, const char *name)
{
    for (const struct hx_option *o = options; o->kind != HX_OPTION_END; o++)
        if (o->name && strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

/* What says of the key at a path; paths in lists have "[]". */
static struct hx_option option_of(const struct hx_yaml_keys *keys, const char *path)
{
    const struct hx_option *found = by_name(keys->others, path);
    for (unsigned i = 0; i < keys->count; i++)
        if (strcmp(keys->values[i].path, path) == 0)
            found = by_name(keys->options, keys->values[i].option);
    if (found)
        return *found;
    hx_die(HX_EXIT_CONFIG, path, "this key has no description");
}

static void print_key(const struct walk *w, const char *path, struct hx_option o, bool required)
{
    if (o.kind == HX_OPTION_FLAG)
        o.argument = "on, off";
    if (required)
        o.otherwise = "none: it must be there";
    if (w->format == HX_HELP_MARKDOWN) {
        fprintf(w->out, "| `%s` | ", path);
        hx_markdown_option_cells(&o, w->out);
        return;
    }
    fputs(".TP\n\\fB", w->out);
    hx_man_text(w->out, path);
    fputs("\\fR \\fI", w->out);
    hx_man_text(w->out, hx_option_argument(&o));
    fputs("\\fR\n", w->out);
    hx_man_option_text(&o, w->out);
}

static void walk_fields(const struct walk *w, const cyaml_schema_field_t *fields, const char *prefix)
{
    for (const cyaml_schema_field_t *f = fields; f->key; f++) {
        const cyaml_schema_value_t *value = &f->value;
        bool list = value->type == CYAML_SEQUENCE && value->sequence.entry->type == CYAML_MAPPING;
        char path[LONGEST_PATH];
        snprintf(path, sizeof path, "%s%s", prefix, f->key);
        print_key(w, path, option_of(w->keys, path), !(value->flags & CYAML_FLAG_OPTIONAL));
        size_t used = strlen(path);
        snprintf(path + used, sizeof path - used, "%s.", list ? "[]" : "");
        if (list)
            walk_fields(w, value->sequence.entry->mapping.fields, path);
        else if (value->type == CYAML_MAPPING)
            walk_fields(w, value->mapping.fields, path);
    }
}

void hx_yaml_keys_print(const struct hx_yaml_keys *keys, enum hx_help_format format, FILE *out)
{
    const struct walk w = {.keys = keys, .format = format, .out = out};
    if (format == HX_HELP_MARKDOWN)
        fprintf(out, "\n%s:\n\n| Key | Value | Default | |\n|---|---|---|---|\n", keys->title);
    else
        fprintf(out, ".SH KEYS\n");
    walk_fields(&w, keys->fields, "");
}
