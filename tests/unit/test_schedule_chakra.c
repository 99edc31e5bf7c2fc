/* test_schedule_chakra.c - Chakra traces: what nodes become, their order, groups, the JSON form, broken files. */
#include "schedule/formats.h"
#include "tests/support/support_chakra.h"
#include "tests/support/support_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

enum { INT32 = 7, INT64 = 9, BOOL = 27 };
enum { METADATA = 1, LOAD = 2, COMPUTE = 4, SEND = 5, RECEIVE = 6, COLLECTIVE = 7 };

static struct schedule_read_options options;
static struct schedule_notes notes;
static struct hx_problem problem;

static struct schedule *read_file(const char *name)
{
    struct schedule *s = schedule_read(file_path(name), &options, &notes, &problem);
    if (!s)
        fail_msg("%s: %s", problem.where, problem.what);
    return s;
}

static struct schedule *read_trace(const char *name, const struct bytes *file)
{
    (void)file_write(name, file->at, file->count);
    return read_file(name);
}

/* Reads a file that is refused: the message. */
static const char *refused(const char *name, const struct bytes *file)
{
    (void)file_write(name, file->at, file->count);
    assert_null(schedule_read(file_path(name), &options, &notes, &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    assert_string_equal(problem.where, file_path(name));
    return problem.what;
}

/* Checks the message for a file of one node. */
static void refuses(const struct bytes *node, const char *message)
{
    struct bytes file = trace_begin();
    trace_add(&file, node);
    assert_string_equal(refused("refused.et", &file), message);
}

static bool waits(const struct schedule *s, uint32_t later, uint32_t earlier)
{
    const uint32_t *list;
    uint32_t count = schedule_followers(s, 0, earlier, &list);
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] == later << 1)
            return true;
    }
    return false;
}

static struct bytes collective(uint64_t id, uint64_t type, uint64_t bytes)
{
    struct bytes node = node_begin(id, "c", COLLECTIVE);
    node_attribute(&node, "is_cpu_op", BOOL, 0);
    node_attribute(&node, "comm_type", INT64, type);
    node_attribute(&node, "comm_size", INT64, bytes);
    return node;
}

/* ---- what nodes become ---- */

/* The example of ASTRA-sim: an all-gather of 1 MiB from each of four ranks. Any file, or the prefix, names all. */
static void files_of_ranks(void **state)
{
    static const char *const names[] = {"gather.0.et", "gather.1.et", "gather.2.et", "gather.3.et"};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct bytes file = trace_begin();
        const struct bytes node = collective(i, 2, 1 << 20);
        trace_add(&file, &node);
        (void)file_write(names[i], file.at, file.count);
    }
    for (unsigned i = 0; i < 3; i++) {
        struct schedule *s = read_file((const char *const[]){"gather.0.et", "gather.2.et", "gather"}[i]);
        assert_int_equal(schedule_ranks(s), 4);
        for (uint32_t rank = 0; rank < 4; rank++) {
            const struct schedule_operation *o = schedule_at(s, rank, 0);
            assert_int_equal(schedule_count(s, rank), 1);
            assert_int_equal(o->kind, SCHEDULE_COLLECTIVE);
            assert_int_equal(o->collective, HX_ALL_GATHER);
            assert_int_equal(o->amount, 4 << 20);
            assert_int_equal(schedule_group_size(s, o->peer), 4);
            assert_string_equal(schedule_name(s, o), "c");
        }
        schedule_close(s);
    }
    assert_int_equal(unlink(file_path("gather.1.et")), 0);
    for (unsigned i = 0; i < 4; i++) {
        static const char *const any[] = {"gather.0.et", "gather.2.et", "gather.3.et", "gather"};
        assert_null(schedule_read(file_path(any[i]), &options, &notes, &problem));
        assert_string_equal(problem.where, file_path("gather.1.et"));
        assert_string_equal(problem.what, "is missing: a trace has a file for each rank, and that of rank 3 is there");
    }
    assert_int_equal(unlink(file_path("gather.3.et")), 0);
    assert_int_equal(unlink(file_path("gather.2.et")), 0);
    struct schedule *s = read_file("gather.0.et"); /* nothing says that there were more */
    assert_int_equal(schedule_ranks(s), 1);
    schedule_close(s);
    assert_null(schedule_read(file_path("gather.5.et"), &options, &notes, &problem));
}

