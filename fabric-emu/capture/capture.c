/* capture.c - writes records to files (capture.h). */
#include "fabric-emu/capture/capture.h"
#include "base/create.h"
#include "fabric-emu/capture/note.h"
#include "spec/pcapng/fabric.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OF_STDOUT = 1, PS_PER_NS = 1000 };

/* ---- files ---- */

void capture_file_name(char *name, size_t bytes, const char *file, uint64_t n)
{
    const char *slash = strrchr(file, '/');
    const char *dot = strrchr(file, '.');
    size_t stem = dot && dot > (slash ? slash + 1 : file) ? (size_t)(dot - file) : strlen(file);
    (void)snprintf(name, bytes, "%.*s.%05" PRIu64 "%s", (int)stem, file, n, file + stem);
}

static bool is_stdout(const struct capture *c)
{
    return strcmp(c->plan.file, "-") == 0;
}

static int open_file(struct capture *c)
{
    char name[sizeof c->report.file];
    if (is_stdout(c)) {
        c->out.fd = OF_STDOUT;
        return 0;
    }
    if (c->plan.rotate_bytes)
        capture_file_name(name, sizeof name, c->plan.file, c->report.files + 1);
    else
        (void)snprintf(name, sizeof name, "%s", c->plan.file);
    int fd = hx_create(name);
    c->out.fd = fd < 0 ? -1 : fd;
    return fd < 0 ? -fd : 0;
}

static void note_error(struct capture *c, int error)
{
    c->reader_left = c->reader_left || error == EPIPE;
    if (error && !c->report.error && error != EPIPE)
        c->report.error = error;
}

static size_t room_of(const struct capture *c)
{
    return HX_PCAPNG_ROOM + hx_pcapng_room_of_text(c->plan.ports->g->graph_bytes);
}

static void write_head(struct capture *c)
{
    int error = hx_pcapng_begin(&c->writer, c->room, room_of(c), hx_pcapng_write_fd, &c->out);
    const struct hx_pcapng_section section = {.application = c->plan.application,
                                              .comments = {c->plan.note},
                                              .mark = HX_CAPTURE_GRAPH_MARK,
                                              .text = c->plan.ports->g->graph_text,
                                              .text_bytes = c->plan.ports->g->graph_bytes};
    error = error ? error : hx_pcapng_section(&c->writer, &section);
    for (uint32_t i = 0; !error && i < c->plan.ports->interfaces; i++) {
        char name[HX_NAME_BYTES];
        error = hx_pcapng_interface(&c->writer,
                                    &(struct hx_pcapng_interface){.name = capture_port_name(name, c->plan.ports, i),
                                                                  .filter = c->plan.filter,
                                                                  .snaplen = c->plan.memory->shape.snaplen});
    }
    error = error ? error : hx_pcapng_flush(&c->writer);
    note_error(c, error);
    c->report.files++;
}

static void write_statistics(struct capture *c, uint32_t interface)
{
    const struct hx_tap_count *count = hx_tap_counts(c->plan.memory->tap, &c->plan.memory->shape) + interface;
    const struct hx_pcapng_statistics s = {.interface = interface,
                                           .time_ns = c->last_ns,
                                           .start_ns = c->begun_ns,
                                           .end_ns = c->last_ns,
                                           .received = atomic_load(&count->received),
                                           .dropped = atomic_load(&count->dropped),
                                           .accepted = atomic_load(&count->accepted),
                                           .os_dropped = c->unwritten[interface]};
    note_error(c, hx_pcapng_statistics(&c->writer, &s));
}

static void end_file(struct capture *c)
{
    for (uint32_t i = 0; i < c->plan.ports->interfaces; i++)
        write_statistics(c, i);
    note_error(c, hx_pcapng_flush(&c->writer));
    c->report.bytes += c->writer.bytes;
    c->report.written += c->offered - c->writer.packets_lost;
    c->offered = 0;
    c->report.unwritten += c->writer.packets_lost;
    if (!is_stdout(c) && c->out.fd >= 0 && close(c->out.fd) != 0)
        note_error(c, errno);
    c->out.fd = -1;
}

/* Starts the next file with a record of `time`, so that no file is empty. */
static void rotate(struct capture *c, uint64_t time)
{
    char old[sizeof c->report.file];
    end_file(c);
    int error = open_file(c);
    write_head(c);
    capture_annotations_again(&c->annotations, time);
    if (error) {
        note_error(c, c->writer.error = error);
        return;
    }
    if (!c->plan.rotate_files || c->report.files <= c->plan.rotate_files)
        return;
    capture_file_name(old, sizeof old, c->plan.file, c->report.files - c->plan.rotate_files);
    (void)unlink(old);
}

