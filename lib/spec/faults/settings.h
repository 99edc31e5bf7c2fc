/* settings.h - a run's settings of faults (faults.h), with the same names in a file and as options. */
#ifndef HXMESH_SPEC_FAULTS_SETTINGS_H
#define HXMESH_SPEC_FAULTS_SETTINGS_H

#include "base/options/applies.h"
#include "base/options/options.h"

#include <stdint.h>

struct hx_fault_settings {
    struct hx_option_list lines; /* of a schedule */
    const char *file;            /* of such lines, or "random"; NULL: neither */
    const char *circuits;        /* file of a plan of circuits; NULL: none */
    uint64_t mtbf_ns, mttr_ns;   /* of random faults, above 0 */
    uint64_t failures;           /* links drawn, closed from the start */
    uint64_t detect_ns;          /* virtual clock: silence after which both ends close a link, above 0 */
    uint64_t notify_ns;          /* virtual clock: from there until all nodes are notified */
    uint64_t given;              /* enum hx_given_faults */
};

enum hx_given_faults {
    HX_GIVEN_FAULT = 1 << 0,
    HX_GIVEN_FAULTS = 1 << 1,
    HX_GIVEN_MTBF = 1 << 2,
    HX_GIVEN_MTTR = 1 << 3,
    HX_GIVEN_DETECT = 1 << 4,
    HX_GIVEN_NOTIFY = 1 << 5,
    HX_GIVEN_CIRCUITS = 1 << 6,
    HX_GIVEN_FAILURES = 1 << 7
};

#define HX_FAULTS_RANDOM "random"
enum { HX_MOST_FAILURES = 10000 };
#define HX_FAULT_DEFAULTS                                                                                              \
    {                                                                                                                  \
        .mtbf_ns = 100000, .mttr_ns = 50000, .detect_ns = 3000, .notify_ns = 10000                                     \
    }

/* clang-format off */
#define HX_FAILURES_OPTION(s) \
    {.name = "failures", .key = "faults.failures", .kind = HX_OPTION_NUMBER, .to.number = &(s)->failures, .low = 0, \
     .high = HX_MOST_FAILURES, .help = "links that are dead from the start, and known to be, drawn by the --seed so " \
     "that all hosts stay joined; a larger number adds to those of a smaller one", HX_GIVEN_IN(s, HX_GIVEN_FAILURES)}
#define HX_FAULT_OPTIONS(s) \
    {.name = "fault", .key = "faults.what", .kind = HX_OPTION_LIST, .argument = "LINE", .to.list = &(s)->lines, \
     .otherwise = "nothing fails", .help = "what goes wrong, as 'a0,1/E down at 10us for 5us' or 'all loss=1%' " \
     "(docs/faults.md), several apart by semicolons; may be given again", HX_GIVEN_IN(s, HX_GIVEN_FAULT)}, \
    {.name = "faults", .key = "faults.file", .kind = HX_OPTION_STRING, .argument = "FILE", .to.string = &(s)->file, \
     .help = "a file of such lines, or the word random: they are drawn by the --seed", .otherwise = "none", \
     HX_GIVEN_IN(s, HX_GIVEN_FAULTS)}, \
    {.name = "mtbf", .key = "faults.mtbf", .kind = HX_OPTION_DURATION, .to.number = &(s)->mtbf_ns, .low = 1, \
     .high = HX_MOST_DURATION, .help = "of faults at random: mean time from one to the next, anywhere in the fabric", \
     HX_GIVEN_IN(s, HX_GIVEN_MTBF)}, \
    {.name = "mttr", .key = "faults.mttr", .kind = HX_OPTION_DURATION, .to.number = &(s)->mttr_ns, .low = 1, \
     .high = HX_MOST_DURATION, .help = "of faults at random: mean time until one is mended", \
     HX_GIVEN_IN(s, HX_GIVEN_MTTR)}, \
    HX_FAILURES_OPTION(s), \
    {.name = "detect", .key = "faults.detect", .kind = HX_OPTION_DURATION, .to.number = &(s)->detect_ns, .low = 3, \
     .high = HX_MOST_DURATION, \
     .help = "silence after which both ends of a link take it for dead: three credit frames", \
     HX_GIVEN_IN(s, HX_GIVEN_DETECT), .applies = HX_FOR_VIRTUAL}, \
    {.name = "tell", .key = "faults.tell", .kind = HX_OPTION_DURATION, .to.number = &(s)->notify_ns, .low = 0, \
     .high = HX_MOST_DURATION, .help = "from there until all others know", HX_GIVEN_IN(s, HX_GIVEN_NOTIFY), \
     .applies = HX_FOR_VIRTUAL}, \
    {.name = "circuits", .key = "circuits", .kind = HX_OPTION_STRING, .argument = "FILE", \
     .to.string = &(s)->circuits, .otherwise = "links do not change", \
     .help = "a plan of circuits, links that open and close at their times, as an optical switch does " \
     "(docs/faults.md)", HX_GIVEN_IN(s, HX_GIVEN_CIRCUITS)}
/* clang-format on */

/* Copies the values given in `over`. Strings stay the owner's. */
void hx_fault_settings_merge(struct hx_fault_settings *into, const struct hx_fault_settings *over);

/* Whether there are faults. A plan of circuits has none. */
static inline bool hx_fault_settings_any(const struct hx_fault_settings *s)
{
    return s->lines.count || s->file || s->failures;
}
/* Leaves all faults out. A plan of circuits stays. */
void hx_fault_settings_clear(struct hx_fault_settings *s);

struct hx_faults;
struct hx_fabric;
struct hx_problem;

/* Loads the schedule: given lines, lines of the file, or random faults until `until_ns`, and the plan of circuits.
 * Returns false on an error. */
bool hx_faults_load(struct hx_faults *faults, const struct hx_fault_settings *s, const struct hx_fabric *f,
                    uint64_t seed, uint64_t until_ns, struct hx_problem *problem);

#endif