/* comm_size is what a rank gives; the vector of gathering collectives is longer. */
static void kinds_of_collectives(void **state)
{
    static const struct {
        enum hx_collective_kind kind;
        uint64_t bytes;
        uint32_t root;
    } kinds[] = {{HX_ALL_REDUCE, 600, 0},
                 {HX_REDUCE, 600, 0},
                 {HX_ALL_GATHER, 1200, 0},
                 {HX_GATHER, 1200, 0},
                 {HX_SCATTER, 600, 1},
                 {HX_BROADCAST, 600, 1},
                 {HX_COLLECTIVE_ALL_TO_ALL, 600, 0},
                 {HX_REDUCE_SCATTER, 600, 0},
                 {HX_REDUCE_SCATTER, 600, 0},
                 {HX_BARRIER, 0, 0}};
    struct bytes file = trace_begin();
    (void)state;
    (void)file_write("kinds.1.et", file.at, file.count);
    for (unsigned i = 0; i < 10; i++) {
        struct bytes node = collective(i, i, 600);
        node_attribute(&node, "comm_src", INT32, 1);
        trace_add(&file, &node);
    }
    struct schedule *s = read_trace("kinds.0.et", &file);
    assert_int_equal(schedule_count(s, 0), 10);
    assert_int_equal(schedule_count(s, 1), 0);
    for (unsigned i = 0; i < 10; i++) {
        const struct schedule_operation *o = schedule_at(s, 0, i);
        assert_int_equal(o->collective, kinds[i].kind);
        assert_int_equal(o->amount, kinds[i].bytes);
        assert_int_equal(o->tag, kinds[i].root);
    }
    schedule_close(s);
}

static void messages(void **state)
{
    struct bytes file = trace_begin();
    struct bytes node = node_begin(1, "s", SEND);
    (void)state;
    node_attribute(&node, "comm_size", 13, 4096);
    node_attribute(&node, "comm_dst", 11, 1);
    node_attribute(&node, "comm_tag", INT32, 7);
    trace_add(&file, &node);
    node = node_begin(2, "r", RECEIVE);
    node_attribute(&node, "comm_size", 17, 8192); /* zigzag: 4096 */
    node_attribute(&node, "comm_src", INT32, 1);
    trace_add(&file, &node);
    (void)file_write("messages.1.et", file.at, 8);
    struct schedule *s = read_trace("messages.0.et", &file);
    const struct schedule_operation *o = schedule_at(s, 0, 0);
    assert_int_equal(o[0].kind, SCHEDULE_SEND);
    assert_int_equal(o[0].amount, 4096);
    assert_int_equal(o[0].peer, 1);
    assert_int_equal(o[0].tag, 7);
    assert_int_equal(o[1].kind, SCHEDULE_RECEIVE);
    assert_int_equal(o[1].amount, 4096);
    assert_int_equal(o[1].peer, 1);
    assert_int_equal(o[1].tag, 0);
    assert_int_equal(o[1].waits, 0);
    schedule_close(s);
}

/* Durations; and the roofline: 1000 operations on 4000 bytes, a million operations on 4 bytes. */
static void times_of_computing(void **state)
{
    struct bytes file = trace_begin();
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct bytes node = node_begin(i, "x", COMPUTE);
        bytes_number(&node, 7, i == 3 ? 0 : 5); /* microseconds */
        node_attribute(&node, "is_cpu_op", BOOL, i == 2);
        node_attribute(&node, "num_ops", INT64, i == 1 ? 1000000 : 1000);
        node_attribute(&node, "tensor_size", 13, i == 1 ? 4 : 4000);
        trace_add(&file, &node);
    }
    struct schedule *s = read_trace("times.et", &file);
    const struct schedule_operation *o = schedule_at(s, 0, 0);
    assert_int_equal(o[0].amount, 5000000);
    assert_int_equal(o[0].stream, 0);
    assert_int_equal(o[2].amount, 5000000);
    assert_int_equal(o[2].stream, 1);
    assert_int_equal(o[3].amount, 0);
    assert_string_equal(notes.annotations, "1 computation has no time (see --flops)");
    schedule_close(s);
    options.flops = 1e9;
    options.memory_bandwidth = 1e9;
    s = read_file("times.et");
    o = schedule_at(s, 0, 0);
    assert_int_equal(o[0].amount, 4000000);    /* by memory */
    assert_int_equal(o[1].amount, 1000000000); /* by operations */
    assert_int_equal(o[2].amount, 5000000);    /* of the CPU: as recorded */
    assert_string_equal(notes.annotations, "");
    schedule_close(s);
    options = (struct schedule_read_options){.ranks = 0};
}

