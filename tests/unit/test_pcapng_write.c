/* test_pcapng_write.c - written capture files can be read, are complete after any write, and failures are returned. */
#include "base/pcapng/read.h"
#include "spec/pcapng/fabric.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static uint8_t room[HX_PCAPNG_ROOM];

/* Takes what is written; refuses from a given call on. */
struct sink {
    uint8_t bytes[1 << 20];
    size_t used, calls, last_call;
    size_t refuse_after; /* calls; 0: never */
};

static int take(void *context, const void *bytes, size_t length)
{
    struct sink *s = context;
    if (s->refuse_after && s->calls == s->refuse_after)
        return ENOSPC;
    assert_true(s->used + length <= sizeof s->bytes);
    memcpy(s->bytes + s->used, bytes, length);
    s->last_call = s->used;
    s->used += length;
    s->calls++;
    return 0;
}

static struct sink sink;

static void begin(struct hx_pcapng_writer *w)
{
    memset(&sink, 0, sizeof sink);
    assert_int_equal(hx_pcapng_begin(w, room, sizeof room, take, &sink), 0);
    assert_int_equal(hx_pcapng_section(w, &(struct hx_pcapng_section){.application = "test 1.0",
                                                                      .hardware = "bench",
                                                                      .os = "none",
                                                                      .comments = {"first", "second"}}),
                     0);
    assert_int_equal(hx_pcapng_interface(w, &(struct hx_pcapng_interface){.name = "a0,0/p0/E",
                                                                          .description = "east",
                                                                          .filter = "ether proto 0x88b5",
                                                                          .snaplen = 96,
                                                                          .bits_per_second = 400000000000U}),
                     0);
    assert_int_equal(hx_pcapng_interface(w, &(struct hx_pcapng_interface){.name = "row3/p0/12", .snaplen = 96}), 0);
}

static bool text_is(struct hx_pcapng_text t, const char *expected)
{
    return t.length == strlen(expected) && memcmp(t.bytes, expected, t.length) == 0;
}

static enum hx_pcapng_event next(struct hx_pcapng_reader *r)
{
    struct hx_problem problem;
    enum hx_pcapng_event event = hx_pcapng_next(r, &problem);
    if (event == HX_PCAPNG_IS_BAD)
        print_error("%s: %s\n", problem.where, problem.what);
    return event;
}

static FILE *open_written(struct hx_pcapng_reader *r)
{
    struct hx_problem problem;
    FILE *in = fmemopen(sink.bytes, sink.used, "rb");
    assert_non_null(in);
    assert_true(hx_pcapng_open_file(r, in, "memory", &problem));
    return in;
}