bool capture_open(struct capture *c, const struct capture_plan *plan, uint64_t now, struct hx_problem *problem)
{
    const struct hx_tap_shape *s = &plan->memory->shape;
    *c = (struct capture){.plan = *plan, .begun_ns = now + plan->epoch_ns, .last_ns = now + plan->epoch_ns};
    (void)snprintf(c->report.file, sizeof c->report.file, "%s", plan->file);
    c->report.interfaces = s->interfaces;
    int error = open_file(c);
    if (error == EINTR)
        return hx_fail(problem, HX_EXIT_INTERRUPTED, plan->file, "interrupted before anybody read it");
    if (error)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, plan->file, "cannot be written: %s", strerror(error));
    c->room = hx_allocate(1, room_of(c));
    c->source = hx_allocate(s->rings, sizeof *c->source);
    c->dropped = hx_allocate(s->interfaces, sizeof *c->dropped);
    c->unwritten = hx_allocate(s->interfaces, sizeof *c->unwritten);
    for (uint32_t ring = 0; ring < s->rings; ring++)
        hx_tap_consumer_init(&c->source[ring].in, hx_tap_ring(plan->memory->tap, s, ring), s->ring_bytes);
    write_head(c);
    return true;
}

/* ---- the file's note ---- */

bool capture_can_say_more(const char *file)
{
    struct stat st;
    return stat(file, &st) != 0 || S_ISREG(st.st_mode);
}

void capture_say_whole(const struct capture_report *r)
{
    enum { HEAD_BYTES = HX_PCAPNG_MOST_NOTE + 1024 };
    static const char part[] = "span=part";
    static const char run[] = "span=run "; /* of equal length */
    int fd = r->error ? -1 : open(r->file, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    char *head = hx_allocate(1, HEAD_BYTES);
    ssize_t bytes = pread(fd, head, HEAD_BYTES, 0);
    const char *at = bytes > 0 ? memmem(head, (size_t)bytes, part, sizeof part - 1) : NULL;
    if (at)
        (void)!pwrite(fd, run, sizeof run - 1, at - head);
    free(head);
    (void)close(fd);
}

/* ---- records ---- */

/* The first frame goes into the current file, whatever the size of its head. */
static bool is_filled(const struct capture *c)
{
    return c->plan.rotate_bytes && c->offered && !c->writer.error &&
           c->writer.bytes + c->writer.used >= c->plan.rotate_bytes;
}

void capture_write(struct capture *c, struct hx_tap_record *r)
{
    char text[CAPTURE_NOTE_BYTES];
    char annotations[HX_PCAPNG_MOST_TEXT];
    unsigned comments = 0;
    if (is_filled(c))
        rotate(c, r->time);
    struct hx_pcapng_packet p = {.interface = r->interface,
                                 .time_ns = (c->plan.simulated ? r->time / PS_PER_NS : r->time) + c->plan.epoch_ns,
                                 .bytes = hx_tap_bytes_of(r),
                                 .captured = r->captured,
                                 .original = r->original,
                                 .direction = (enum hx_pcapng_direction)r->direction,
                                 .has_queue = true,
                                 .has_dropped = r->dropped != c->dropped[r->interface],
                                 .has_id = r->id != 0,
                                 .queue = r->vc,
                                 .dropped = r->dropped - c->dropped[r->interface],
                                 .id = r->id};
    p.comments[0] = capture_annotations_take(&c->annotations, r->time, annotations,
                                             sizeof annotations); /* first: some readers show only one */
    comments += p.comments[0] != NULL;
    if (r->noted)
        p.comments[comments] =
            capture_note_print(text, c->plan.ports->g, &c->plan.ports->port[r->interface], hx_tap_note_of(r), r->vc);
    c->dropped[r->interface] = r->dropped;
    c->last_ns = p.time_ns > c->last_ns ? p.time_ns : c->last_ns;
    uint64_t lost = c->writer.packets_lost;
    c->offered++;
    note_error(c, hx_pcapng_packet(&c->writer, &p));
    c->unwritten[r->interface] += c->writer.packets_lost - lost;
}

void capture_flush(struct capture *c)
{
    if (c->writer.used)
        note_error(c, hx_pcapng_flush(&c->writer));
}

bool capture_is_full(const struct capture *c)
{
    return c->plan.most && c->report.written + c->offered >= c->plan.most;
}

static void free_all(struct capture *c)
{
    HX_FREE(c->source, c->dropped, c->unwritten, c->room);
    capture_annotations_free(&c->annotations);
}

void capture_count(struct capture_report *report, const struct capture_memory *memory)
{
    const struct hx_tap_count *counts = hx_tap_counts(memory->tap, &memory->shape);
    report->interfaces = memory->shape.interfaces;
    for (uint32_t i = 0; i < memory->shape.interfaces; i++) {
        report->received += atomic_load(&counts[i].received);
        report->accepted += atomic_load(&counts[i].accepted);
        report->dropped += atomic_load(&counts[i].dropped);
    }
}

void capture_close(struct capture *c)
{
    end_file(c);
    capture_count(&c->report, c->plan.memory);
    free_all(c);
}

void capture_leave(struct capture *c)
{
    if (!is_stdout(c))
        (void)close(c->out.fd);
    free_all(c);
}
