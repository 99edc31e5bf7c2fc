/* test_capture.c - from rings of records into files: order, counts, comments, rotation, failures. */
#include "base/pcapng/read.h"
#include "fabric-emu/capture/capture.h"
#include "spec/spec.h"
#include "tests/support/shm/support_annotation.h"
#include "topology/hamming_mesh.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { RINGS = 3, MOST = 4096 };
static const uint64_t EPOCH = UINT64_C(1700000000000000000);
static const uint64_t MS = 1000000;

struct bench {
    struct hx_fabric g;
    struct capture_ports ports;
    struct capture_memory memory;
    struct capture capture;
    struct capture_plan plan;
    struct hx_tap_producer in[RINGS];
    char folder[64], file[96];
};

static struct bench b;

static int open_bench(void **state)
{
    (void)state;
    struct hx_problem problem;
    const struct hx_option_list all = {.count = 0};
    b = (struct bench){.folder = "/tmp/test-capture-XXXXXX"};
    struct hx_geometry mesh;
    assert_int_equal(hx_geometry_init(&mesh, 1, 1, 2, 2, 1, 64, 1), 0);
    hx_fabric_of_mesh(&b.g, &mesh);
    assert_non_null(mkdtemp(b.folder));
    (void)snprintf(b.file, sizeof b.file, "%s/run.pcapng", b.folder);
    assert_true(capture_ports_choose(&b.ports, &b.g, &all, "-p", &problem));
    const struct capture_wish wish = {.ports = &b.ports, .rings = RINGS, .ring_bytes = 1 << 20, .snaplen = 128};
    assert_true(capture_memory_new(&b.memory, &wish, &problem));
    for (uint32_t ring = 0; ring < RINGS; ring++)
        hx_tap_producer_init(&b.in[ring], hx_tap_ring(b.memory.tap, &b.memory.shape, ring), b.memory.shape.ring_bytes);
    b.plan = (struct capture_plan){.memory = &b.memory,
                                   .ports = &b.ports,
                                   .file = b.file,
                                   .note = "a note",
                                   .application = "test",
                                   .epoch_ns = EPOCH};
    return 0;
}

static int close_bench(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r %s", b.folder);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): a folder of our own
    capture_memory_free(&b.memory);
    capture_ports_free(&b.ports);
    hx_fabric_free(&b.g);
    return 0;
}

static void begin(void)
{
    struct hx_problem problem;
    assert_true(capture_open(&b.capture, &b.plan, 0, &problem));
}

/* A frame of `bytes`, all equal to the low byte of its time. */
static struct hx_tap_record *put(unsigned ring, uint64_t time, uint32_t interface, uint16_t bytes)
{
    uint16_t captured = bytes < 128 ? bytes : 128;
    struct hx_tap_record *r = hx_tap_reserve(&b.in[ring], hx_tap_record_bytes(captured, false));
    struct hx_tap_count *count = hx_tap_counts(b.memory.tap, &b.memory.shape) + interface;
    assert_non_null(r);
    hx_tap_add(&count->received, 1);
    hx_tap_add(&count->accepted, 1);
    uint32_t size = r->size;
    *r = (struct hx_tap_record){.size = size,
                                .time = time,
                                .id = time * 10,
                                .dropped = atomic_load(&count->dropped),
                                .interface = interface,
                                .original = bytes,
                                .captured = captured,
                                .direction = interface % 2 ? HX_TAP_IN : HX_TAP_OUT,
                                .vc = (uint8_t)(interface % HX_VCS)};
    memset(hx_tap_bytes_of(r), (int)(time & 0xFF), captured);
    return r;
}

static void publish(void)
{
    for (unsigned ring = 0; ring < RINGS; ring++)
        hx_tap_publish(&b.in[ring]);
}

/* Content of a file. */
struct contents {
    unsigned interfaces, packets, statistics;
    struct hx_pcapng_read_packet packet[MOST];
    uint8_t first_byte[MOST];
    struct hx_pcapng_statistics statistic[64];
    char name[64][HX_NAME_BYTES];
    char comment[256];
};
static struct contents found;

