/* load.c - loads by a libcyaml schema and says its errors in our words (host/yaml/load.h).
 *
 * libcyaml 1.3 names the wrong thing in its log: a message, then a backtrace from the inside out, of fields and list
 * entries. Its line numbers are of the thing read before, so the backtrace is used as a path, and the marks have the
 * place. */
#include "host/yaml/load.h"
#include "host/input.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_PATH = 256, MOST_KEYS = 32, LARGEST_FILE = 1 << 20 };

struct capture {
    char message[256];       /* the first one */
    char path[LONGEST_PATH]; /* of what was being read */
    char inner[64];          /* innermost step of the path, with its '.' or '[]' */
};

/* What follows `start` in a line that starts so; NULL: it does not. */
static const char *behind(const char *line, const char *start)
{
    size_t length = strlen(start);
    return strncmp(line, start, length) == 0 ? line + length : NULL;
}

/* Puts one step of the backtrace in front of those already there. */
static void prepend(struct capture *c, const char *step)
{
    char longer[2 * LONGEST_PATH];
    bool joined = c->path[0] && c->path[0] != '[';
    snprintf(longer, sizeof longer, "%s%s%s", step, joined ? "." : "", c->path);
    snprintf(c->path, sizeof c->path, "%.*s", LONGEST_PATH - 1, longer);
    if (!c->inner[0])
        snprintf(c->inner, sizeof c->inner, "%.63s", step);
}

__attribute__((format(printf, 3, 0))) static void log_line(cyaml_log_t level, void *context, const char *format,
                                                           va_list arguments)
{
    struct capture *c = context;
    char line[256];
    vsnprintf(line, sizeof line, format, arguments);
    line[strcspn(line, "\n")] = '\0';
    if (level < CYAML_LOG_ERROR)
        return;
    char step[128];
    const char *entry = behind(line, "  in sequence entry '");
    if (sscanf(line, "  in mapping field '%100[^']'", step) == 1) {
        prepend(c, step);
    } else if (entry) {
        unsigned long number = strtoul(entry, NULL, 10); /* counts from 1 */
        snprintf(step, sizeof step, "[%lu]", number ? number - 1 : 0);
        prepend(c, step);
    } else if (behind(line, "  in mapping")) {
        if (!c->path[0] && !c->inner[0])
            snprintf(c->inner, sizeof c->inner, "?"); /* a mapping before its first key */
    } else if (!c->message[0]) {
        snprintf(c->message, sizeof c->message, "%s", line);
    }
}

/* Removes the innermost step: the message is about what is around it. */
static void drop_inner(struct capture *c)
{
    size_t length = strlen(c->path);
    size_t inner = strlen(c->inner);
    if (length >= inner && strcmp(c->path + length - inner, c->inner) == 0)
        c->path[length - inner] = '\0';
    length = strlen(c->path);
    if (length && c->path[length - 1] == '.')
        c->path[length - 1] = '\0';
}

/* The keys of the mapping at `path`, for "did you mean". */
static void keys_at(const cyaml_schema_value_t *value, const char *path, const char **keys)
{
    while (*path && value) {
        if (*path == '[') {
            value = value->type == CYAML_MAPPING ? NULL : value->sequence.entry;
            path += strcspn(path, "]") + 1;
            continue;
        }
        path += *path == '.';
        size_t length = strcspn(path, ".[");
        const cyaml_schema_field_t *field = value->type == CYAML_MAPPING ? value->mapping.fields : NULL;
        while (field && field->key && (strlen(field->key) != length || strncmp(field->key, path, length) != 0))
            field++;
        value = field && field->key ? &field->value : NULL;
        path += length;
    }
    unsigned count = 0;
    if (value && value->type == CYAML_MAPPING)
        for (const cyaml_schema_field_t *f = value->mapping.fields; f->key && count < MOST_KEYS; f++)
            keys[count++] = f->key;
    keys[count] = NULL;
}

/* libcyaml's names of what it expects and of libyaml's events, as a user would say them. */
static const char *in_words(const char *name)
{
    if (behind(name, "MAPPING"))
        return "a mapping of keys";
    if (behind(name, "SEQUENCE"))
        return "a list";
    if (behind(name, "UINT") || behind(name, "INT"))
        return "a number";
    return "a single value";
}

