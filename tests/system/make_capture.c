/* make_capture - writes a capture of the model in tests/support/support_capture.h, good or broken, for command line
 * tests.
 *
 *     make_capture FILE [NAME=NUMBER...] [break=RULE] [comment=TEXT]
 *
 * NAME: a b x y planes messages bytes credits wire crc snaplen seed lose greedy. With break= it prints the number of
 * the frame that a verifier must name. */
#include "tests/support/support_capture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct wish {
    struct sim_settings set;
    const char *rule, *comment;
};

static bool take_number(struct sim_settings *s, const char *name, unsigned value)
{
    struct {
        const char *name;
        unsigned *to;
    } numbers[] = {{"a", &s->a},
                   {"b", &s->b},
                   {"x", &s->x},
                   {"y", &s->y},
                   {"planes", &s->planes},
                   {"messages", &s->messages},
                   {"bytes", &s->bytes},
                   {"credits", &s->credits},
                   {"snaplen", &s->snaplen},
                   {"lose", &s->lose}};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(name, numbers[i].name) == 0) {
            *numbers[i].to = value;
            return true;
        }
    bool known = true;
    if (strcmp(name, "wire") == 0)
        s->wire = value;
    else if (strcmp(name, "crc") == 0)
        s->crc = value;
    else if (strcmp(name, "greedy") == 0)
        s->greedy = value;
    else if (strcmp(name, "seed") == 0)
        s->seed = value;
    else
        known = false;
    return known;
}

static bool take(struct wish *w, char *word)
{
    char *value = strchr(word, '=');
    if (!value)
        return false;
    *value++ = '\0';
    if (strcmp(word, "break") == 0)
        w->rule = value;
    else if (strcmp(word, "comment") == 0)
        w->comment = value;
    else
        return take_number(&w->set, word, (unsigned)strtoul(value, NULL, 10));
    return true;
}

int main(int argc, char **argv)
{
    struct wish w = {.set = sim_default};
    for (int i = 2; i < argc; i++)
        if (!take(&w, argv[i])) {
            fprintf(stderr, "make_capture: '%s'?\n", argv[i]);
            return 2;
        }
    if (argc < 2)
        return 2;
    struct sim_capture c;
    sim_run(&c, &w.set);
    c.comment = w.comment;
    if (w.rule) {
        uint64_t frame = sim_break(&c, w.rule);
        if (frame == 0) {
            fprintf(stderr, "make_capture: this capture has no place to break '%s'\n", w.rule);
            return 1;
        }
        printf("%" PRIu64 "\n", frame);
    }
    FILE *out = fopen(argv[1], "wb");
    bool good = out && sim_write(&c, out, NULL);
    good = out && fclose(out) == 0 && good;
    sim_free(&c);
    return good ? 0 : 4;
}