static void copy_text(char *to, size_t bytes, struct hx_pcapng_text text)
{
    (void)snprintf(to, bytes, "%.*s", (int)text.length, text.bytes ? text.bytes : "");
}

static void read_file(const char *path)
{
    struct hx_pcapng_reader r;
    struct hx_problem problem;
    memset(&found, 0, sizeof found);
    assert_true(hx_pcapng_open(&r, path, &problem));
    for (;;) {
        enum hx_pcapng_event event = hx_pcapng_next(&r, &problem);
        assert_int_not_equal(event, HX_PCAPNG_IS_BAD);
        if (event == HX_PCAPNG_IS_END)
            break;
        if (event == HX_PCAPNG_IS_SECTION)
            copy_text(found.comment, sizeof found.comment, r.section.comment[0]);
        if (event == HX_PCAPNG_IS_INTERFACE)
            copy_text(found.name[found.interfaces++], HX_NAME_BYTES, r.interface.name);
        if (event == HX_PCAPNG_IS_PACKET) {
            found.first_byte[found.packets] = r.packet.captured ? r.packet.bytes[0] : 0;
            if (r.packet.comment.bytes)
                copy_text(found.comment, sizeof found.comment, r.packet.comment);
            found.packet[found.packets++] = r.packet;
        }
        if (event == HX_PCAPNG_IS_STATISTICS)
            found.statistic[found.statistics++] = r.statistics;
    }
    hx_pcapng_close(&r);
}

/* Each fault for one frame has its own line; a fault without a later frame is not in the file. */
static void a_fault_is_a_comment_of_the_first_frame_from_its_time_on(void **state)
{
    (void)state;
    static const char both[] = "fault at 5 us: a0,0/E down\nfault at 6 us: all loss=1%";
    begin();
    annotate_fault(&b.capture.annotations, 99, 5000, "a0,0/E down");
    annotate_fault(&b.capture.annotations, 100, 6000, "all loss=1%");
    annotate_fault(&b.capture.annotations, 151, 7000, "all up");
    for (uint64_t time = 50; time <= 150; time += 50)
        (void)put(0, time, 0, 64);
    publish();
    assert_int_equal(capture_drain(&b.capture, 1000, true), 3);
    capture_close(&b.capture);
    read_file(b.file);
    assert_int_equal(found.packets, 3);
    assert_true(!found.packet[0].comment.bytes && !found.packet[2].comment.bytes);
    assert_string_equal(found.comment, both);
}

/* Frames, a millisecond apart, until `files` files have begun; returns the time of the last one's first frame. */
static uint64_t fill_files(uint64_t time, unsigned files)
{
    for (; b.capture.report.files < files; time += MS) {
        (void)put(0, time, 0, 128);
        publish();
        (void)capture_drain(&b.capture, UINT64_MAX, true);
    }
    return time - MS;
}

static void read_numbered(unsigned n, unsigned comments)
{
    char name[128];
    capture_file_name(name, sizeof name, b.file, n);
    read_file(name);
    for (unsigned i = 0; i < found.packets; i++)
        comments -= found.packet[i].comment.length != 0;
    assert_int_equal(comments, 0);
}

/* A fault from before a file has its age, in each file of several; a fault that is over is only in the files of its
 * time. */
