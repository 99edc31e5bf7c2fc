/* recording.c - from workers' taps into a file (recording.h). */
#include "recording.h"
#include "host/error.h"
#include "host/pcapng/fabric.h"
#include "host/version.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PAUSE_NS = 300000,   /* between two looks at rings that were empty */
    FREE_RECORDS = 64,   /* taken until their room is given back */
    STOP_PAUSE_MS = 2,   /* between two looks at the writer, */
    STOP_MS = 60000,     /* which has so long for what is left */
    ABANDONED_MS = 1000, /* or so long, if the user was not willing to wait */
    PS_PER_NS = 1000
};

struct recording_shared {
    _Atomic bool stop;   /* no worker runs any more */
    _Atomic bool whole;  /* and all came to their end */
    _Atomic bool no_one; /* nobody writes any more */
    _Atomic bool done;   /* the report is there */
    struct capture_report report;
    struct {
        alignas(64) _Atomic uint64_t ps;
    } floor[VIRTUAL_MOST_WORKERS];
};

/* ---- what the file says of itself ---- */

/* The blocks that a verifier must allow for. A packet frees its input buffer when it is through the crossbar, which a capture
 * does not see: it sees it go onto the link, up to a packet's time in the crossbar later. Where credit is back sooner than
 * that, what stands between crossbar and link is to be added. */
static uint64_t buffer_of(const struct model *m)
{
    const struct virtual_timing *t = &m->timing;
    uint64_t blocks = (uint64_t)t->vc_blocks * HX_VCS;
    uint32_t link = t->cable < t->trace ? t->cable : t->trace;
    bool seen_late = t->crossbar.blocks[HX_PACKET_BLOCKS] - t->crossbar.blocks[1] >= t->output + link + t->input;
    return seen_late ? blocks + (uint64_t)HX_MAX_RADIX * HX_PACKET_BLOCKS : blocks;
}

static void write_note(struct recording *r, const struct model *m)
{
    const struct hx_capture_facts facts = {.link = HX_CAPTURE_PORT,
                                           .crc = m->settings.verify ? HX_CAPTURE_CRC_ON : HX_CAPTURE_CRC_OFF,
                                           .span = r->patched ? HX_CAPTURE_SPAN_PART : HX_CAPTURE_SPAN_RUN,
                                           .clock = HX_CLOCK_VIRTUAL,
                                           .buffer = buffer_of(m)};
    (void)hx_capture_print(r->note, sizeof r->note, m->spec, &facts);
}

/* ---- before the run ---- */

static void number_ports(struct recording *r, const struct model *m)
{
    r->interface = hx_allocate((size_t)m->g->planes * m->layout.links, sizeof *r->interface);
    for (uint32_t i = 0; i < r->ports.interfaces; i++) {
        const struct capture_port *port = &r->ports.port[i];
        r->interface[model_link_number(m, port->plane, port->node, port->port)] = i + 1;
    }
}

static void begin_file(struct recording *r, const struct hx_capture_settings *s)
{
    struct hx_problem problem;
    const struct capture_wish wish = {.ports = &r->ports,
                                      .rings = r->workers,
                                      .ring_bytes = s->buffer,
                                      .snaplen = (uint32_t)s->snaplen,
                                      .annotate = s->annotate,
                                      .filter = s->filter,
                                      .option = "--capture-filter"};
    const struct capture_plan plan = {.memory = &r->memory,
                                      .ports = &r->ports,
                                      .file = s->file,
                                      .filter = s->filter,
                                      .note = r->note,
                                      .application = "hxmesh " HXMESH_VERSION};
    if (!capture_memory_new(&r->memory, &wish, &problem) || !capture_open(&r->capture, &plan, 0, &problem))
        hx_die_of(&problem);
}

void recording_open(struct recording *r, const struct model *m, const struct hx_capture_settings *s)
{
    struct hx_problem problem;
    *r = (struct recording){
        .workers = m->workers, .arena = m->arena, .annotate = s->annotate, .patched = capture_can_say_more(s->file)};
    if (!capture_ports_choose(&r->ports, m->g, &s->ports, "--capture-ports", &problem))
        hx_die_of(&problem);
    write_note(r, m);
    number_ports(r, m);
    begin_file(r, s);
    r->shared = mmap(NULL, sizeof *r->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r->shared == MAP_FAILED)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "no memory for a capture: %s", strerror(errno));
}

struct virtual_tap *recording_tap(const struct recording *r, const struct model *m, unsigned self)
{
    const struct capture_memory *memory = &r->memory;
    struct virtual_tap *t = hx_allocate(1, sizeof *t);
    *t = (struct virtual_tap){.interface = r->interface,
                              .counts = hx_tap_counts(memory->tap, &memory->shape),
                              .program = memory->shape.program ? hx_tap_program(memory->tap) : NULL,
                              .floor = &r->shared->floor[self].ps,
                              .no_one = &r->shared->no_one,
                              .snaplen = memory->shape.snaplen,
                              .annotate = r->annotate,
                              .payload = m->settings.verify};
    hx_tap_producer_init(&t->out, hx_tap_ring(memory->tap, &memory->shape, self), memory->shape.ring_bytes);
    virtual_tap_open(t);
    return t;
}

