/* recording.c - writes the frames of a running fabric to a file (recording.h). */
#include "recording.h"
#include "base/version.h"
#include "fault_log.h"
#include "taps.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PAUSE_MS = 5,       /* between drains: each one takes time from a core that the fabric may need */
    BUSY_FRAMES = 2000, /* drained at once: no pause, rings may overflow */
    ATTACH_MS = 2000,
    DETACH_MS = 200
};

/* Copies the head's note, which says "span=run". A capture of less says "span=part". */
static void copy_note(struct recording *r, bool whole)
{
    static const char run[] = "span=run";
    static const char part[] = "span=part";
    const char *note = r->fabric.head->note;
    size_t bytes = sizeof r->note - 2;
    (void)snprintf(r->note, bytes, "%.*s", (int)bytes - 1, note);
    char *at = whole ? NULL : strstr(r->note, run);
    if (!at)
        return;
    memmove(at + sizeof part - 1, at + sizeof run - 1, strlen(at + sizeof run - 1) + 1);
    memcpy(at, part, sizeof part - 1);
}

/* Leaves out local ports of external accelerators: their frames are not in this memory. */
static bool leave_out_external(struct recording *r, const char *option, struct hx_problem *problem)
{
    const struct fab_head *head = r->fabric.head;
    for (uint32_t rank = 0; rank < r->fabric.g->hosts; rank++) {
        if (head->external[rank / 8] >> rank % 8 & 1U)
            capture_ports_leave_out(&r->ports, rank, HX_LOCAL);
    }
    if (r->ports.interfaces)
        return true;
    capture_ports_free(&r->ports);
    return hx_fail(problem, HX_EXIT_USAGE, option, "only local ports of external accelerators: nothing passes there");
}

/* ---- faults ---- */

/* Returns the first fault, from `number` on, that may affect later frames. A file that begins now annotates it and all
 * later ones, which include those that ended it. A fault never lasts longer than its entry says. */
static uint64_t first_relevant(const struct recording *r, uint64_t number)
{
    const struct fab_control *control = r->fabric.control;
    uint64_t now = shm_clock_ns(&r->clock) - control->started_ns;
    struct fault_entry fault;
    while (number < atomic_load(&control->faults.begun) && fault_log_read(r->faults, number, &fault) &&
           fault.over_ns <= UINT64_MAX - HX_FAULT_FELT_NS && fault.over_ns + HX_FAULT_FELT_NS < now)
        number++;
    return number;
}

static uint64_t time_of(const struct recording *r, const struct fault_entry *fault)
{
    return r->fabric.control->started_ns + fault->at_ns;
}

/* Annotates planned changes that all workers follow since the last call. */
static void annotate_followed(struct recording *r)
{
    struct fault_entry change;
    uint64_t settled = atomic_load(&r->fabric.control->faults.settled);
    settled = settled < r->faults_seen ? settled : r->faults_seen;
    for (; r->faults_settled < settled && fault_log_read(r->faults, r->faults_settled, &change); r->faults_settled++) {
        uint64_t after_ns = change.followed_ns - change.at_ns;
        const struct capture_annotation one = {CAPTURE_CHANGE_FOLLOWED, .since = time_of(r, &change) + after_ns,
                                               .at_ns = after_ns};
        if (change.planned)
            capture_annotation_add(&r->capture.annotations, &one, change.line);
    }
}

/* Annotates faults and planned changes that have begun since the last call. */
static void annotate_faults(struct recording *r)
{
    struct fault_entry fault;
    uint64_t begun = atomic_load(&r->fabric.control->faults.begun);
    for (; r->faults_seen < begun && fault_log_read(r->faults, r->faults_seen, &fault); r->faults_seen++) {
        const struct capture_annotation one = {fault.planned ? CAPTURE_CHANGE : CAPTURE_FAULT,
                                               .since = time_of(r, &fault), .at_ns = fault.at_ns};
        capture_annotation_add(&r->capture.annotations, &one, fault.line);
    }
    annotate_followed(r);
    r->faults_relevant = first_relevant(r, r->faults_relevant);
    if (r->faults_relevant >= begun)
        capture_annotations_over(&r->capture.annotations, UINT64_MAX);
    else if (fault_log_read(r->faults, r->faults_relevant, &fault))
        capture_annotations_over(&r->capture.annotations, time_of(r, &fault));
}

/* ---- start and end ---- */