static void a_later_file_has_the_age_of_a_fault(void **state)
{
    (void)state;
    char text[128];
    b.plan.rotate_bytes = 20000;
    begin();
    capture_annotations_again(&b.capture.annotations, 20 * MS);
    annotate_fault(&b.capture.annotations, 10 * MS, 5 * MS, "a0,0/E down");
    annotate_fault(&b.capture.annotations, 30 * MS, 25 * MS, "all loss=1%");
    unsigned second = (unsigned)(fill_files(20 * MS, 2) / MS);
    (void)fill_files((second + 1) * MS, 3);
    capture_annotations_over(&b.capture.annotations, 30 * MS);
    unsigned fourth = (unsigned)(fill_files(1000 * MS, 4) / MS);
    capture_close(&b.capture);
    read_numbered(1, 2);
    assert_string_equal(found.comment, "fault at 25 ms: all loss=1%");
    read_numbered(2, 1);
    (void)snprintf(text, sizeof text, "fault at 5 ms, %ums ago: a0,0/E down\nfault at 25 ms, %ums ago: all loss=1%%",
                   second - 10, second - 30);
    assert_string_equal(found.comment, text);
    read_numbered(4, 1);
    (void)snprintf(text, sizeof text, "fault at 25 ms, %ums ago: all loss=1%%", fourth - 30);
    assert_string_equal(found.comment, text);
}

static void records_of_all_rings_come_in_the_order_of_time(void **state)
{
    (void)state;
    begin();
    for (uint64_t time = 1; time <= 900; time++)
        (void)put((unsigned)(time * 7 % RINGS), time, (uint32_t)(time % b.ports.interfaces),
                  (uint16_t)(64 + time % 100));
    publish();
    assert_int_equal(capture_drain(&b.capture, 1000, false), 900);
    capture_close(&b.capture);
    read_file(b.file);
    assert_int_equal(found.packets, 900);
    assert_int_equal(found.interfaces, b.ports.interfaces);
    assert_string_equal(found.name[0], "a0,0/p0/E");
    assert_string_equal(found.name[4], "a0,0/p0/local");
    assert_string_equal(found.comment, "a note");
    for (unsigned i = 0; i < 900; i++) {
        const struct hx_pcapng_read_packet *p = &found.packet[i];
        uint64_t time = i + 1;
        assert_int_equal(p->time_ns, EPOCH + time);
        assert_int_equal(p->interface, time % b.ports.interfaces);
        assert_int_equal(p->original, 64 + time % 100);
        assert_int_equal(p->captured, p->original < 128 ? p->original : 128);
        assert_int_equal(p->direction, p->interface % 2 ? HX_PCAPNG_INBOUND : HX_PCAPNG_OUTBOUND);
        assert_true(p->has_queue && p->has_id && !p->has_dropped);
        assert_int_equal(p->queue, p->interface % HX_VCS);
        assert_int_equal(p->id, time * 10);
        assert_int_equal(found.first_byte[i], time & 0xFF);
    }
    assert_int_equal(b.capture.report.written, 900);
    assert_int_equal(b.capture.report.received, 900);
    assert_int_equal(b.capture.report.error, 0);
    struct stat st;
    assert_int_equal(stat(b.file, &st), 0);
    assert_int_equal(b.capture.report.bytes, st.st_size);
}

/* A worker that has read the clock but not published may still bring an earlier record. */
static void a_writing_worker_is_waited_for_but_not_for_ever(void **state)
{
    (void)state;
    begin();
    publish();
    assert_int_equal(capture_drain(&b.capture, 500 * MS, false), 0);
    hx_tap_writes(&b.in[0]);
    (void)put(1, 500 * MS + 20, 1, 64);
    hx_tap_publish(&b.in[1]);
    assert_int_equal(capture_drain(&b.capture, 510 * MS, false), 0);
    (void)put(0, 500 * MS + 10, 0, 64);
    hx_tap_publish(&b.in[0]);
    assert_int_equal(capture_drain(&b.capture, 520 * MS, false), 2);
    hx_tap_writes(&b.in[0]); /* and is stopped for long */
    (void)put(1, 520 * MS, 1, 64);
    hx_tap_publish(&b.in[1]);
    assert_int_equal(capture_drain(&b.capture, 600 * MS, false), 0);
    assert_int_equal(capture_drain(&b.capture, 900 * MS, false), 1);
    capture_close(&b.capture);
    read_file(b.file);
    assert_int_equal(found.packets, 3);
    for (unsigned i = 1; i < 3; i++)
        assert_true(found.packet[i].time_ns > found.packet[i - 1].time_ns);
}

