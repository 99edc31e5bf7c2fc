/* recording.c - writes the workers' taps into a file (recording.h). */
#include "recording.h"
#include "base/error.h"
#include "base/version.h"
#include "spec/pcapng/fabric.h"
#include "tap.h"

#include <stdlib.h>
#include <time.h>

enum { PAUSE_NS = 300000 /* between two reads of empty rings */ };

/* ---- the file's note ---- */

/* Blocks of buffer that a verifier must allow. A packet frees its input buffer at the crossbar, but a capture sees it
 * later: on the link or at the endpoint. An output takes packets `ahead`, so their credit may reach the sender, and its
 * next packet the capture, first. The allowance adds what an input passes through the crossbar in that time, and one
 * train. The last packet of a train is on the link after the first one. */
static uint64_t buffer_of(const struct model *m)
{
    const struct virtual_timing *t = &m->timing;
    uint64_t block = UINT64_MAX;
    uint64_t link = UINT64_MAX;
    for (unsigned i = 0; i < VIRTUAL_LINKS; i++) {
        const struct virtual_link *l = &t->of[i];
        if (!l->rate.blocks[1])
            continue; /* no such class */
        block = l->crossbar.blocks[1] < block ? l->crossbar.blocks[1] : block;
        link = l->latency < link ? l->latency : link;
    }
    uint64_t seen =
        (uint64_t)t->ahead + t->local.blocks[HX_PACKET_BLOCKS] + t->link.blocks[(t->train - 1) * HX_PACKET_BLOCKS];
    uint64_t back = 2 * (uint64_t)t->output + link + t->input;
    uint64_t blocks = (uint64_t)t->vc_blocks * t->vcs;
    return seen > back ? blocks + (seen - back) / (block ? block : 1) + t->full : blocks;
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

/* Without a writer, the memory only counts. */
static void begin_file(struct recording *r, const struct model *m, const struct hx_capture_settings *s)
{
    struct hx_problem problem;
    const struct capture_wish wish = {.ports = &r->ports,
                                      .rings = m->forked,
                                      .ring_bytes = model_is_reported(m) ? s->buffer : 0,
                                      .snaplen = (uint32_t)s->snaplen,
                                      .annotate = s->annotate,
                                      .filter = s->filter,
                                      .option = "--capture-filter"};
    const struct capture_plan plan = {.memory = &r->memory,
                                      .ports = &r->ports,
                                      .file = s->file,
                                      .filter = s->filter,
                                      .note = r->note,
                                      .application = "hxmesh " HXMESH_VERSION,
                                      .simulated = true};
    if (!capture_memory_new(&r->memory, &wish, &problem) ||
        (model_is_reported(m) && !capture_open(&r->capture, &plan, 0, &problem)))
        hx_die_of(&problem);
}

/* All faults are scheduled, so all are annotated at once. */
static void annotation_faults(struct recording *r, const struct hx_faults *faults)
{
    for (size_t i = 0; i < faults->count; i++) {
        const struct hx_fault *fault = &faults->fault[i];
        const struct capture_annotation one = {fault->kind == HX_FAULT_CLOSED ? CAPTURE_CHANGE : CAPTURE_FAULT,
                                               .since = fault->at_ns * 1000, .at_ns = fault->at_ns};
        capture_annotation_add(&r->capture.annotations, &one, fault->text);
    }
}

void recording_open(struct recording *r, const struct model *m, const struct hx_capture_settings *s)
{
    struct hx_problem problem;
    *r = (struct recording){.arena = m->arena, .annotate = s->annotate, .patched = capture_can_say_more(s->file)};
    if (!capture_ports_choose(&r->ports, m->g, &s->ports, "--capture-ports", &problem))
        hx_die_of(&problem);
    write_note(r, m);
    number_ports(r, m);
    begin_file(r, m, s);
    if (m->faults && model_is_reported(m))
        annotation_faults(r, m->faults);
}

struct virtual_tap *recording_tap(const struct recording *r, const struct model *m, unsigned self)
{
    const struct capture_memory *memory = &r->memory;
    struct virtual_tap *t = hx_allocate(1, sizeof *t);
    *t = (struct virtual_tap){.interface = r->interface,
                              .counts = hx_tap_counts(memory->tap, &memory->shape),
                              .program = memory->shape.program ? hx_tap_program(memory->tap) : NULL,
                              .gave_up = &memory->tap->gave_up,
                              .snaplen = memory->shape.snaplen,
                              .interfaces = memory->shape.interfaces,
                              .annotate = r->annotate,
                              .payload = m->settings.verify};
    hx_tap_producer_init(&t->out, hx_tap_ring(memory->tap, &memory->shape, self - m->first), memory->shape.ring_bytes);
    virtual_tap_open(t);
    return t;
}

/* ---- the writer ---- */

static bool write_run(struct capture_writer *w, void *of, struct hx_problem *problem)
{
    struct recording *r = of;
    (void)problem;
    shm_arena_close(&r->arena, false); /* otherwise it would keep the name of a killed run */
    capture_writer_begins(w);
    while (capture_writer_goes_on(w)) {
        const struct timespec pause = {.tv_nsec = PAUSE_NS};
        if (capture_drain(&r->capture, 0, false) == 0)
            (void)nanosleep(&pause, NULL);
    }
    (void)capture_drain(&r->capture, 0, true);
    capture_close(&r->capture);
    return true;
}

void recording_start(struct recording *r)
{
    capture_writer_start(&r->writer, &r->capture, r->patched, write_run, r);
}

bool recording_ended(const struct recording *r, int pid)
{
    if (!r || pid != r->writer.pid)
        return false;
    recording_abandon(r);
    return true;
}

void recording_abandon(const struct recording *r)
{
    if (r)
        atomic_store(&r->memory.tap->gave_up, 1);
}

void recording_stop(struct recording *r, bool whole)
{
    capture_writer_stop(&r->writer, whole, &r->report);
}

void recording_close(struct recording *r)
{
    capture_memory_free(&r->memory);
    capture_ports_free(&r->ports);
    free(r->interface);
}