bool recording_open(struct recording *r, const struct recording_plan *plan, const struct recording_fabric *fabric,
                    struct hx_problem *problem)
{
    const struct hx_capture_settings *s = plan->settings;
    *r = (struct recording){
        .fabric = *fabric, .clock = fabric->head->clock, .slot = -1, .faults = fault_log_open(fabric->control)};
    if (r->faults < 0)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL, "cannot read what faults this fabric has: %s",
                       strerror(-r->faults));
    r->faults_seen = r->faults_settled = r->faults_relevant = first_relevant(r, 0);
    r->whole_later = plan->whole_run && capture_can_say_more(s->file);
    copy_note(r, plan->whole_run && !r->whole_later);
    if (!capture_ports_choose(&r->ports, fabric->g, &s->ports, plan->ports_option, problem))
        return false;
    if (!leave_out_external(r, plan->ports_option, problem))
        return false;
    const struct capture_wish wish = {.ports = &r->ports,
                                      .rings = fabric->metrics->workers,
                                      .ring_bytes = s->buffer,
                                      .wait_slots = plan->wait_slots,
                                      .snaplen = (uint32_t)s->snaplen,
                                      .annotate = s->annotate,
                                      .filter = s->filter,
                                      .option = plan->filter_option};
    const struct capture_plan capture = {.memory = &r->memory,
                                         .ports = &r->ports,
                                         .file = s->file,
                                         .filter = s->filter,
                                         .note = r->note,
                                         .application = "hxmesh " HXMESH_VERSION,
                                         .epoch_ns = fabric->head->realtime_ns,
                                         .most = plan->most,
                                         .rotate_bytes = plan->rotate_bytes,
                                         .rotate_files = plan->rotate_files};
    if (capture_memory_new(&r->memory, &wish, problem)) {
        uint64_t now = shm_clock_ns(&r->clock);
        if (capture_open(&r->capture, &capture, now, problem)) {
            capture_annotations_again(&r->capture.annotations, now);
            return true;
        }
        capture_memory_free(&r->memory);
    }
    capture_ports_free(&r->ports);
    return false;
}

bool recording_tap(struct recording *r, struct hx_problem *problem)
{
    int owner = 0;
    r->slot = slot_take(r->fabric.control, r->fabric.arena.fd, 0, SHM_TAPS - 1, r->memory.fd, &owner);
    if (r->slot >= 0)
        return true;
    if (r->slot == -EBUSY)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL,
                       "this fabric is captured by %d others already, process %d among them", SHM_TAPS, owner);
    return hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL, "cannot tap this fabric: %s", strerror(-r->slot));
}

static unsigned attached_rings(const struct recording *r)
{
    unsigned count = 0;
    for (uint32_t ring = 0; ring < r->memory.shape.rings; ring++)
        count += atomic_load(&hx_tap_ring(r->memory.tap, &r->memory.shape, ring)->attached) != 0;
    return count;
}

unsigned recording_await(const struct recording *r)
{
    for (unsigned ms = 0; ms < ATTACH_MS && attached_rings(r) < r->memory.shape.rings; ms++)
        (void)poll(NULL, 0, 1);
    return attached_rings(r);
}

static void untap(struct recording *r)
{
    if (r->slot < 0)
        return;
    slot_release(r->fabric.control, r->fabric.arena.fd, r->slot);
    r->slot = -1;
    for (unsigned ms = 0; ms < DETACH_MS && attached_rings(r) && atomic_load(&r->fabric.metrics->life) == HX_LIFE_READY;
         ms++)
        (void)poll(NULL, 0, 1);
}

void recording_run(struct recording *r, int wake, bool (*more)(struct recording *r, void *of), void *of)
{
    struct pollfd wait = {.fd = wake, .events = POLLIN};
    while (more(r, of)) {
        uint64_t now = shm_clock_ns(&r->clock); /* frames up to here can refer to all annotated faults */
        annotate_faults(r);
        uint64_t taken = capture_drain(&r->capture, now, false);
        capture_flush(&r->capture);
        (void)poll(&wait, 1, taken >= BUSY_FRAMES ? 0 : PAUSE_MS);
    }
    untap(r);
    annotate_faults(r);
    (void)capture_drain(&r->capture, shm_clock_ns(&r->clock), true);
}

static void free_memory(struct recording *r)
{
    capture_memory_free(&r->memory);
    capture_ports_free(&r->ports);
    (void)close(r->faults);
}

void recording_close(struct recording *r)
{
    capture_close(&r->capture);
    free_memory(r);
}

/* ---- a whole run ---- */

static bool writer_goes_on(struct recording *r, void *of)
{
    (void)r;
    return capture_writer_goes_on(of);
}

static bool write_run(struct capture_writer *w, void *of, struct hx_problem *problem)
{
    struct recording *r = of;
    int error = shm_arena_reopen(&r->fabric.arena);
    if (error)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, "capture", "cannot open this fabric's memory: %s",
                       strerror(-error));
    if (!recording_tap(r, problem))
        return false;
    capture_writer_begins(w);
    recording_run(r, -1, writer_goes_on, w);
    capture_close(&r->capture);
    return true;
}

void recording_start(struct recording *r, const struct recording_plan *plan, const struct recording_fabric *fabric)
{
    struct hx_problem problem;
    if (!recording_open(r, plan, fabric, &problem))
        hx_die_of(&problem);
    capture_writer_start(&r->writer, &r->capture, r->whole_later, write_run, r);
    capture_memory_keep(&r->memory);
}

void recording_stop(struct recording *r, bool whole, struct capture_report *report)
{
    capture_writer_stop(&r->writer, whole, report);
    free_memory(r);
}
