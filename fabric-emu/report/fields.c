/* fields.c - prints the keys of a report (fields.h). */
#include "fabric-emu/report/fields.h"

struct key {
    const char *name, *type, *unit, *meaning;
    const struct key *within; /* of the object, or of the objects in the list; ends with name NULL; NULL: none */
    bool list;
};

/* clang-format off */
#define KEY(key, value, unit, meaning)             {key, REPORT_TYPE_##value, unit, meaning, WITHIN_##value},
#define KEY_IF(when, key, value, unit, meaning)    KEY(key, value, unit, meaning)
#define WITHIN_COUNT(number)                NULL, false
#define WITHIN_COUNT_OR_NULL(known, number) NULL, false
#define WITHIN_REAL(number)                 NULL, false
#define WITHIN_SWITCH(on)                   NULL, false
#define WITHIN_TEXT(text)                   NULL, false
#define WITHIN_PART(keys, json)             keys, false
#define WITHIN_LIST(keys, json)             keys, true
#define WITHIN_OTHER(type, json)            NULL, false

#define KEYS(name, ...) static const struct key name[] = {__VA_ARGS__ {.type = NULL}};
KEYS(fabric_job_keys, REPORT_FABRIC_JOB(KEY, KEY_IF))
KEYS(fabric_keys, REPORT_FABRIC(KEY, KEY_IF))
KEYS(stall_keys, REPORT_STALLS(KEY))
KEYS(flows_keys, REPORT_FLOWS(KEY))
KEYS(latency_keys, REPORT_LATENCY(KEY, "latency of data packets, see below; null: no packet was measured"))
KEYS(network_latency_keys, REPORT_LATENCY(KEY, "of the same packets, from injection; only at a `--rate` below 1 under "
                                               "the virtual clock"))
KEYS(open_loop_keys, REPORT_OPEN_LOOP(KEY))
KEYS(job_keys, REPORT_JOB(KEY, KEY_IF))
KEYS(followed_keys, REPORT_FOLLOWED(KEY))
KEYS(circuits_keys, REPORT_CIRCUITS(KEY, KEY_IF))
KEYS(fault_keys, REPORT_FAULT(KEY))
KEYS(change_keys, REPORT_CHANGE(KEY))
KEYS(healthy_seconds_keys, REPORT_PAIR(KEY, "s", "of `--compare-healthy`: `seconds`, of a schedule until its last "
                                                 "operation ended"))
KEYS(healthy_gbps_keys, REPORT_PAIR(KEY, "Gb/s", "`gbps_per_host`"))
KEYS(links_left_keys, REPORT_LINKS_LEFT(KEY))
KEYS(healthy_keys, REPORT_HEALTHY(KEY, KEY_IF))
KEYS(class_keys, REPORT_CLASS(KEY))
KEYS(link_keys, REPORT_LINK(KEY))
KEYS(repeats_keys, REPORT_REPEATS(KEY))
KEYS(forward_keys, REPORT_FORWARD(KEY))
KEYS(collective_job_keys, REPORT_COLLECTIVE_JOB(KEY, KEY_IF))
KEYS(collective_keys, REPORT_COLLECTIVE(KEY, KEY_IF))
KEYS(host_keys, REPORT_HOST(KEY))
KEYS(run_keys, REPORT_RUN(KEY, KEY_IF))
/* clang-format on */

static void print_keys(FILE *out, const char *before, const struct key *keys)
{
    for (const struct key *k = keys; k->name; k++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s%s%s", before, k->name, k->list ? "[]." : k->within ? "." : "");
        if (k->within)
            print_keys(out, name, k->within);
        else
            fprintf(out, "| `%s` | %s | %s | %s |\n", name, k->type, k->unit, k->meaning);
    }
}

void report_keys_print(FILE *out)
{
    fputs("| Key | Type | Unit | Meaning |\n|---|---|---|---|\n", out);
    print_keys(out, "", run_keys);
}