static bool explain(const struct hx_yaml_marks *marks, const cyaml_schema_value_t *schema, struct capture *c,
                    struct hx_problem *problem)
{
    char word[128] = "";
    char other[128] = "";
    const char *count;
    if (sscanf(c->message, "Load: Unexpected key: %127[^\n]", word) == 1) {
        drop_inner(c);
        const char *keys[MOST_KEYS + 1];
        keys_at(schema, c->path, keys);
        char path[LONGEST_PATH + sizeof word + 1];
        snprintf(path, sizeof path, "%s%s%.64s", c->path, c->path[0] ? "." : "", word);
        return hx_yaml_fail_key(marks, path, problem, "unknown key '%s'%s", word, hx_did_you_mean(word, keys));
    }
    if (sscanf(c->message, "Load: Missing required mapping field: %127s", word) == 1) {
        drop_inner(c);
        return hx_yaml_fail_key(marks, c->path, problem, "key '%s' is missing", word);
    }
    if (sscanf(c->message, "Load: Expecting %127[A-Z_], got event: %127s", word, other) == 2)
        return hx_yaml_fail(marks, c->path, problem, "%s%s%s expected, found %s", c->path, c->path[0] ? ": " : "",
                            in_words(word), in_words(other));
    if (behind(c->message, "Load: Insufficient entries (") && (count = strstr(c->message, " of "))) {
        drop_inner(c);
        return hx_yaml_fail(marks, c->path, problem, "%s: at least %lu entries expected", c->path,
                            strtoul(count + 4, NULL, 10));
    }
    if ((count = behind(c->message, "Load: Excessive entries ("))) {
        drop_inner(c);
        return hx_yaml_fail(marks, c->path, problem, "%s: at most %lu entries allowed", c->path,
                            strtoul(count, NULL, 10));
    }
    if (sscanf(c->message, "Load: Invalid %*s value: '%127[^']'", word) == 1)
        return hx_yaml_fail(marks, c->path, problem, "%s: '%s' is not a number that fits", c->path, word);
    return hx_yaml_fail(marks, c->path, problem, "%s",
                        behind(c->message, "Load: ") ? c->message + 6 : "cannot be read");
}

static cyaml_config_t configuration(struct capture *capture)
{
    return (cyaml_config_t){.log_fn = capture ? log_line : NULL,
                            .log_ctx = capture,
                            .mem_fn = cyaml_mem,
                            .log_level = CYAML_LOG_ERROR,
                            .flags = CYAML_CFG_DEFAULT};
}

static bool load(struct hx_yaml_document *d, const uint8_t *text, size_t bytes, struct hx_problem *problem)
{
    struct capture capture = {.message = ""};
    cyaml_config_t config = configuration(&capture);
    cyaml_err_t error = cyaml_load_data(text, bytes, &config, d->schema, &d->data, NULL);
    if (error == CYAML_ERR_OOM)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, d->marks.file, "out of memory");
    return error == CYAML_OK || explain(&d->marks, d->schema, &capture, problem);
}

/* ---- the file itself ---- */

static bool read_file(const char *path, uint8_t **text, size_t *bytes, struct hx_problem *problem)
{
    FILE *in = hx_input_open(path, problem);
    if (!in)
        return false;
    uint8_t *buffer = hx_allocate(LARGEST_FILE + 1, 1);
    errno = 0;
    *bytes = fread(buffer, 1, LARGEST_FILE + 1, in);
    int reason = ferror(in) ? errno : 0;
    fclose(in);
    if (reason || *bytes > LARGEST_FILE) {
        free(buffer);
        return reason ? hx_input_fail(path, reason, problem)
                      : hx_fail(problem, HX_EXIT_CONFIG, path, "larger than 1 MiB: this is no fabric file");
    }
    *text = buffer;
    return true;
}

bool hx_yaml_open(struct hx_yaml_document *d, const char *path, const cyaml_schema_value_t *schema,
                  struct hx_problem *problem)
{
    return hx_yaml_open_either(d, path, schema, "", schema, problem);
}

bool hx_yaml_open_either(struct hx_yaml_document *d, const char *path, const cyaml_schema_value_t *schema,
                         const char *key, const cyaml_schema_value_t *short_schema, struct hx_problem *problem)
{
    *d = (struct hx_yaml_document){.schema = schema};
    uint8_t *text = NULL;
    size_t bytes = 0;
    if (!read_file(path, &text, &bytes, problem))
        return false;
    bool good = hx_yaml_marks_read(&d->marks, path, text, bytes, problem);
    if (good && hx_yaml_is_single(&d->marks, key))
        d->schema = short_schema;
    if (good && !load(d, text, bytes, problem)) {
        hx_yaml_close(d);
        good = false;
    }
    free(text);
    return good;
}

void hx_yaml_close(struct hx_yaml_document *d)
{
    cyaml_config_t config = configuration(NULL);
    if (d->data)
        cyaml_free(&config, d->schema, d->data, 0);
    hx_yaml_marks_free(&d->marks);
    d->data = NULL;
}
