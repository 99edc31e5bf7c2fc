/* hostfile.c - reads the machines of a run by ranks (hostfile.h). */
#include "hostfile.h"
#include "base/lines.h"
#include "base/value.h"
#include "spec/spec.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t";

/* mpirun gives a name to ssh, so it must not look like an option. */
static bool is_host(const char *word)
{
    bool good = isalnum((unsigned char)*word);
    for (; *word; word++)
        good = good && (isalnum((unsigned char)*word) || strchr("._-", *word));
    return good;
}

/* Reads "KEY=N". Returns false if the word is not of that key. */
static bool take_number(const struct hx_lines *l, const char *word, const char *key, uint64_t *number, bool *good)
{
    char why[HX_WHY_TEXT];
    size_t bytes = strlen(key);
    if (strncmp(word, key, bytes) != 0 || word[bytes] != '=')
        return false;
    const char *wrong = hx_value_number(word + bytes + 1, 1, HX_MOST_RANKS, number, why);
    if (wrong)
        *good = hx_lines_fail(l, word, "%s: %s", key, wrong);
    return true;
}

static bool take_line(const struct hx_lines *l, FILE *out, struct hostfile *h)
{
    char *rest;
    const char *host = strtok_r(l->text, blanks, &rest);
    uint64_t slots = 1;
    uint64_t most;
    bool good = is_host(host) || hx_lines_fail(l, host, "'%s' is no name of a machine (HOST slots=N)", host);
    for (const char *word; good && (word = strtok_r(NULL, blanks, &rest));) {
        if (!take_number(l, word, "slots", &slots, &good) && !take_number(l, word, "max_slots", &most, &good) &&
            !take_number(l, word, "max-slots", &most, &good))
            good = hx_lines_fail(l, word, "'%s' is neither slots=N nor max_slots=N", word);
    }
    fprintf(out, "%s%s:%llu", h->slots ? "," : "", host, (unsigned long long)slots);
    h->slots += slots;
    return good;
}

bool hostfile_read(struct hostfile *h, const char *path, struct hx_problem *problem)
{
    struct hx_lines lines;
    size_t bytes;
    *h = (struct hostfile){.slots = 0};
    if (!hx_lines_open(&lines, path, problem))
        return false;
    FILE *out = open_memstream(&h->hosts, &bytes);
    if (!out)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "no memory for a list of machines");
    bool good = true;
    while (good && hx_lines_next(&lines))
        good = take_line(&lines, out, h);
    (void)fclose(out);
    if (good && !lines.failed && h->slots == 0)
        good = hx_fail(problem, HX_EXIT_CONFIG, path, "names no machine (a line for each: HOST slots=N)");
    good = good && !lines.failed;
    hx_lines_close(&lines);
    if (good)
        return true;
    free(h->hosts);
    h->hosts = NULL;
    return false;
}