static void written_files_read_back(void **state)
{
    (void)state;
    struct hx_pcapng_writer w;
    begin(&w);
    const struct hx_pcapng_packet p = {.interface = 1,
                                       .time_ns = 1795262637123456789U,
                                       .bytes = "0123456789abcde",
                                       .captured = 15,
                                       .original = 8256,
                                       .direction = HX_PCAPNG_OUTBOUND,
                                       .has_queue = true,
                                       .queue = 2,
                                       .has_dropped = true,
                                       .dropped = 5000000000U,
                                       .has_id = true,
                                       .id = 0x0123456789ABCDEFU,
                                       .comments = {"most room of E, N", "fault at 5 us: a0,0/E down"}};
    assert_int_equal(hx_pcapng_packet(&w, &p), 0);
    assert_int_equal(hx_pcapng_packet(&w, &(struct hx_pcapng_packet){.interface = 0}), 0);
    assert_int_equal(hx_pcapng_statistics(&w, &(struct hx_pcapng_statistics){.interface = 1,
                                                                             .time_ns = 9000000000000000001U,
                                                                             .start_ns = 7,
                                                                             .end_ns = 1ULL << 40,
                                                                             .received = 10,
                                                                             .dropped = 3,
                                                                             .accepted = HX_PCAPNG_NOT_KNOWN,
                                                                             .os_dropped = 1}),
                     0);
    assert_int_equal(hx_pcapng_flush(&w), 0);
    assert_int_equal(w.packets, 2);
    assert_int_equal(w.bytes, sink.used);

    struct hx_pcapng_reader r;
    FILE *in = open_written(&r);
    assert_int_equal(next(&r), HX_PCAPNG_IS_SECTION);
    assert_true(text_is(r.section.application, "test 1.0"));
    assert_int_equal(r.section.comments, 2);
    assert_true(text_is(r.section.comment[1], "second"));
    assert_int_equal(next(&r), HX_PCAPNG_IS_INTERFACE);
    assert_true(text_is(r.interface.name, "a0,0/p0/E") && text_is(r.interface.description, "east"));
    assert_true(text_is(r.interface.filter, "ether proto 0x88b5"));
    assert_int_equal(r.interface.snaplen, 96);
    assert_int_equal(next(&r), HX_PCAPNG_IS_INTERFACE);
    assert_int_equal(r.interface.number, 1);
    assert_int_equal(next(&r), HX_PCAPNG_IS_PACKET);
    assert_true(r.packet.frame == 1 && r.packet.interface == 1 && r.packet.time_ns == p.time_ns);
    assert_true(r.packet.captured == 15 && r.packet.original == 8256);
    assert_memory_equal(r.packet.bytes, p.bytes, 15);
    assert_true(r.packet.direction == HX_PCAPNG_OUTBOUND && r.packet.has_queue && r.packet.queue == 2);
    assert_true(r.packet.has_dropped && r.packet.dropped == p.dropped && r.packet.has_id && r.packet.id == p.id);
    assert_true(text_is(r.packet.comment, p.comments[0]));
    assert_int_equal(next(&r), HX_PCAPNG_IS_PACKET);
    assert_true(r.packet.frame == 2 && r.packet.captured == 0 && r.packet.direction == HX_PCAPNG_UNKNOWN &&
                !r.packet.has_queue && !r.packet.comment.bytes);
    assert_int_equal(next(&r), HX_PCAPNG_IS_STATISTICS);
    assert_true(r.statistics.interface == 1 && r.statistics.time_ns == 9000000000000000001U &&
                r.statistics.start_ns == 7 && r.statistics.end_ns == 1ULL << 40);
    assert_true(r.statistics.received == 10 && r.statistics.dropped == 3 &&
                r.statistics.accepted == HX_PCAPNG_NOT_KNOWN && r.statistics.os_dropped == 1);
    assert_int_equal(next(&r), HX_PCAPNG_IS_END);
    hx_pcapng_close(&r);
    (void)fclose(in);
}

static void every_write_ends_with_a_whole_block(void **state)
{
    (void)state;
    struct hx_pcapng_writer w;
    begin(&w);
    static const uint8_t bytes[3000];
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(
            hx_pcapng_packet(&w,
                             &(struct hx_pcapng_packet){.bytes = bytes, .captured = 2900 + i % 7, .original = 3000}),
            0);
    assert_int_equal(hx_pcapng_flush(&w), 0);
    assert_true(sink.calls >= 2);
    sink.used = sink.last_call; /* as if the last write never happened */
    struct hx_pcapng_reader r;
    FILE *in = open_written(&r);
    unsigned packets = 0;
    enum hx_pcapng_event event;
    while ((event = next(&r)) > HX_PCAPNG_IS_END)
        packets += event == HX_PCAPNG_IS_PACKET;
    assert_int_equal(event, HX_PCAPNG_IS_END);
    assert_true(packets > 0 && packets < 200);
    hx_pcapng_close(&r);
    (void)fclose(in);
}

