/* test_spec_external.c - accelerators that run elsewhere in a *.hxm.yaml file: every key, and every mistake with its
 * file, line and column. */
#include "spec/spec.h"
#include "tests/support/support_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define FILE_NAME "external.hxm.yaml"

static bool load(const char *text, struct hx_spec *spec, struct hx_problem *problem)
{
    return hx_spec_try_load(file_write_text(FILE_NAME, text), NULL, spec, problem);
}

static void test_every_key(void **state)
{
    struct hx_spec s;
    struct hx_problem p;
    (void)state;
    assert_true(load("fabric: 2x2 Hx2Mesh\n"
                     "planes: 2\n"
                     "external:\n"
                     "  - at: [3, 1]\n"
                     "    plane: 1\n"
                     "    ports: {E: memif:/run/hx/e.sock, W: veth:hx-w, S: tap:hx-s}\n"
                     "    wait: 2m\n"
                     "    lose_credits: 100\n"
                     "  - {at: [3, 1], ports: {N: \"memif:a,b: c\"}}\n",
                     &s, &p));
    assert_int_equal(s.externals, 2);
    const struct hx_external *e = s.external;
    assert_true(e->addr_hi == 3 && e->addr_lo == 1 && e->plane == 1 && e->lose_credits == 100);
    assert_true(e->wait_ns == UINT64_C(120000000000));
    assert_int_equal(e->port[HX_E].cable, HX_CABLE_MEMIF);
    assert_string_equal(e->port[HX_E].target, "/run/hx/e.sock");
    assert_int_equal(e->port[HX_W].cable, HX_CABLE_VETH);
    assert_string_equal(e->port[HX_W].target, "hx-w");
    assert_int_equal(e->port[HX_N].cable, HX_CABLE_OUT);
    assert_int_equal(e->port[HX_S].cable, HX_CABLE_TAP);
    assert_string_equal(e->port[HX_S].target, "hx-s");
    e++;
    assert_true(e->plane == 0 && e->lose_credits == 0 && e->wait_ns == UINT64_C(10000000000));
    assert_string_equal(e->port[HX_N].target, "a,b: c");
    hx_spec_free(&s);
    assert_true(s.external == NULL && s.externals == 0);
}

/* The file with the key lies beside the one that names it. */
static void test_a_key_seals_the_cables_of_its_entry(void **state)
{
    struct hx_spec s;
    struct hx_problem p;
    (void)state;
    assert_int_equal(chmod(file_write_text("hx.key", "000102030405060708090a0b0c0d0e0f\n"), 0600), 0);
    assert_true(load("fabric: 2x2 Hx2Mesh\n"
                     "external:\n"
                     "  - {at: [3, 1], key: hx.key, ports: {E: veth:x}}\n"
                     "  - {at: [1, 1], ports: {E: veth:y}}\n",
                     &s, &p));
    assert_true(s.external[0].authenticated && s.external[0].key.word[0] == UINT64_C(0x0706050403020100));
    assert_false(s.external[1].authenticated);
    hx_spec_free(&s);
    assert_int_equal(chmod(file_path("hx.key"), 0644), 0);
    assert_false(load("fabric: 2x2 Hx2Mesh\nexternal: [{at: [3, 1], key: hx.key, ports: {E: veth:x}}]\n", &s, &p));
    assert_true(p.exit_code == HX_EXIT_CONFIG && strcmp(p.where, file_path("hx.key")) == 0);
}

static void test_an_image_has_the_cables_of_its_place(void **state)
{
    struct hx_spec s;
    struct hx_problem p;
    (void)state;
    assert_true(load(
        "fabric: 2x2 Hx2Mesh\nexternal: [{at: [3, 1], node: qemu, harts: 3}, {at: [0, 0], node: elsewhere, ports: {E: "
        "veth:x}}]\n",
        &s, &p));
    assert_true(s.external[0].node == HX_NODE_QEMU && s.external[1].node == HX_NODE_ELSEWHERE);
    assert_true(s.external[0].harts == 3 && s.external[1].harts == 1);
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++)
        assert_int_equal(s.external[0].port[port].cable, HX_CABLE_QEMU);
    assert_string_equal(s.external[0].port[HX_N].target, "a3,1/p0/N");
    hx_spec_free(&s);
    assert_false(load("fabric: torus 4x4\nexternal: [{at: [0, 0], node: qemu}]\n", &s, &p));
}

static void test_no_external_accelerators(void **state)
{
    struct hx_spec s;
    struct hx_problem p;
    (void)state;
    assert_true(load("fabric: 2x2 Hx2Mesh\nexternal: []\n", &s, &p));
    assert_true(s.external == NULL && s.externals == 0);
    hx_spec_free(&s);
}

/* The text below "fabric: 2x2 Hx2Mesh", which is line 1; what is said begins behind the file's name. */
static void assert_refused(const char *external, const char *says)
{
    char text[1024];
    char line[sizeof(struct hx_problem)];
    struct hx_spec s;
    struct hx_problem p = {0};
    snprintf(text, sizeof text, "fabric: 2x2 Hx2Mesh\n%s", external);
    if (load(text, &s, &p))
        fail_msg("taken: %s", external);
    const char *path = file_path(FILE_NAME);
    assert_int_equal(p.exit_code, HX_EXIT_CONFIG);
    assert_memory_equal(p.where, path, strlen(path));
    snprintf(line, sizeof line, "%s: %s", p.where + strlen(path), p.what);
    if (strncmp(line, says, strlen(says)) != 0)
        fail_msg("\"%s\", not \"%s\"", line, says);
}

