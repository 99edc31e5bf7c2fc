/* command_line.c - prints command lines that a shell accepts (base/options/command_line.h). */
#include "base/options/command_line.h"
#include "base/options/applies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends a word, quoted if the shell needs it. */
static void write_word(FILE *line, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
    if (*word && word[strspn(word, plain)] == '\0') {
        (void)fputs(word, line);
        return;
    }
    (void)fputc('\'', line);
    for (; *word; word++) {
        if (*word == '\'')
            (void)fputs("'\\''", line);
        else
            (void)fputc(*word, line);
    }
    (void)fputc('\'', line);
}

const char *hx_command_line(const char *program, int argc, char *const *argv)
{
    static char *text;
    size_t bytes;
    free(text);
    text = NULL;
    FILE *line = open_memstream(&text, &bytes);
    if (!line)
        return program;
    (void)fputs(program, line);
    for (int i = 1; i < argc; i++) {
        (void)fputc(' ', line);
        write_word(line, argv[i]);
    }
    return fclose(line) == 0 ? text : program;
}

/* ---- all options ---- */

static void add(struct hx_arguments *a, const struct hx_option *o, const char *value)
{
    hx_arguments_add(a, "--%s", o->name);
    hx_arguments_add(a, "%s", value);
}

static void add_coordinates(struct hx_arguments *a, const struct hx_option *o, const struct hx_coordinate *at,
                            unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        hx_arguments_add(a, "--%s", o->name);
        hx_arguments_add(a, "%u,%u", at[i].addr_hi, at[i].addr_lo);
    }
}

/* Prints the shortest number that parses as this one. */
static const char *write_real(char text[HX_VALUE_TEXT], double value)
{
    for (int digits = 6; digits <= 17; digits++) {
        (void)snprintf(text, HX_VALUE_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

void hx_option_add(struct hx_arguments *a, const struct hx_option *o)
{
    char text[HX_VALUE_TEXT];
    switch (o->kind) {
    case HX_OPTION_FLAG:
        if (*o->to.flag || o->negatable)
            hx_arguments_add(a, "--%s%s", *o->to.flag ? "" : "no-", o->name);
        break;
    case HX_OPTION_STRING:
        if (*o->to.string)
            add(a, o, *o->to.string);
        break;
    case HX_OPTION_LIST:
        for (unsigned i = 0; i < o->to.list->count; i++)
            add(a, o, o->to.list->item[i]);
        break;
    case HX_OPTION_NUMBER:
        (void)snprintf(text, sizeof text, "%" PRIu64, *o->to.number);
        add(a, o, text);
        break;
    case HX_OPTION_BYTES:
        add(a, o, hx_value_write_bytes(text, *o->to.number));
        break;
    case HX_OPTION_DURATION:
        add(a, o, hx_value_write_duration(text, *o->to.number));
        break;
    case HX_OPTION_REAL:
        add(a, o, write_real(text, *o->to.real));
        break;
    case HX_OPTION_COORDINATE:
        add_coordinates(a, o, o->to.coordinate, 1);
        break;
    case HX_OPTION_COORDINATES:
        add_coordinates(a, o, o->to.coordinates->at, o->to.coordinates->count);
        break;
    case HX_OPTION_CHOICE:
        add(a, o, hx_option_is_file(o, *o->to.choice) ? *o->file : o->choices[*o->to.choice]);
        break;
    default:
        break;
    }
}

char *hx_options_line(const char *program, const char *operand, const struct hx_option *options, uint64_t run)
{
    char *text = NULL;
    size_t bytes;
    FILE *line = open_memstream(&text, &bytes);
    if (!line)
        return NULL;
    struct hx_arguments a = {.count = 0};
    for (const struct hx_option *o = options; o->kind != HX_OPTION_END; o++)
        if (hx_applies(o->applies, run))
            hx_option_add(&a, o);
    fprintf(line, "%s ", program);
    write_word(line, operand);
    for (size_t i = 0; i < a.count; i++) {
        (void)fputc(' ', line);
        write_word(line, a.item[i]);
    }
    hx_arguments_free(&a);
    (void)fclose(line);
    return text;
}
