/* verb_send.c - `hxmesh send`: sends a file through a fabric and compares it at each receiver. */
#include "base/json.h"
#include "base/value.h"
#include "session.h"
#include "verbs.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define NOT_GIVEN UINT_MAX

struct send_settings {
    const char *fabric, *to, *save, *name;
    struct hx_coordinate from; /* or NOT_GIVEN */
    struct hx_overrides overrides;
    uint64_t workers;
};

static bool is_identical(const struct session *s, const struct transfer *t, uint32_t rank)
{
    return transfer_is_identical(t, &s->f.accelerator[rank].file);
}

static uint32_t count_identical(const struct session *s, const struct transfer *t)
{
    uint32_t identical = 0;
    for (uint32_t i = 0; i < t->target_count; i++)
        identical += is_identical(s, t, t->targets[i]);
    return identical;
}

static void print_receivers(const struct session *s, const struct transfer *t)
{
    char hex[65];
    transfer_hex(t->digest, hex);
    struct hx_coordinate from = hx_coordinate_of(s->f.g, t->source);
    printf("%s: %" PRIu64 " bytes from a%u,%u\n  sha-256 %s  (original)\n", t->path, t->bytes, from.addr_hi,
           from.addr_lo, hex);
    for (uint32_t i = 0; i < t->target_count; i++) {
        struct hx_coordinate to = hx_coordinate_of(s->f.g, t->targets[i]);
        transfer_hex(s->f.accelerator[t->targets[i]].file.digest, hex);
        printf("  sha-256 %s  a%u,%u %s\n", hex, to.addr_hi, to.addr_lo,
               is_identical(s, t, t->targets[i]) ? "identical" : "DIFFERS");
    }
    double seconds = (double)s->result.outcome.elapsed_ns / 1e9;
    char memory[HX_VALUE_TEXT];
    printf("%" PRIu32 " of %" PRIu32 " identical, %" PRIu64 " bytes differ; %.2f s, %.2f GB/s delivered, memory %s\n",
           count_identical(s, t), t->target_count, s->result.bytes_corrupted, seconds,
           seconds > 0 ? (double)s->result.outcome.bytes_delivered / 1e9 / seconds : 0,
           hx_value_print_bytes(memory, s->result.peak_memory_bytes));
}

static json_t *transfer_json(const struct session *s, const struct transfer *t)
{
    char hex[65];
    json_t *o = result_json(&s->result);
    json_t *receivers = json_array();
    for (uint32_t i = 0; i < t->target_count; i++) {
        struct hx_coordinate to = hx_coordinate_of(s->f.g, t->targets[i]);
        transfer_hex(s->f.accelerator[t->targets[i]].file.digest, hex);
        (void)json_array_append_new(receivers, json_pack("{s:[i,i], s:s, s:b}", "at", to.addr_hi, to.addr_lo, "sha256",
                                                         hex, "identical", is_identical(s, t, t->targets[i])));
    }
    transfer_hex(t->digest, hex);
    (void)json_object_del(o, "settings"); /* of traffic only */
    (void)json_object_set_new(o, "traffic", json_string("file"));
    (void)json_object_set_new(o, "message_bytes", json_integer(TRANSFER_CHUNK));
    (void)json_object_set_new(o, "file", hx_json_text(t->path));
    (void)json_object_set_new(o, "file_bytes", json_integer((json_int_t)t->bytes));
    (void)json_object_set_new(o, "sha256", json_string(hex));
    (void)json_object_set_new(o, "identical", json_integer(count_identical(s, t)));
    (void)json_object_set_new(o, "receivers", receivers);
    return o;
}

static uint32_t target_of(const struct send_settings *send, const struct hx_spec *spec, const struct hx_fabric *g)
{
    if (strcmp(send->to, "all") == 0)
        return TRANSFER_ALL;
    struct hx_coordinate to;
    char why[HX_WHY_TEXT];
    const char *wrong = hx_value_coordinate(send->to, &to, why);
    if (wrong)
        hx_die(HX_EXIT_USAGE, "--to", "%s (or 'all')", wrong);
    hx_spec_check_coordinate(spec, "--to", to);
    return hx_host_at(g, to.addr_hi, to.addr_lo);
}