static void a_full_disk_is_returned_and_counted(void **state)
{
    (void)state;
    struct hx_pcapng_writer w;
    begin(&w);
    sink.refuse_after = 1;
    const struct hx_pcapng_packet p = {.bytes = "x", .captured = 1, .original = 1};
    assert_int_equal(hx_pcapng_packet(&w, &p), 0);
    assert_int_equal(hx_pcapng_flush(&w), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(hx_pcapng_packet(&w, &p), 0);
    assert_int_equal(hx_pcapng_flush(&w), ENOSPC);
    assert_int_equal(hx_pcapng_packet(&w, &p), ENOSPC);
    assert_int_equal(hx_pcapng_statistics(&w, &(struct hx_pcapng_statistics){.interface = 0}), ENOSPC);
    assert_int_equal(hx_pcapng_flush(&w), ENOSPC);
    assert_int_equal(w.packets_lost, 4);
    assert_int_equal(w.packets, 4);
}

static void an_invalid_call_leaves_the_file_unchanged(void **state)
{
    (void)state;
    struct hx_pcapng_writer w;
    begin(&w);
    size_t used = w.used;
    static const uint8_t bytes[HX_PCAPNG_MOST_BYTES + 1];
    const struct hx_pcapng_packet nowhere = {.interface = 2};
    const struct hx_pcapng_packet more_than_all = {.bytes = bytes, .captured = 2, .original = 1};
    const struct hx_pcapng_packet huge = {.bytes = bytes, .captured = sizeof bytes, .original = sizeof bytes};
    assert_int_equal(hx_pcapng_packet(&w, &nowhere), EINVAL);
    assert_int_equal(hx_pcapng_packet(&w, &more_than_all), EINVAL);
    assert_int_equal(hx_pcapng_packet(&w, &huge), EMSGSIZE);
    assert_int_equal(hx_pcapng_statistics(&w, &(struct hx_pcapng_statistics){.interface = 9}), EINVAL);
    assert_int_equal(hx_pcapng_begin(&(struct hx_pcapng_writer){.used = 0}, room, 1000, take, &sink), EINVAL);
    assert_int_equal(w.used, used);
    assert_int_equal(w.error, 0);
    assert_int_equal(w.packets, 0);
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    struct hx_pcapng_writer w;
    begin(&w);
    char *text = malloc(3 * HX_PCAPNG_MOST_TEXT + 1);
    assert_non_null(text);
    for (unsigned i = 0; i < HX_PCAPNG_MOST_TEXT; i++)
        memcpy(text + (size_t)3 * i, "\xE2\x86\x92", 4); /* three bytes a character; 4096 is no multiple of 3 */
    assert_int_equal(hx_pcapng_packet(&w, &(struct hx_pcapng_packet){.comments = {text}}), 0);
    assert_int_equal(hx_pcapng_flush(&w), 0);
    struct hx_pcapng_reader r;
    FILE *in = open_written(&r);
    enum hx_pcapng_event event;
    do
        event = next(&r);
    while (event > HX_PCAPNG_IS_END && event != HX_PCAPNG_IS_PACKET);
    assert_int_equal(event, HX_PCAPNG_IS_PACKET);
    assert_int_equal(r.packet.comment.length, HX_PCAPNG_MOST_TEXT / 3 * 3);
    hx_pcapng_close(&r);
    (void)fclose(in);
    free(text);
}

/* A limit on file size stands for the full disk; the file has whole blocks up to there. */
static void a_file_ends_with_a_whole_block_when_the_disk_is_full(void **state)
{
    (void)state;
    char path[] = "/tmp/hxmesh-pcapng-XXXXXX";
    struct hx_pcapng_fd file = {.fd = mkstemp(path)};
    assert_true(file.fd >= 0);
    (void)unlink(path);
    (void)signal(SIGXFSZ, SIG_IGN);
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    const struct rlimit small = {.rlim_cur = 300001, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);

    struct hx_pcapng_writer w;
    hx_pcapng_begin(&w, room, sizeof room, hx_pcapng_write_fd, &file);
    hx_pcapng_section(&w, &(struct hx_pcapng_section){.application = "test"});
    hx_pcapng_interface(&w, &(struct hx_pcapng_interface){.name = "a0,0/p0/E"});
    static const uint8_t bytes[8256];
    int error = 0;
    for (unsigned i = 0; i < 1000 && !error; i++)
        error = hx_pcapng_packet(&w, &(struct hx_pcapng_packet){.bytes = bytes, .captured = 8256, .original = 8256});
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(error, EFBIG);
    assert_true(w.packets_lost > 0);
    assert_int_equal(w.packets + 1 - w.packets_lost, 300001 / (8256 + 32)); /* the head is smaller than the rest */
    assert_int_equal(lseek(file.fd, 0, SEEK_END), (off_t)w.bytes);

    assert_int_equal(lseek(file.fd, 0, SEEK_SET), 0);
    FILE *in = fdopen(file.fd, "rb");
    struct hx_pcapng_reader r;
    struct hx_problem problem;
    assert_true(hx_pcapng_open_file(&r, in, "file", &problem));
    uint64_t packets = 0;
    enum hx_pcapng_event event;
    while ((event = next(&r)) > HX_PCAPNG_IS_END)
        packets += event == HX_PCAPNG_IS_PACKET;
    assert_int_equal(event, HX_PCAPNG_IS_END);
    assert_int_equal(packets, w.packets - (w.packets_lost - 1)); /* one was refused without being counted in */
    hx_pcapng_close(&r);
    (void)fclose(in);
}

/* ---- the fabric's comment ---- */

static void the_comment_names_the_fabric(void **state)
{
    (void)state;
    struct hx_spec spec;
    struct hx_problem problem;
    assert_true(hx_spec_parse("3x2 H2x4Mesh", &spec, &problem));
    spec.planes = 4;
    spec.credits = 64;
    spec.failed = calloc(6, sizeof *spec.failed);
    spec.job = calloc(6, sizeof *spec.job);
    assert_true(spec.failed && spec.job);
    spec.failed[1] = spec.failed[3] = spec.failed[4] = true;
    spec.job[0] = 7;
    spec.job[1] = 7;
    spec.job[5] = 65535;
    const struct hx_capture_facts facts = {.link = HX_CAPTURE_PORT,
                                           .crc = HX_CAPTURE_CRC_OFF,
                                           .span = HX_CAPTURE_SPAN_PART,
                                           .clock = HX_CLOCK_VIRTUAL,
                                           .buffer = 131072};
    char text[HX_PCAPNG_MOST_NOTE];
    assert_string_equal(hx_capture_print(text, sizeof text, &spec, &facts),
                        "hxmesh fabric: 3x2 H2x4Mesh planes=4 radix=64 taper=1 credits=64 link=port clock=virtual "
                        "buffer=131072 crc=off span=part failed=1,3-4 jobs=0-1:7,5:65535");
    struct hx_spec again;
    struct hx_capture_facts facts_again;
    assert_true(hx_capture_parse(text, strlen(text), &(struct hx_graph_text){NULL, 0}, &again, &facts_again, &problem));
    assert_string_equal(again.fabric, spec.fabric);
    assert_true(again.planes == 4 && again.radix == 64 && again.taper == 1 && again.credits == 64);
    assert_memory_equal(again.failed, spec.failed, 6 * sizeof *spec.failed);
    assert_memory_equal(again.job, spec.job, 6 * sizeof *spec.job);
    assert_true(facts_again.link == facts.link && facts_again.crc == facts.crc && facts_again.span == facts.span &&
                facts_again.clock == facts.clock && facts_again.buffer == facts.buffer);
    assert_false(facts_again.failed_unknown || facts_again.jobs_unknown);
    hx_spec_free(&spec);
    hx_spec_free(&again);
}

/* So the first "span=" of the comment is its own token, which is rewritten at the end of a run. */
static void file_names_cannot_imitate_tokens_of_the_comment(void **state)
{
    (void)state;
    static const char *const names[] = {"graph span=part", "graph span=part/x.txt", "graph /tmp/span=run",
                                        "graph a span=part", "graph x.txt span=run"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        struct hx_spec spec = {.failed = NULL};
        struct hx_problem problem;
        assert_false(hx_spec_parse(names[i], &spec, &problem) && hx_spec_build(&spec, &problem));
        assert_true(strstr(problem.what, "name a file") || strstr(problem.what, "unknown key 'span'"));
        hx_spec_free(&spec);
    }
}

static void boards_that_do_not_fit_are_unknown(void **state)
{
    (void)state;
    struct hx_spec spec;
    struct hx_problem problem;
    assert_true(hx_spec_parse("64x64 Hx1Mesh", &spec, &problem));
    spec.job = calloc(64 * 64, sizeof *spec.job);
    spec.failed = calloc(64 * 64, sizeof *spec.failed);
    assert_true(spec.job && spec.failed);
    for (unsigned board = 0; board < 64 * 64; board++)
        spec.job[board] = (uint16_t)(1 + board);
    spec.failed[5] = true;
    char text[400];
    hx_capture_print(text, sizeof text, &spec, &(struct hx_capture_facts){.link = HX_CAPTURE_MEMORY});
    assert_non_null(strstr(text, " failed=5 jobs=unknown"));
    struct hx_spec again;
    struct hx_capture_facts facts;
    assert_true(hx_capture_parse(text, strlen(text), &(struct hx_graph_text){NULL, 0}, &again, &facts, &problem));
    assert_true(facts.jobs_unknown && !again.job && !facts.failed_unknown && again.failed[5]);
    hx_spec_free(&again);
    hx_spec_free(&spec);
}

static void invalid_comments_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wrong;
    } comments[] = {{"a comment", "does not begin with"},
                    {"hxmesh fabric: ", "is not a fabric"},
                    {"hxmesh fabric: 4x4 Hx2Mesh planes=5", "planes"},
                    {"hxmesh fabric: 4x4 Hx2Mesh credits=33", "multiple"},
                    {"hxmesh fabric: 4x4 Hx2Mesh link=rope", "link"},
                    {"hxmesh fabric: 4x4 Hx2Mesh failed=16", "failed=16"},
                    {"hxmesh fabric: 4x4 Hx2Mesh failed=3-", "failed"},
                    {"hxmesh fabric: 4x4 Hx2Mesh failed=5-3", "failed"},
                    {"hxmesh fabric: 4x4 Hx2Mesh jobs=3", "jobs=3"},
                    {"hxmesh fabric: 4x4 Hx2Mesh jobs=3:70000", "jobs"},
                    {"hxmesh fabric: 4x4 Hx2Mesh jobs=3:7,", "jobs"},
                    {"hxmesh fabric: 9999x9999 Hx2Mesh", "outside"},
                    {"hxmesh fabric: 1024x1024 Hx64Mesh", "longer"}};
    for (unsigned i = 0; i < sizeof comments / sizeof *comments; i++) {
        struct hx_spec spec;
        struct hx_capture_facts facts;
        struct hx_problem problem;
        assert_false(hx_capture_parse(comments[i].text, strlen(comments[i].text), &(struct hx_graph_text){NULL, 0},
                                      &spec, &facts, &problem));
        if (!strstr(problem.what, comments[i].wrong))
            fail_msg("'%s': '%s' does not say '%s'", comments[i].text, problem.what, comments[i].wrong);
    }
}

