/* findings.h - results of a verification: breaches of rules by frame, and what was not checked. */
#ifndef HXMESH_TOOLS_VERIFY_FINDINGS_H
#define HXMESH_TOOLS_VERIFY_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Breaches of one frame are reported in this order. */
enum hx_rule {
    HX_RULE_HEADER,
    HX_RULE_CRC,
    HX_RULE_JOB,
    HX_RULE_DISTANCE,
    HX_RULE_NORTH_LAST,
    HX_RULE_VC,
    HX_RULE_HOPS,
    HX_RULE_CLOSED,
    HX_RULE_ORDER,
    HX_RULE_CREDIT,
    HX_RULE_DELIVERY,
    HX_RULES
};
extern const char *const hx_rule_names[HX_RULES];

enum { HX_FINDINGS_KEPT = 100, HX_FINDING_TEXT = 200, HX_NOTES = 40 };

/* `loss`: a frame that should have followed is missing. That is known only at the end, and sorted behind all other
 * breaches. */
struct hx_finding {
    bool loss;
    uint64_t frame;
    enum hx_rule rule;
    char what[HX_FINDING_TEXT];
};

struct hx_findings_list {
    struct hx_finding kept[HX_FINDINGS_KEPT]; /* the first ones, in order */
    unsigned count;
    uint64_t by_rule[HX_RULES];
    struct {
        const char *text; /* with one %llu for the count; of {frame is|frames are} the one that fits it */
        uint64_t count;
    } notes[HX_NOTES]; /* what was not checked */
    unsigned note_count;
};

__attribute__((format(printf, 5, 6))) void hx_find(struct hx_findings_list *l, bool loss, uint64_t frame,
                                                   enum hx_rule rule, const char *format, ...);

/* Counts something that was not checked; `text` is a constant, equal for equal reasons. */
void hx_note(struct hx_findings_list *l, const char *text, uint64_t count);
/* Writes the text of a note with its count. Returns `to`. */
const char *hx_note_text(char to[HX_FINDING_TEXT], const struct hx_findings_list *l, unsigned note);

#endif
