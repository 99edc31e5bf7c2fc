/* findings.c - keeps the first breaches of rules (tools/verify/findings.h). */
#include "tools/verify/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const hx_rule_names[HX_RULES] = {[HX_RULE_HEADER] = "header",
                                             [HX_RULE_CRC] = "crc",
                                             [HX_RULE_JOB] = "job",
                                             [HX_RULE_DISTANCE] = "distance",
                                             [HX_RULE_NORTH_LAST] = "north-last",
                                             [HX_RULE_VC] = "vc",
                                             [HX_RULE_HOPS] = "hops",
                                             [HX_RULE_CLOSED] = "closed",
                                             [HX_RULE_CREDIT] = "credit",
                                             [HX_RULE_ORDER] = "order",
                                             [HX_RULE_DELIVERY] = "delivery"};

static bool before(const struct hx_finding *a, const struct hx_finding *b)
{
    if (a->loss != b->loss)
        return b->loss;
    if (a->frame != b->frame)
        return a->frame < b->frame;
    return a->rule < b->rule;
}

void hx_find(struct hx_findings_list *l, bool loss, uint64_t frame, enum hx_rule rule, const char *format, ...)
{
    struct hx_finding f = {.loss = loss, .frame = frame, .rule = rule};
    l->by_rule[rule]++;
    if (l->count == HX_FINDINGS_KEPT && !before(&f, &l->kept[l->count - 1]))
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f.what, sizeof f.what, format, arguments);
    va_end(arguments);
    unsigned at = l->count < HX_FINDINGS_KEPT ? l->count++ : l->count - 1;
    for (; at > 0 && before(&f, &l->kept[at - 1]); at--)
        l->kept[at] = l->kept[at - 1];
    l->kept[at] = f;
}

void hx_note(struct hx_findings_list *l, const char *text, uint64_t count)
{
    if (count == 0)
        return;
    unsigned at = 0;
    while (at < l->note_count && strcmp(l->notes[at].text, text) != 0)
        at++;
    if (at == HX_NOTES)
        return;
    if (at == l->note_count)
        l->notes[l->note_count++].text = text;
    l->notes[at].count += count;
}

const char *hx_note_text(char to[HX_FINDING_TEXT], const struct hx_findings_list *l, unsigned note)
{
    const bool one = l->notes[note].count == 1;
    bool left_out = false;
    char fits[HX_FINDING_TEXT];
    size_t bytes = 0;
    for (const char *at = l->notes[note].text; *at && bytes < sizeof fits - 1; at++) {
        left_out = *at == '{' ? !one : *at == '|' ? one : *at != '}' && left_out;
        if (!left_out && !strchr("{|}", *at))
            fits[bytes++] = *at;
    }
    fits[bytes] = '\0';
    (void)snprintf(to, HX_FINDING_TEXT, fits, (unsigned long long)l->notes[note].count);
    return to;
}