static void tell_floor(unsigned ring, uint64_t ps)
{
    hx_tap_publish(&b.in[ring]);
    atomic_store(&b.in[ring].ring->floor, ps);
}

/* A delivery comes before arrivals and departures of the same time, from any ring. */
static void simulated_records_wait_for_workers_without_records(void **state)
{
    (void)state;
    enum { OUT = 0, IN = 1, DELIVERED = 4 }; /* interfaces of a0,0 */
    static const uint32_t order[] = {DELIVERED, IN, OUT, OUT};
    b.plan.simulated = true;
    begin();
    (void)put(0, 7000, OUT, 64);
    (void)put(0, 8000, OUT, 64);
    (void)put(1, 7000, DELIVERED, 64);
    tell_floor(0, 9000);
    tell_floor(1, 8000);
    tell_floor(2, 7000);
    assert_int_equal(capture_drain(&b.capture, 0, false), 0);
    (void)put(2, 7000, IN, 64);
    tell_floor(2, 8000);
    assert_int_equal(capture_drain(&b.capture, 0, false), 3);
    assert_int_equal(capture_drain(&b.capture, 0, true), 1);
    capture_close(&b.capture);
    read_file(b.file);
    assert_int_equal(found.packets, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(found.packet[i].interface, order[i]);
        assert_int_equal(found.packet[i].time_ns, EPOCH + (i < 3 ? 7 : 8));
    }
}

static void drops_of_the_tap_are_noted_in_their_place(void **state)
{
    (void)state;
    begin();
    struct hx_tap_count *count = hx_tap_counts(b.memory.tap, &b.memory.shape) + 2;
    (void)put(0, 1, 2, 64);
    hx_tap_add(&count->received, 5);
    hx_tap_add(&count->accepted, 5);
    hx_tap_add(&count->dropped, 5);
    (void)put(0, 2, 2, 64);
    (void)put(0, 3, 3, 64);
    (void)put(0, 4, 2, 64);
    publish();
    (void)capture_drain(&b.capture, 10, true);
    capture_close(&b.capture);
    read_file(b.file);
    assert_int_equal(found.packets, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(found.packet[i].has_dropped, i == 1);
        assert_int_equal(found.packet[i].dropped, i == 1 ? 5 : 0);
    }
    assert_int_equal(found.statistics, b.ports.interfaces);
    assert_int_equal(found.statistic[2].received, 8);
    assert_int_equal(found.statistic[2].accepted, 8);
    assert_int_equal(found.statistic[2].dropped, 5);
    assert_int_equal(found.statistic[3].received, 1);
    assert_int_equal(b.capture.report.dropped, 5);
}

static void a_full_capture_stops(void **state)
{
    (void)state;
    b.plan.most = 10;
    begin();
    for (uint64_t time = 1; time <= 25; time++)
        (void)put(time % 2, time, 0, 64);
    publish();
    assert_false(capture_is_full(&b.capture));
    assert_int_equal(capture_drain(&b.capture, 100, true), 10);
    assert_true(capture_is_full(&b.capture));
    assert_int_equal(capture_drain(&b.capture, 100, true), 0);
    capture_close(&b.capture);
    assert_int_equal(b.capture.report.written, 10);
    read_file(b.file);
    assert_int_equal(found.packets, 10);
}

static void files_rotate_and_the_last_are_kept(void **state)
{
    (void)state;
    b.plan.rotate_bytes = 20000;
    b.plan.rotate_files = 2;
    begin();
    for (unsigned round = 0; round < 10; round++) {
        for (uint64_t time = 1; time <= 100; time++)
            (void)put(0, round * 100 + time, 0, 128);
        publish();
        (void)capture_drain(&b.capture, 100000, true);
    }
    capture_close(&b.capture);
    assert_int_equal(b.capture.report.written, 1000);
    assert_true(b.capture.report.files > 5);
    unsigned packets = 0;
    for (uint64_t n = 1; n <= b.capture.report.files + 1; n++) {
        char name[128];
        capture_file_name(name, sizeof name, b.file, n);
        bool kept = n + 2 > b.capture.report.files && n <= b.capture.report.files;
        assert_int_equal(access(name, F_OK) == 0, kept);
        if (!kept)
            continue;
        read_file(name);
        assert_int_equal(found.statistics, b.ports.interfaces);
        packets += found.packets;
        if (n == b.capture.report.files)
            assert_int_equal(found.packet[found.packets - 1].time_ns, EPOCH + 1000);
    }
    assert_in_range(packets, 80, 250);
}

