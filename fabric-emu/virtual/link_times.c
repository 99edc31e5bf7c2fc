/* link_times.c - see link_times.h. */
#include "link_times.h"
#include "base/error.h"

struct link_times link_times_detected(const struct hx_link_change *change, size_t changes, uint64_t detect_ns)
{
    struct link_times times = {.of = hx_allocate(changes, sizeof *times.of)};
    bool shut = false;
    for (size_t i = 0; i < changes; i++) {
        bool down = change[i].state.down;
        uint64_t known = change[i].at_ns + detect_ns;
        while (i + 1 < changes && change[i + 1].state.down == down)
            i++;
        bool stays = i + 1 == changes || change[i + 1].at_ns > known;
        if (!stays || down == shut)
            continue;
        shut = down;
        times.of[times.count++] = (struct link_time){known, shut};
    }
    return times;
}

struct link_times link_times_planned(const struct hx_link_change *change, size_t changes)
{
    struct link_times times = {.of = hx_allocate(changes, sizeof *times.of)};
    bool shut = false;
    for (size_t i = 0; i < changes; i++) {
        if (change[i].state.closed == shut)
            continue;
        shut = change[i].state.closed;
        times.of[times.count++] = (struct link_time){change[i].at_ns, shut};
    }
    return times;
}

struct link_times link_times_of_either(const struct link_times *a, const struct link_times *b)
{
    struct link_times times = {.of = hx_allocate(a->count + b->count, sizeof *times.of)};
    bool shut = false;
    for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
        bool first = j == b->count || (i < a->count && a->of[i].ns <= b->of[j].ns);
        uint64_t ns = first ? a->of[i].ns : b->of[j].ns;
        while (i < a->count && a->of[i].ns == ns)
            i++;
        while (j < b->count && b->of[j].ns == ns)
            j++;
        bool either = (i && a->of[i - 1].shut) || (j && b->of[j - 1].shut);
        if (either == shut)
            continue;
        shut = either;
        times.of[times.count++] = (struct link_time){ns, shut};
    }
    return times;
}

bool link_times_shut(const struct link_times *times, uint64_t ns)
{
    size_t low = 0;
    for (size_t high = times->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (times->of[middle].ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low && times->of[low - 1].shut;
}