/* A node of the CPU that launches communication computes; one of the GPU without a size is left out. */
static void communication_without_size(void **state)
{
    struct bytes file = trace_begin();
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct bytes node = node_begin(i, "c10d::allreduce_", COLLECTIVE);
        bytes_number(&node, 7, 9);
        node_attribute(&node, "is_cpu_op", BOOL, i == 0);
        trace_add(&file, &node);
    }
    struct schedule *s = read_trace("launch.et", &file);
    assert_int_equal(schedule_count(s, 0), 1);
    assert_int_equal(schedule_at(s, 0, 0)->kind, SCHEDULE_COMPUTE);
    assert_int_equal(schedule_at(s, 0, 0)->stream, 1);
    assert_int_equal(notes.skipped, 1);
    assert_string_equal(notes.what, "1 communication node without kind or size");
    schedule_close(s);
}

/* ---- order ---- */

/* Nodes may stand in any order; operations are numbered by id. */
static void order_of_ids(void **state)
{
    static const unsigned ids[] = {40, 10, 30, 20};
    struct bytes file = trace_begin();
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct bytes node = node_begin(ids[i], "x", COMPUTE);
        bytes_number(&node, 7, ids[i]);
        if (ids[i] == 20)
            node_control(&node, 10);
        if (ids[i] == 30) {
            node_data(&node, 10);
            bytes_number(&node, 5, 20); /* not packed */
        }
        trace_add(&file, &node);
    }
    struct schedule *s = read_trace("order.et", &file);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(schedule_at(s, 0, i)->amount, (i + 1) * 10000000);
    assert_true(waits(s, 1, 0));
    assert_true(waits(s, 2, 0));
    assert_true(waits(s, 2, 1));
    assert_int_equal(schedule_at(s, 0, 3)->waits, 0);
    schedule_close(s);
}

/* 0 <- memory 1 <- memory 2 <- 4, and 3 <- invalid 5 <- 4: 4 waits for 0 and 3. */
static void nodes_left_out_pass_on(void **state)
{
    static const unsigned types[] = {COMPUTE, LOAD, 3, COMPUTE, COMPUTE, 0};
    static const int first[] = {-1, 0, 1, -1, 2, 3};
    struct bytes file = trace_begin();
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct bytes node = node_begin(i, "x", types[i]);
        if (first[i] >= 0)
            node_data(&node, (uint64_t)first[i]);
        if (i == 4)
            node_control(&node, 5);
        trace_add(&file, &node);
    }
    struct schedule *s = read_trace("memory.et", &file);
    assert_int_equal(schedule_count(s, 0), 3);
    assert_true(waits(s, 2, 0));
    assert_true(waits(s, 2, 1));
    assert_int_equal(schedule_at(s, 0, 1)->waits, 0);
    assert_int_equal(notes.skipped, 3);
    assert_string_equal(notes.what, "2 memory nodes, 1 invalid node");
    schedule_close(s);
}

/* PyTorch: the caller waits for what it calls (data), which names its caller (control). */
static void circles_of_control(void **state)
{
    struct bytes file = trace_begin();
    struct bytes node = node_begin(1, "caller", COMPUTE);
    (void)state;
    node_data(&node, 2);
    trace_add(&file, &node);
    node = node_begin(2, "called", COMPUTE);
    node_control(&node, 1);
    node_control(&node, 99);
    trace_add(&file, &node);
    node = node_begin(3, "next", COMPUTE);
    node_control(&node, 1);
    trace_add(&file, &node);
    struct schedule *s = read_trace("circle.et", &file);
    assert_true(waits(s, 0, 1));
    assert_false(waits(s, 1, 0));
    assert_true(waits(s, 2, 0));
    assert_int_equal(notes.skipped, 0);
    assert_string_equal(notes.annotations, "1 control dependency on a missing node is dropped, "
                                           "1 control dependency in a circle is dropped");
    schedule_close(s);
}

