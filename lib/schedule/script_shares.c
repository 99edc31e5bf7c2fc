/* script_shares.c - the weights of an all-to-all in a script (script.h). */
#include "base/value.h"
#include "schedule/script.h"
#include "schedule/shares.h"

#include <inttypes.h>
#include <stdlib.h>

static bool read_weight(const struct script *s, const struct hx_yaml_item *item, uint32_t *weight)
{
    char why[HX_WHY_TEXT];
    uint64_t number = 0;
    if (!script_expect_value(s, item))
        return false;
    const char *wrong = hx_value_number(item->text, 0, UINT32_MAX, &number, why);
    *weight = (uint32_t)number;
    return !wrong || script_fail(s, item, 0, "a weight is expected here: %s", wrong);
}

static bool read_row(const struct script *s, const struct hx_yaml_item *list, struct script_shares *shares)
{
    unsigned next = shares->first[shares->rows];
    if (list->shape != HX_YAML_LIST || !list->entries)
        return script_fail(s, list, 0, "a list of weights is expected here: [4, 1, 1, 1]");
    for (const struct hx_yaml_item *item = hx_yaml_first(list); item; item = hx_yaml_next(list, item)) {
        if (!read_weight(s, item, &shares->weight[next++]))
            return false;
    }
    shares->first[++shares->rows] = next;
    return true;
}

bool script_shares_read(const struct script *s, const struct hx_yaml_item *item, struct script_shares *shares)
{
    if (item->shape != HX_YAML_LIST || !item->entries)
        return script_fail(s, item, 0, "a list of weights is expected here, or one for each member: [4, 1, 1, 1]");
    const struct hx_yaml_item *row = hx_yaml_first(item);
    const bool is_row = row->shape != HX_YAML_LIST;
    size_t weights = is_row ? item->entries : 0;
    for (; row && !is_row; row = hx_yaml_next(item, row))
        weights += row->entries;
    shares->item = item;
    shares->weight = hx_allocate(weights + 1, sizeof *shares->weight);
    shares->first = hx_allocate(item->entries + 1, sizeof *shares->first);
    if (is_row)
        return read_row(s, item, shares);
    for (row = hx_yaml_first(item); row; row = hx_yaml_next(item, row)) {
        if (!read_row(s, row, shares))
            return false;
    }
    return true;
}

void script_shares_free(struct script_shares *shares)
{
    HX_FREE(shares->weight, shares->first);
}

/* Whether a list has an entry for each member, or one for all. */
static bool fits(const struct script *s, const struct script_shares *shares, const char *what, unsigned count,
                 uint32_t members)
{
    return count == 1 || count == members ||
           script_fail(s, shares->item, 0, "%u %s for a group of %" PRIu32 " (one for each, or one for all)", count,
                       what, members);
}

bool script_shares_add(const struct script *s, const struct script_shares *shares, struct schedule_builder *b,
                       uint32_t members, uint32_t *tag)
{
    if (members > SHARES_MOST)
        return script_fail(s, shares->item, 0, "shares are of %d members at most, not of %" PRIu32, SHARES_MOST,
                           members);
    if (!fits(s, shares, "rows of weights", shares->rows, members))
        return false;
    uint32_t *weight = hx_allocate((size_t)members * members, sizeof *weight);
    bool good = true;
    for (uint32_t i = 0; i < members && good; i++) {
        const unsigned *first = shares->first + (shares->rows == 1 ? 0 : i);
        const unsigned count = first[1] - first[0];
        good = fits(s, shares, "weights", count, members);
        for (uint32_t j = 0; j < members && good; j++)
            weight[(size_t)i * members + j] = shares->weight[first[0] + (count == 1 ? 0 : j)];
    }
    good = good && (shares_are_good(weight, members) ||
                    script_fail(s, shares->item, 0, "all weights are 0, so nothing would be sent"));
    if (good)
        *tag = schedule_add_shares(b, weight, members);
    free(weight);
    return good;
}
