/* shares_read.c - weights from an option or a file (shares_read.h). */
#include "workload/shares_read.h"
#include "base/lines.h"
#include "base/value.h"
#include "schedule/shares.h"
#include "spec/spec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 16 * SHARES_MOST /* bytes: ten digits, a comma and space for each weight */ };

/* Reads a row of weights: one for each member, or one for all. */
static bool read_row(struct hx_lines *l, uint32_t *row, uint32_t members)
{
    char why[HX_WHY_TEXT];
    char **value = hx_allocate(members + 1, sizeof *value);
    const unsigned count = hx_lines_cut(l, value, members);
    bool good =
        count == members || count == 1 ||
        hx_lines_fail(l, NULL, "one weight for each of %" PRIu32 " members is expected, or one for all", members);
    for (uint32_t i = 0; i < members && good; i++) {
        uint64_t weight = 0;
        const char *wrong = hx_value_number(value[count == 1 ? 0 : i], 0, UINT32_MAX, &weight, why);
        good = !wrong || hx_lines_fail(l, value[count == 1 ? 0 : i], "%s", wrong);
        row[i] = (uint32_t)weight;
    }
    free(value);
    return good;
}

static bool read_rows(struct hx_lines *l, uint32_t *weight, uint32_t members)
{
    uint32_t rows = 0;
    while (hx_lines_next(l)) {
        if (rows == members)
            return hx_lines_fail(l, NULL, "one line for each of %" PRIu32 " members: this is one more", members);
        if (!read_row(l, weight + (size_t)members * rows, members))
            return false;
        rows++;
    }
    if (l->failed)
        return false;
    if (rows != members && rows != 1)
        return hx_lines_fail(l, NULL, "%" PRIu32 " lines of weights, for %" PRIu32 " members (one for each, or one)",
                             rows, members);
    for (uint32_t i = 1; i < members && rows == 1; i++)
        memcpy(weight + (size_t)members * i, weight, members * sizeof *weight);
    return true;
}

uint32_t *shares_read(const char *how, uint32_t members, struct hx_problem *problem)
{
    struct hx_lines l;
    const bool is_row = hx_shares_are_weights(how);
    const char *where = is_row ? "--shares" : how;
    if (members > SHARES_MOST) {
        (void)hx_fail(problem, HX_EXIT_CONFIG, where, "shares are of %d members at most, not of %" PRIu32, SHARES_MOST,
                      members);
        return NULL;
    }
    uint32_t *weight = hx_allocate((size_t)members * members, sizeof *weight);
    const bool is_open = is_row ? hx_lines_take(&l, where, how, strlen(how), problem)
                                : hx_lines_open_large(&l, how, LONGEST_LINE, 0, problem);
    bool good = is_open && read_rows(&l, weight, members);
    if (is_open)
        hx_lines_close(&l);
    good = good && (shares_are_good(weight, members) ||
                    hx_fail(problem, HX_EXIT_CONFIG, where, "all weights are 0, so nothing would be sent"));
    if (good)
        return weight;
    free(weight);
    return NULL;
}