static void circles_of_data(void **state)
{
    struct bytes file = trace_begin();
    struct bytes node = node_begin(1, "a", COMPUTE);
    (void)state;
    node_data(&node, 2);
    trace_add(&file, &node);
    node = node_begin(2, "b", COMPUTE);
    node_data(&node, 1);
    trace_add(&file, &node);
    assert_string_equal(refused("round.et", &file), "rank 0: 'a' and 'b' wait for each other");

    file = trace_begin();
    node = node_begin(1, "a", LOAD);
    node_data(&node, 1);
    trace_add(&file, &node);
    node = node_begin(2, "b", COMPUTE);
    node_data(&node, 1);
    trace_add(&file, &node);
    assert_string_equal(refused("round.et", &file), "byte 8: node 1 ('a'): waits for itself, by way of node 1");
}

/* ---- groups ---- */

static struct bytes grouped(uint64_t id, const char *group)
{
    struct bytes node = collective(id, 0, 64);
    node_text(&node, "pg_name", group);
    return node;
}

static void groups_of_a_file(void **state)
{
    struct bytes file = trace_begin();
    (void)state;
    (void)file_write("groups.1.et", file.at, file.count);
    (void)file_write("groups.2.et", file.at, file.count);
    for (unsigned i = 0; i < 3; i++) {
        const struct bytes node = grouped(i, (const char *const[]){"3", "0", ""}[i]);
        trace_add(&file, &node);
    }
    static char path[FILE_PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s", file_write_text("groups.json", "{\"3\": [2, 0], \"tensor\": [1]}"));
    options.groups = path;
    struct schedule *s = read_trace("groups.0.et", &file);
    const struct schedule_operation *o = schedule_at(s, 0, 0);
    assert_int_equal(schedule_group_size(s, o[0].peer), 2);
    assert_int_equal(schedule_group(s, o[0].peer)[0], 2);
    assert_int_equal(schedule_group_size(s, o[1].peer), 3);
    assert_int_equal(o[1].peer, o[2].peer);
    schedule_close(s);

    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"{\"3\": [0, 3]}", "group '3' has a member that is none of the ranks 0 to 2 of the trace"},
        {"{\"3\": [0, 0]}", "group '3' has rank 0 twice"},
        {"{\"3\": []}", "group '3' has no list of ranks"},
        {"{\"3\": 7}", "group '3' has no list of ranks"},
        {"[]", "has no groups, expected {\"1\": [0, 1], ...}"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        (void)file_write_text("groups.json", wrong[i].text);
        assert_null(schedule_read(file_path("groups.0.et"), &options, &notes, &problem));
        assert_string_equal(problem.where, path);
        assert_string_equal(problem.what, wrong[i].message);
    }
    options = (struct schedule_read_options){.ranks = 0};
    assert_string_equal(refused("groups.0.et", &file),
                        "byte 8: node 0 ('c'): group '3' is unknown (--groups FILE names its ranks)");
}

/* A metadata node of PyTorch names groups, before or after the nodes that use them. */
static void groups_of_metadata(void **state)
{
    struct bytes file = trace_begin();
    struct bytes values = {.count = 0};
    (void)state;
    (void)file_write("torch.1.et", file.at, file.count);
    for (unsigned i = 0; i < 2; i++) {
        const struct bytes node = grouped(i, (const char *const[]){"5", "6"}[i]);
        trace_add(&file, &node);
    }
    struct bytes node = node_begin(9, "process_group:init", METADATA);
    bytes_text(&values, 1, "['[{\"pg_name\": \"5\", \"ranks\": [0]}, {\"pg_name\": \"6\", \"ranks\": []}]']");
    bytes_field(&node, 8, values.at, values.count);
    trace_add(&file, &node);
    struct schedule *s = read_trace("torch.0.et", &file);
    assert_int_equal(schedule_count(s, 0), 2);
    assert_int_equal(notes.skipped, 0);
    assert_int_equal(schedule_group_size(s, schedule_at(s, 0, 0)->peer), 1);
    assert_int_equal(schedule_group_size(s, schedule_at(s, 0, 1)->peer), 2);
    schedule_close(s);
}