static void test_mistakes(void **state)
{
    (void)state;
    assert_refused("external:\n  - ports: {E: veth:x}\n", ":3:5: key 'at' is missing");
    assert_refused("external:\n  - at: [0, 0]\n", ":3:5: key 'ports' is missing");
    assert_refused("external:\n  - {at: [4, 0], ports: {E: veth:x}}\n",
                   ":3:10: accelerator a4,0 is outside the fabric (gx 0 .. 3, gy 0 .. 3)");
    assert_refused("external:\n  - {at: [0, 9], ports: {E: veth:x}}\n", ":3:10: accelerator a0,9 is outside");
    assert_refused("failed_boards: [[1, 0]]\nexternal:\n  - {at: [3, 1], ports: {E: veth:x}}\n",
                   ":4:10: accelerator a3,1 is on a failed board");
    assert_refused("external:\n  - at: [0, 0]\n    plane: 1\n    ports: {E: veth:x}\n",
                   ":4:12: plane: 1 is outside 0 .. 0");
    assert_refused("external:\n  - at: [0, 0]\n    wait: soon\n    ports: {E: veth:x}\n", ":4:11: wait: 'soon'");
    assert_refused("external:\n  - at: [0, 0]\n    wait: 1s\n    ports: {E: veth:x}\n", ":4:11: wait: '1s'");
    assert_refused("external:\n  - at: [0, 0]\n    lose_credits: -1\n    ports: {E: veth:x}\n",
                   ":4:19: lose_credits: -1 is outside");
    assert_refused("external:\n  - at: [0, 0]\n    ports: {}\n", ":4:5: none of E, W, N, S has a cable");
    assert_refused("external:\n  - at: [0, 0]\n    ports: {L: veth:x}\n", ":4:13: unknown key 'L'");
    assert_refused("external:\n  - at: [0, 0]\n    ports: {E: ether:x}\n",
                   ":4:16: 'ether:x' is no cable (memif:SOCKET, veth:INTERFACE or tap:INTERFACE)");
    assert_refused("external:\n  - at: [0, 0]\n    ports: {E: mem}\n", ":4:16: 'mem' is no cable");
    assert_refused("external:\n  - at: [0, 0]\n    ports: {E: \"memif:\"}\n", ":4:16: 'memif:' is no cable");
    assert_refused("external:\n  - at: [0, 0]\n    ports: {E: veth:sixteen-letters-}\n",
                   ":4:16: 'sixteen-letters-' is too long: the kernel takes 15 characters");
    assert_refused("external:\n  - at: [0, 0]\n    ports: {E: veth:x, W: veth:x}\n", ":3:5: veth:x is on two ports");
    assert_refused("external:\n  - at: [0, 0]\n    ports: {E: veth:x}\n  - {at: [1, 0], ports: {W: veth:x}}\n",
                   ":5:5: veth:x is on two ports");
    assert_refused("external:\n  - at: [0, 0]\n    ports: {E: veth:x}\n  - {at: [0, 0], ports: {W: veth:y}}\n",
                   ":5:5: accelerator 0,0 has two entries for plane 0");
    assert_refused("external:\n  - at: [0, 0]\n    node: qemu\n    ports: {E: veth:x}\n",
                   ":5:5: an image in QEMU has all its cables (without ports)");
    assert_refused("external:\n  - at: [0, 0]\n    node: qemu\n    key: hx.key\n",
                   ":5:5: an image in QEMU has cables that no other program reaches (without key)");
    assert_refused("external:\n  - at: [0, 0]\n    harts: 2\n    ports: {E: veth:x}\n",
                   ":4:5: harts are those of an image in QEMU (with node: qemu)");
    assert_refused("external:\n  - {at: [0, 0], node: qemu, harts: 6}\n", ":3:37: harts: 6 is outside 1 .. 5");
    assert_refused("external:\n  - at: [0, 0]\n    node: bochs\n", ":4:11: node: ");
    assert_refused("planes: 2\nexternal:\n  - {at: [0, 0], node: qemu}\n  - {at: [0, 0], plane: 1, node: qemu}\n",
                   ":5:5: accelerator 0,0 is an image in QEMU, which is there in one plane only");
}

static void test_the_longest_socket(void **state)
{
    char text[300];
    char name[HX_CABLE_TARGET_BYTES + 1];
    struct hx_spec s;
    struct hx_problem p;
    (void)state;
    memset(name, 'n', sizeof name);
    name[HX_CABLE_TARGET_BYTES - 1] = 0;
    snprintf(text, sizeof text, "fabric: 2x2 Hx2Mesh\nexternal: [{at: [0, 0], ports: {E: memif:%s}}]\n", name);
    assert_true(load(text, &s, &p));
    assert_string_equal(s.external[0].port[HX_E].target, name);
    hx_spec_free(&s);
    snprintf(text, sizeof text, "fabric: 2x2 Hx2Mesh\nexternal: [{at: [0, 0], ports: {E: memif:n%s}}]\n", name);
    assert_false(load(text, &s, &p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_a_key_seals_the_cables_of_its_entry),
        cmocka_unit_test(test_an_image_has_the_cables_of_its_place),
        cmocka_unit_test(test_no_external_accelerators),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_the_longest_socket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