static int send_file(struct send_settings *send, const char *path, const struct hx_common *common)
{
    hx_output_check(common->json);
    struct hx_spec spec;
    hx_spec_load(send->fabric, &send->overrides, &spec);
    const struct hx_fabric *g = hx_spec_fabric(&spec);
    for (uint32_t host = 0; send->from.addr_hi == NOT_GIVEN; host++)
        if (!hx_spec_board_failed(&spec, hx_spec_board_of(&spec, host)))
            send->from = hx_coordinate_of(g, host);
    hx_spec_check_coordinate(&spec, "--from", send->from);
    uint32_t target = target_of(send, &spec, g);
    uint32_t source = hx_host_at(g, send->from.addr_hi, send->from.addr_lo);
    if (hx_spec_board_failed(&spec, hx_spec_board_at(&spec, send->from.addr_hi, send->from.addr_lo)))
        hx_die(HX_EXIT_USAGE, "--from", "a%u,%u is on a failed board", send->from.addr_hi, send->from.addr_lo);
    hx_spec_refuse_external(&spec, "hxmesh send");
    struct transfer transfer = {.save = send->save};
    transfer_open(&transfer, path);
    struct session s;
    session_open(&s, &spec,
                 &(struct fab_options){.workers = (unsigned)send->workers, .name = send->name, .quiet = common->quiet});
    transfer_aim(&transfer, &s.f.spec, s.f.g, source, target);
    if (transfer.target_count == 0) {
        session_close(&s);
        hx_die(HX_EXIT_USAGE, "--to", "names no receiver: the source itself, a failed board, or another job");
    }
    s.context.common = common;
    session_run_transfer(&s, &transfer, common->quiet);
    if (common->json)
        hx_json_write(transfer_json(&s, &transfer), common->json);
    if (!hx_output_is_stdout(common->json))
        print_receivers(&s, &transfer);
    int code = session_exit_code(&s);
    if (code == HX_EXIT_DONE && count_identical(&s, &transfer) != transfer.target_count)
        code = HX_EXIT_FAILED;
    session_close(&s);
    transfer_close(&transfer);
    return code;
}

int verb_send(int argc, char **argv)
{
    struct send_settings send = {.fabric = "4x4 Hx2Mesh", .to = "all", .from = {NOT_GIVEN, NOT_GIVEN}};
    const struct hx_option options[] = {
        {HX_COORDINATE("from", &send.from, "the sender"), .otherwise = "the first host that works"},
        {HX_STRING("to", "HI,LO|all", &send.to, "the receiver, or all")},
        {HX_STRING("save", "FOLDER", &send.save, "write what each receiver got to FOLDER/aHI,LO.NAME")},
        {HX_STRING("fabric", "SPEC|FILE", &send.fabric, "the fabric"), .letter = 'f'},
        HX_OVERRIDE_OPTIONS(&send.overrides),
        HX_CREDIT_OPTION(&send.overrides),
        HX_WORKERS_OPTION(&send.workers),
        {HX_STRING("name", "NAME", &send.name, "of the fabric's shared memory, /dev/shm/hxmesh-NAME"),
         .otherwise = "the process number"},
        HX_OPTIONS_END};
    const struct hx_command command = {
        HX_PROGRAM("hxmesh send", "hxmesh-run"),
        .examples = {{"hxmesh send FILE --from 0,0 --to all", "carries a file to everyone, compares, shows SHA-256"}},
        .failed = "the file did not arrive, or is not the same",
        HX_OPERANDS("FILE", 1, 1),
        .summary = "Carries a file through a fabric to one host or to all others, compares what arrives byte for "
                   "byte and shows its SHA-256.",
        .details = "Exit code: 0 identical everywhere, 1 not, 130 interrupted. A receiver loses what "
                   "it had of the file when its worker is killed.",
        .options = options};
    struct hx_common common;
    int first = hx_options_parse(&command, argc, argv, &common);
    return send_file(&send, argv[first], &common);
}