/* ---- other forms ---- */

static void packed_by_gzip(void **state)
{
    struct bytes file = trace_begin();
    const struct bytes node = collective(4, 0, 100);
    (void)state;
    trace_add(&file, &node);
    (void)file_write_text("packed.et", "");
    gzFile out = gzopen(file_path("packed.et"), "wb");
    assert_int_equal(gzwrite(out, file.at, (unsigned)file.count), file.count);
    assert_int_equal(gzclose(out), Z_OK);
    struct schedule *s = read_file("packed.et");
    assert_int_equal(schedule_at(s, 0, 0)->amount, 100);
    schedule_close(s);
    assert_int_equal(truncate(file_path("packed.et"), 60), 0);
    assert_null(schedule_read(file_path("packed.et"), &options, &notes, &problem));
    assert_non_null(strstr(problem.what, "the file ends"));
}

static void json_form(void **state)
{
    (void)state;
    (void)file_write_text("form.json",
                          "{\"workload_graph\": [\n"
                          "{\"Id\": 7, \"Name\": \"late\", \"NodeType\": 7, \"is_cpu_op\": false, \"comm_type\": 6, "
                          "\"comm_size\": 64, \"data_deps\": [3], \"ctrlDeps\": [2]},\n"
                          "{\"Id\": 3, \"Name\": \"early\", \"NodeType\": 4, \"is_cpu_op\": true, \"runtime\": 12}]}");
    struct schedule *s = read_file("form.json");
    const struct schedule_operation *o = schedule_at(s, 0, 0);
    assert_string_equal(schedule_name(s, &o[0]), "early");
    assert_int_equal(o[0].amount, 12000000);
    assert_int_equal(o[0].stream, 1);
    assert_int_equal(o[1].collective, HX_COLLECTIVE_ALL_TO_ALL);
    assert_true(waits(s, 1, 0));
    schedule_close(s);

    static const struct {
        const char *nodes, *message;
    } wrong[] = {
        {"7", "workload_graph: expected a list of nodes"},
        {"[3]", "workload_graph element 0: node: expected an object"},
        {"[{\"Id\": 1}]", "workload_graph element 0: NodeType: expected a number of 0 and up"},
        {"[{\"Id\": -1, \"NodeType\": 4}]", "workload_graph element 0: Id: expected a number of 0 and up"},
        {"[{\"Id\": 1, \"NodeType\": 4, \"data_deps\": 3}]",
         "workload_graph element 0: data_deps: expected a list of ids"},
        {"[{\"Id\": 1, \"NodeType\": 4, \"data_deps\": [\"x\"]}]",
         "workload_graph element 0: data_deps: expected ids of 0 and up"},
        {"[{\"Id\": 1, \"NodeType\": 7, \"comm_type\": \"x\"}]",
         "workload_graph element 0: comm_type: expected a number"},
        {"[{\"Id\": 1, \"NodeType\": 12}]", "workload_graph element 0: node 1 (''): type is 12, expected 0 to 7"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "{\"workload_graph\": %s}", wrong[i].nodes);
        (void)file_write_text("form.json", text);
        assert_null(schedule_read(file_path("form.json"), &options, &notes, &problem));
        assert_string_equal(problem.what, wrong[i].message);
    }
    (void)file_write_text("form.json", "{\"workload_graph\": [\n  {]}");
    assert_null(schedule_read(file_path("form.json"), &options, &notes, &problem));
    assert_non_null(strstr(problem.where, "form.json:2:4"));
}

/* ---- broken files ---- */