/* ---- the writer ---- */

static enum virtual_tap_rank rank_of(const struct recording *r, const struct hx_tap_record *record)
{
    const struct capture_port *at = &r->ports.port[record->interface];
    bool local = at->node < r->ports.g.accelerators && at->port == HX_LOCAL;
    return virtual_tap_rank((enum hx_tap_direction)record->direction, local);
}

static bool is_before(const struct recording *r, const struct hx_tap_record *a, const struct hx_tap_record *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    enum virtual_tap_rank rank = rank_of(r, a);
    return rank != rank_of(r, b) ? rank < rank_of(r, b) : a->interface < b->interface;
}

/* The floors first: what was told before a floor is then in what is looked at. */
static void look_at_all(struct recording *r, bool all)
{
    for (unsigned w = 0; w < r->workers; w++) {
        struct capture_lane *lane = &r->capture.lane[w];
        lane->floor = all ? UINT64_MAX : atomic_load_explicit(&r->shared->floor[w].ps, memory_order_acquire);
        (void)hx_tap_look(&lane->in);
    }
}

/* The lane with the earliest record, NULL: an earlier one may still come. */
static struct capture_lane *first_lane(struct recording *r)
{
    struct capture *c = &r->capture;
    struct capture_lane *first = NULL;
    uint64_t floor = UINT64_MAX; /* of who has no record */
    for (unsigned w = 0; w < r->workers; w++) {
        struct capture_lane *lane = &c->lane[w];
        if (!lane->next)
            lane->next = hx_tap_next(&lane->in, c->report.interfaces, &c->report.broken);
        if (!lane->next)
            floor = lane->floor < floor ? lane->floor : floor;
        else if (!first || is_before(r, lane->next, first->next))
            first = lane;
    }
    return first && first->next->time < floor ? first : NULL;
}

static uint64_t merge(struct recording *r, bool all)
{
    struct capture_lane *lane;
    uint64_t taken = 0;
    look_at_all(r, all);
    while ((lane = first_lane(r))) {
        lane->next->time /= PS_PER_NS;
        capture_write(&r->capture, lane->next);
        hx_tap_taken(&lane->in, lane->next);
        lane->next = NULL;
        if (++taken % FREE_RECORDS == 0)
            hx_tap_free(&lane->in);
    }
    for (unsigned w = 0; w < r->workers; w++)
        hx_tap_free(&r->capture.lane[w].in);
    return taken;
}

_Noreturn static void write_all(struct recording *r, pid_t supervisor)
{
    (void)prctl(PR_SET_NAME, "hxmesh-tap");
    shm_arena_close(&r->arena, false); /* or it would keep the name of a run that was killed */
    (void)signal(SIGPIPE, SIG_IGN);    /* who reads along may leave */
    for (bool last = false; !last;) {
        last = atomic_load(&r->shared->stop) || getppid() != supervisor;
        if (merge(r, last) == 0 && !last) {
            const struct timespec pause = {.tv_nsec = PAUSE_NS};
            (void)nanosleep(&pause, NULL);
        }
    }
    capture_close(&r->capture);
    if (r->patched && atomic_load(&r->shared->whole))
        capture_say_whole(&r->capture.report);
    r->shared->report = r->capture.report;
    atomic_store(&r->shared->done, true);
    _exit(HX_EXIT_DONE);
}

void recording_start(struct recording *r)
{
    pid_t supervisor = getpid();
    r->pid = fork();
    if (r->pid < 0)
        hx_die(HX_EXIT_ENVIRONMENT, "fork", "%s", strerror(errno));
    if (r->pid == 0)
        write_all(r, supervisor);
    capture_leave(&r->capture);
}

/* ---- after the run ---- */

bool recording_ended(struct recording *r, int pid)
{
    if (!r || pid != r->pid)
        return false;
    r->pid = 0;
    recording_abandon(r);
    return true;
}

void recording_abandon(struct recording *r)
{
    if (r)
        atomic_store(&r->shared->no_one, true);
}

static void await_writer(struct recording *r)
{
    int limit = atomic_load(&r->shared->no_one) ? ABANDONED_MS : STOP_MS;
    for (int ms = 0; r->pid; ms += STOP_PAUSE_MS) {
        if (ms == limit)
            (void)kill(r->pid, SIGKILL); /* the disk hangs */
        if (waitpid(r->pid, NULL, WNOHANG) == r->pid)
            r->pid = 0;
        else
            (void)poll(NULL, 0, STOP_PAUSE_MS);
    }
}

void recording_stop(struct recording *r, bool whole)
{
    atomic_store(&r->shared->whole, whole);
    atomic_store(&r->shared->stop, true);
    await_writer(r);
    r->report = r->shared->report;
    if (atomic_load(&r->shared->done))
        return;
    /* It was killed: how much of the file is there nobody knows. */
    (void)snprintf(r->report.file, sizeof r->report.file, "%s", r->capture.report.file);
    r->report.error = EOWNERDEAD;
    capture_count(&r->report, &r->memory);
}

void recording_close(struct recording *r)
{
    (void)munmap(r->shared, sizeof *r->shared);
    capture_memory_free(&r->memory);
    capture_ports_free(&r->ports);
    free(r->interface);
}
