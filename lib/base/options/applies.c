/* applies.c - checks and prints the runs that an option applies to (applies.h). */
#include "base/options/applies.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* Clocks and patterns: each word of a group has a bit. */
static const struct group {
    uint64_t mask;
    unsigned first_bit;
    const char *const *names; /* ends with NULL */
    const char *words[2];     /* by enum hx_applies_words */
} groups[] = {{HX_FOR_ANY_CLOCK, 0, hx_clock_names, {"--clock", "clock:"}},
              {HX_FOR_ANY_PATTERN, HX_FIRST_PATTERN_BIT, hx_pattern_names, {"--traffic", "pattern:"}}};
enum { GROUPS = sizeof groups / sizeof *groups };

static bool fits(const struct group *g, uint64_t option, uint64_t run)
{
    uint64_t wanted = option & g->mask;
    return !wanted || wanted & run;
}

bool hx_applies(uint64_t option, uint64_t run)
{
    bool all = true;
    for (unsigned i = 0; i < GROUPS; i++)
        all = all && fits(&groups[i], option, run);
    return all;
}

/* Appends "incast, hotspot or broadcast". */
static void add_names(char *text, size_t bytes, const struct group *g, uint64_t mask)
{
    uint64_t left = (mask & g->mask) >> g->first_bit;
    for (unsigned i = 0; g->names[i]; i++) {
        if (!(left >> i & 1U))
            continue;
        left &= ~(UINT64_C(1) << i);
        size_t used = strlen(text);
        (void)snprintf(text + used, bytes - used, "%s%s", g->names[i],
                       left == 0             ? ""
                       : (left & (left - 1)) ? ", "
                                             : " or ");
    }
}

const char *hx_applies_print(char *text, uint64_t option)
{
    text[0] = '\0';
    for (unsigned i = 0; i < GROUPS; i++) {
        if (!(option & groups[i].mask))
            continue;
        size_t used = strlen(text);
        (void)snprintf(text + used, HX_APPLIES_TEXT - used, "%s%s ", used ? "; " : "", groups[i].words[0]);
        add_names(text, HX_APPLIES_TEXT, &groups[i], option);
    }
    return text;
}

const char *hx_applies_wrong(const struct hx_option *option, uint64_t run, enum hx_applies_words words, char *why)
{
    for (unsigned i = 0; i < GROUPS; i++) {
        if (fits(&groups[i], option->applies, run))
            continue;
        (void)hx_why(why, "is for %s ", groups[i].words[words]);
        add_names(why, HX_WHY_TEXT, &groups[i], option->applies);
        size_t used = strlen(why);
        (void)snprintf(why + used, HX_WHY_TEXT - used, ", not ");
        add_names(why, HX_WHY_TEXT, &groups[i], run);
        used = strlen(why);
        if (option->instead)
            (void)snprintf(why + used, HX_WHY_TEXT - used, " (%s)", option->instead);
        return why;
    }
    return NULL;
}

void hx_options_check(const struct hx_command *command, const struct hx_common *common, uint64_t run)
{
    for (unsigned i = 0; command->options[i].kind != HX_OPTION_END; i++) {
        const struct hx_option *o = &command->options[i];
        char why[HX_WHY_TEXT];
        const char *wrong = common->used[i] ? hx_applies_wrong(o, run, HX_APPLIES_OPTIONS, why) : NULL;
        char where[64];
        (void)snprintf(where, sizeof where, "--%s", o->name ? o->name : "");
        if (wrong)
            hx_die(HX_EXIT_USAGE, where, "%s", wrong);
    }
}