static void wrong_nodes(void **state)
{
    struct bytes node = node_begin(5, "n", 12);
    (void)state;
    refuses(&node, "byte 8: node 5 ('n'): type is 12, expected 0 to 7");
    node = collective(5, 10, 1);
    refuses(&node, "byte 8: node 5 ('c'): comm_type is 10, expected 0 (all-reduce) to 9 (barrier)");
    node = collective(5, 0, UINT64_MAX);
    refuses(&node, "byte 8: node 5 ('c'): comm_size is -1, expected 0 to 4398046511104 bytes");
    node = node_begin(5, "n", SEND);
    node_attribute(&node, "comm_size", INT64, 1);
    refuses(&node, "byte 8: node 5 ('n'): comm_dst is missing");
    node_attribute(&node, "comm_dst", INT32, 1);
    refuses(&node, "byte 8: node 5 ('n'): comm_dst is 1, expected 0 to 0 (the trace has 1 ranks)");
    node = node_begin(5, "n", SEND);
    node_attribute(&node, "comm_size", INT64, 1);
    node_attribute(&node, "comm_dst", INT32, 0);
    node_attribute(&node, "comm_src", INT32, 3);
    refuses(&node, "byte 8: node 5 ('n'): comm_src is 3, but the file is of rank 0");
    node = node_begin(5, "n", SEND);
    node_attribute(&node, "comm_size", INT64, 1);
    node_attribute(&node, "comm_dst", INT32, 0);
    node_attribute(&node, "comm_tag", INT32, UINT64_MAX);
    refuses(&node, "byte 8: node 5 ('n'): comm_tag is -1, expected 0 to 4294967294");
    node = node_begin(5, "n", COMPUTE);
    bytes_number(&node, 7, UINT64_C(1) << 60);
    refuses(&node, "byte 8: node 5 ('n'): computes for longer than 20 hours (duration_micros is in microseconds)");
    node = node_begin(5, "n", COMPUTE);
    node_data(&node, 6);
    refuses(&node, "byte 8: node 5 ('n'): waits for node 6, which the file does not have");
}

static void wrong_files(void **state)
{
    struct bytes file = trace_begin();
    struct bytes node = node_begin(5, "n", COMPUTE);
    (void)state;
    trace_add(&file, &node);
    trace_add(&file, &node);
    assert_string_equal(refused("twice.et", &file), "byte 16: node 5 ('n'): byte 8 has a node of the same id");
    file = trace_begin();
    trace_add(&file, &node);
    bytes_varint(&file, UINT64_C(1) << 31);
    assert_string_equal(refused("long.et", &file),
                        "byte 16: a message of more than 1 GiB, expected a node (is it a Chakra trace?)");
    file = trace_begin();
    trace_add(&file, &node);
    node.at[node.count++] = 0x0b; /* a group, which is refused */
    trace_add(&file, &node);
    assert_string_equal(refused("group.et", &file), "byte 16: is no node of a Chakra trace");
    options.ranks = 3;
    file = trace_begin();
    assert_string_equal(refused("three.et", &file), "the trace has files of 1 ranks, --ranks says 3");
    options.ranks = 0;
}

/* A file that is cut is refused unless it ends behind a node. */
static void cut_files(void **state)
{
    struct bytes file = trace_begin();
    size_t whole[3] = {file.count};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct bytes node = collective(i, 0, 1 << 20);
        if (i)
            node_data(&node, 0);
        trace_add(&file, &node);
        whole[i + 1] = file.count;
    }
    for (size_t count = 0; count <= file.count; count++) {
        (void)file_write("cut.et", file.at, count);
        struct schedule *s = schedule_read(file_path("cut.et"), &options, &notes, &problem);
        assert_int_equal(s != NULL, count == whole[0] || count == whole[1] || count == whole[2]);
        if (!s && count > whole[0])
            assert_non_null(strstr(problem.what, "the file ends, expected the rest of a message (is it whole?)"));
        schedule_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_ranks),     cmocka_unit_test(kinds_of_collectives),
        cmocka_unit_test(messages),           cmocka_unit_test(times_of_computing),
        cmocka_unit_test(order_of_ids),       cmocka_unit_test(communication_without_size),
        cmocka_unit_test(circles_of_control), cmocka_unit_test(nodes_left_out_pass_on),
        cmocka_unit_test(circles_of_data),    cmocka_unit_test(groups_of_a_file),
        cmocka_unit_test(groups_of_metadata), cmocka_unit_test(packed_by_gzip),
        cmocka_unit_test(json_form),          cmocka_unit_test(wrong_nodes),
        cmocka_unit_test(wrong_files),        cmocka_unit_test(cut_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