static void unknown_tokens_are_ignored_and_defaults_apply(void **state)
{
    (void)state;
    struct hx_spec spec;
    struct hx_capture_facts facts;
    struct hx_problem problem;
    static const char text[] = "hxmesh fabric: 4x4 hx2mesh colour=blue 17 ?";
    assert_true(hx_capture_parse("hxmesh fabric: 4x4 hx2mesh colour=blue", sizeof text - 6,
                                 &(struct hx_graph_text){NULL, 0}, &spec, &facts, &problem));
    assert_true(spec.x == 4 && spec.planes == 1 && spec.credits == 512 && !spec.failed && !spec.job);
    assert_true(facts.link == HX_CAPTURE_WIRE && facts.crc == HX_CAPTURE_CRC_NOT_SAID && facts.buffer == 0);
    hx_spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_files_read_back),
        cmocka_unit_test(every_write_ends_with_a_whole_block),
        cmocka_unit_test(a_full_disk_is_returned_and_counted),
        cmocka_unit_test(an_invalid_call_leaves_the_file_unchanged),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(a_file_ends_with_a_whole_block_when_the_disk_is_full),
        cmocka_unit_test(the_comment_names_the_fabric),
        cmocka_unit_test(file_names_cannot_imitate_tokens_of_the_comment),
        cmocka_unit_test(boards_that_do_not_fit_are_unknown),
        cmocka_unit_test(invalid_comments_are_refused),
        cmocka_unit_test(unknown_tokens_are_ignored_and_defaults_apply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
