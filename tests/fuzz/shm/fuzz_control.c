/* fuzz_control.c - requests of other processes to a running fabric, and passing time. Any text is taken as a fault, or
 * refused in one line. The list is in order, conditions of links are possible, and captures can read each begun fault.
 * libFuzzer's entry; seeds in corpus/control.
 *
 * An input is lines: "+12" advances 12 ms, "?" requests the list, any other line is a request as it is, byte by
 * byte. */
#include "fabric-emu/live/faults.h"
#include "fabric-emu/live/request.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/shm/support_shm.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 12, PORTS = 5 };

static struct support s; /* made once */
static struct faults faults;
static uint64_t now_ns, deaths;

/* ---- requests ---- */

static void ask(const char *bytes, size_t length)
{
    struct fab_request *r = &s.f.control->request;
    memset(r->line, 'x', sizeof r->line); /* a request may have no end */
    memcpy(r->line, bytes, length < sizeof r->line ? length : sizeof r->line);
    if (length < sizeof r->line)
        r->line[length] = '\0';
    atomic_fetch_add(&r->asked, 1);
    faults_answer(&faults, now_ns);
    require(atomic_load(&r->answered) == atomic_load(&r->asked));
    require(memchr(r->answer, '\0', sizeof r->answer) != NULL && !strchr(r->answer, '\n'));
    require(r->code == HX_EXIT_DONE || r->answer[0]);
}

static size_t of(const json_t *list, const char *key)
{
    return (size_t)json_integer_value(json_object_get(list, key));
}

static void ask_list(void)
{
    ask("", 0);
    json_t *list = json_loads(s.f.control->request.answer, 0, NULL);
    require(list != NULL);
    size_t begun = json_array_size(json_object_get(list, "faults")) + of(list, "left_out");
    require(begun + of(list, "to_come") == faults.schedule.count);
    json_decref(list);
}

/* ---- checks ---- */

static void signal_worker(void *of_nobody, unsigned worker, int number)
{
    (void)of_nobody;
    require(worker < s.f.workers && number != 0);
    deaths++;
}

static void validate_links(void)
{
    for (uint32_t number = 0; number < s.f.g->hosts * PORTS; number++) {
        const struct shm_condition c = fab_condition(&s.f, number);
        require(c.down <= 1 && c.closed <= 1 && c.loss <= HX_FAULT_WHOLE && c.corrupt <= HX_FAULT_WHOLE);
        require(c.duplicate <= HX_FAULT_WHOLE && c.reorder <= HX_FAULT_WHOLE && c.credit_loss <= HX_FAULT_WHOLE);
    }
}

static void validate_log(void)
{
    uint64_t begun = atomic_load(&s.f.control->faults.begun);
    for (uint64_t n = 0; n < begun; n++) {
        struct fault_entry entry;
        struct hx_fault fault;
        struct hx_problem problem;
        require(fault_log_read(faults.log, n, &entry));
        require(hx_fault_parse(&fault, entry.line, s.f.g, &problem));
        require(entry.at_ns <= now_ns && entry.over_ns >= entry.at_ns);
    }
}

static void pass(const char *text, const char *end)
{
    uint64_t ms = 0;
    for (; text < end && *text >= '0' && *text <= '9' && ms < 1000000; text++)
        ms = 10 * ms + (uint64_t)(*text - '0');
    now_ns += ms * 1000000;
    (void)faults_advance(&faults, now_ns, signal_worker, NULL);
    require(faults_due(&faults) > now_ns);
    faults_validate(&faults, now_ns, false);
    validate_links();
    validate_log();
}

/* ---- */

static void begin(void)
{
    if (!s.f.g)
        support_open(&s, &(struct support_plan){"1x1 Hx2Mesh", .workers = 2, .planes = 1, .message = 1, .count = 1});
    now_ns = deaths = 0;
    faults_open(&faults, &s.f);
}

/* All due changes happen; links that are up then stay so. */
static void end(void)
{
    while (faults_due(&faults) != UINT64_MAX) {
        now_ns = faults_due(&faults);
        (void)faults_advance(&faults, now_ns, signal_worker, NULL);
    }
    faults_validate(&faults, now_ns, true);
    ask_list();
    require(deaths <= 2 * faults.schedule.count);
    ask("all up", strlen("all up"));
    (void)faults_advance(&faults, ++now_ns, signal_worker, NULL);
    for (uint32_t number = 0; number < s.f.g->hosts * PORTS; number++)
        require(!fab_link_is_shut(&s.f, number));
    faults_close(&faults);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data;
    const char *last = at + size;
    begin();
    for (unsigned lines = 0; lines < MOST_LINES && at < last; lines++) {
        const char *stop = memchr(at, '\n', (size_t)(last - at));
        stop = stop ? stop : last;
        if (at < stop && *at == '+')
            pass(at + 1, stop);
        else if (at + 1 == stop && *at == '?')
            ask_list();
        else
            ask(at, (size_t)(stop - at));
        at = stop + (stop < last);
    }
    end();
    return 0;
}
