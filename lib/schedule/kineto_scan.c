/* kineto_scan.c - takes the JSON values of a Kineto trace out of a stream, one event at a time (kineto.h).
 *
 * Traces have hundreds of megabytes. So the text of a value is cut out by its brackets and strings, and only that goes
 * to the JSON parser. Values without a use are skipped unparsed. */
#include "schedule/kineto.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUE = 1 << 30, LONGEST_KEY = 64 };

struct scan {
    struct kineto_file *f;
    gzFile in;
    uint64_t at; /* byte of the unpacked file that is read next */
    char *text;  /* of the value */
    size_t length, room;
};

static int next_byte(struct scan *s)
{
    int byte = gzgetc(s->in);
    s->at += byte >= 0;
    return byte;
}

static int next_word(struct scan *s)
{
    int byte = next_byte(s);
    while (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n')
        byte = next_byte(s);
    return byte;
}

static void back(struct scan *s, int byte)
{
    if (byte >= 0 && gzungetc(byte, s->in) == byte)
        s->at--;
}

static bool fail_byte(struct scan *s, int byte, const char *expected)
{
    if (byte < 0)
        return packed_fail_end(s->in, s->f->path, s->at, expected, s->f->problem);
    return hx_fail(s->f->problem, HX_EXIT_CONFIG, s->f->path, "byte %" PRIu64 ": expected %s", s->at - 1, expected);
}

static bool keep(struct scan *s, int byte)
{
    if (s->length == MOST_VALUE)
        return hx_fail(s->f->problem, HX_EXIT_CONFIG, s->f->path, "byte %" PRIu64 ": a value of more than 1 GiB",
                       s->at);
    s->text = hx_grow(s->text, s->length, &s->room, 1);
    s->text[s->length++] = (char)byte;
    return true;
}

/* Reads the rest of a string; its opening quote is kept. */
static bool cut_string(struct scan *s)
{
    for (;;) {
        int byte = next_byte(s);
        if (byte < 0)
            return fail_byte(s, byte, "the rest of a string");
        if (!keep(s, byte))
            return false;
        if (byte == '"')
            return true;
        if (byte == '\\' && ((byte = next_byte(s)) < 0 || !keep(s, byte)))
            return fail_byte(s, byte, "the rest of a string");
    }
}

/* Cuts out the text of the value that begins with `byte`. */
static bool cut(struct scan *s, int byte)
{
    uint64_t depth = 0;
    s->length = 0;
    for (;; byte = next_byte(s)) {
        if (byte < 0)
            return fail_byte(s, byte, "the rest of a value");
        bool is_end = byte == '}' || byte == ']';
        if (depth == 0 && (is_end || byte == ',')) {
            back(s, byte);
            return true;
        }
        if (!keep(s, byte) || (byte == '"' && !cut_string(s)))
            return false;
        depth += byte == '{' || byte == '[';
        depth -= is_end;
        if (depth == 0 && (is_end || byte == '"'))
            return true;
    }
}

/* Parses the value that was cut out. NULL: sets the problem. */
static json_t *parse(struct scan *s, uint64_t place)
{
    json_error_t error;
    json_t *value = json_loadb(s->text ? s->text : "", s->length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (!value)
        (void)hx_fail(s->f->problem, HX_EXIT_CONFIG, s->f->path, "byte %" PRIu64 ": is no JSON: %s",
                      place + (uint64_t)(error.position > 0 ? error.position : 0), error.text);
    return value;
}

static bool read_event(struct scan *s, int byte)
{
    s->f->place = s->at - 1;
    json_t *event = cut(s, byte) ? parse(s, s->f->place) : NULL;
    bool good = event && (json_is_object(event) ? kineto_take_event(s->f, event)
                                                : hx_fail(s->f->problem, HX_EXIT_CONFIG, s->f->path,
                                                          "byte %" PRIu64 ": expected an event { ... }", s->f->place));
    json_decref(event);
    return good;
}

static bool read_events(struct scan *s, int byte)
{
    if (byte != '[')
        return fail_byte(s, byte, "a list of events");
    byte = next_word(s);
    if (byte == ']')
        return true;
    for (;; byte = next_word(s)) {
        if (!read_event(s, byte))
            return false;
        byte = next_word(s);
        if (byte == ']')
            return true;
        if (byte != ',')
            return fail_byte(s, byte, "',' or ']' behind an event");
    }
}

static bool read_value(struct scan *s, const char *key)
{
    int byte = next_word(s);
    uint64_t place = s->at - 1;
    if (byte < 0)
        return fail_byte(s, byte, "a value");
    if (strcmp(key, "traceEvents") == 0)
        return read_events(s, byte);
    if (!cut(s, byte))
        return false;
    if (strcmp(key, "distributedInfo") != 0)
        return true;
    json_decref(s->f->distributed);
    s->f->distributed = parse(s, place);
    return s->f->distributed != NULL;
}

/* Reads "KEY": and its value. */
static bool read_pair(struct scan *s, int byte)
{
    char key[LONGEST_KEY];
    if (byte != '"')
        return fail_byte(s, byte, "a key");
    s->length = 0;
    if (!keep(s, byte) || !cut_string(s))
        return false;
    (void)snprintf(key, sizeof key, "%.*s", (int)(s->length - 2 < LONGEST_KEY ? s->length - 2 : LONGEST_KEY),
                   s->text + 1);
    byte = next_word(s);
    return byte == ':' ? read_value(s, key) : fail_byte(s, byte, "':' behind a key");
}

static bool read_object(struct scan *s)
{
    int byte = next_word(s);
    if (byte == '[')
        return hx_fail(s->f->problem, HX_EXIT_CONFIG, s->f->path,
                       "is a list of events without sizes, as a PyTorch without Kineto writes it "
                       "(examples/pytorch/kineto.py writes its profile in full)");
    if (byte != '{')
        return fail_byte(s, byte, "'{'");
    do {
        if (!read_pair(s, next_word(s)))
            return false;
        byte = next_word(s);
    } while (byte == ',');
    return byte == '}' || fail_byte(s, byte, "',' or '}' behind a value");
}

bool kineto_scan(struct kineto_file *f, gzFile in)
{
    struct scan s = {.f = f, .in = in};
    bool good = read_object(&s);
    free(s.text);
    return good;
}