/* Frames that fill a file exactly start no other; if the head exceeds a file's limit, the file still gets its first
 * frame. */
static void a_file_begins_with_a_frame(void **state)
{
    (void)state;
    b.plan.rotate_bytes = 1;
    begin();
    for (uint64_t time = 1; time <= 3; time++)
        (void)put(0, time, 0, 128);
    publish();
    (void)capture_drain(&b.capture, 100000, true);
    capture_close(&b.capture);
    assert_int_equal(b.capture.report.files, 3);
    for (unsigned n = 1; n <= 3; n++) {
        char name[128];
        capture_file_name(name, sizeof name, b.file, n);
        read_file(name);
        assert_int_equal(found.packets, 1);
    }
}

static void a_full_disk_is_counted_and_draining_goes_on(void **state)
{
    (void)state;
    b.plan.file = "/dev/full";
    begin();
    for (unsigned round = 0; round < 50; round++) {
        for (uint64_t time = 1; time <= 100; time++)
            (void)put(0, round * 100 + time, 0, 128);
        publish();
        assert_int_equal(capture_drain(&b.capture, 100000, true), 100);
    }
    capture_close(&b.capture);
    assert_int_equal(b.capture.report.error, ENOSPC);
    assert_int_equal(b.capture.report.written, 0);
    assert_int_equal(b.capture.report.unwritten, 5000);
    assert_int_equal(b.capture.report.received, 5000);
}

static void a_file_that_cannot_be_opened_is_refused(void **state)
{
    (void)state;
    struct hx_problem problem;
    b.plan.file = "/nowhere/x.pcapng";
    assert_false(capture_open(&b.capture, &b.plan, 0, &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_ENVIRONMENT);
    assert_string_equal(problem.where, "/nowhere/x.pcapng");
}

static void a_note_is_a_comment(void **state)
{
    (void)state;
    begin();
    struct hx_tap_record *r = hx_tap_reserve(&b.in[0], hx_tap_record_bytes(64, true));
    *r = (struct hx_tap_record){
        .size = r->size, .time = 1, .original = 64, .captured = 64, .direction = HX_TAP_OUT, .noted = 1};
    *hx_tap_note_of(r) = (struct hx_tap_note){.candidates = 1, .input = HX_LOCAL, .room = {3}};
    publish();
    (void)capture_drain(&b.capture, 2, true);
    capture_close(&b.capture);
    read_file(b.file);
    assert_string_equal(found.comment, "in local vc 0, out E vc 0: the only way. candidates E 3 packets; 2 left on E");
}

int main(void)
{
#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        WITH_BENCH(records_of_all_rings_come_in_the_order_of_time),
        WITH_BENCH(a_fault_is_a_comment_of_the_first_frame_from_its_time_on),
        WITH_BENCH(a_writing_worker_is_waited_for_but_not_for_ever),
        WITH_BENCH(simulated_records_wait_for_workers_without_records),
        WITH_BENCH(drops_of_the_tap_are_noted_in_their_place),
        WITH_BENCH(a_full_capture_stops),
        WITH_BENCH(files_rotate_and_the_last_are_kept),
        WITH_BENCH(a_file_begins_with_a_frame),
        WITH_BENCH(a_later_file_has_the_age_of_a_fault),
        WITH_BENCH(a_full_disk_is_counted_and_draining_goes_on),
        WITH_BENCH(a_file_that_cannot_be_opened_is_refused),
        WITH_BENCH(a_note_is_a_comment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
