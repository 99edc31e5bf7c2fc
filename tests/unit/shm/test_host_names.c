/* test_host_names.c - addresses and names of hosts with programs: each host has its own, and each maps back to it. */
#include "fabric-emu/live/host_names.h"
#include "spec/spec.h"
#include "workload/host_ip.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hx_spec load(const char *text)
{
    struct hx_spec spec;
    hx_spec_load(text, NULL, &spec);
    return spec;
}

static void an_ipv4_address_has_the_coordinates(void **state)
{
    (void)state;
    struct hx_spec spec = load("2x2 Hx2Mesh");
    const struct hx_fabric *g = hx_spec_fabric(&spec);
    assert_int_equal(host_ip(g, hx_fabric_host(g, 3, 2)), 10U << 24 | 3 << 16 | 2 << 8 | 1);
    assert_int_equal(host_of_ip(g, 10U << 24 | 3 << 16 | 2 << 8 | 1), hx_fabric_host(g, 3, 2));
    assert_int_equal(host_of_ip(g, 10U << 24 | 4 << 16 | 2 << 8 | 1), HX_NOWHERE);
    assert_int_equal(host_of_ip(g, 10U << 24 | 3 << 16 | 2 << 8 | 2), HX_NOWHERE);
    assert_int_equal(host_of_ip(g, 11U << 24 | 3 << 16 | 2 << 8 | 1), HX_NOWHERE);
    assert_int_equal(host_of_ip(g, UINT32_MAX), HX_NOWHERE);
    hx_spec_free(&spec);
}

static struct in6_addr parse6(const char *text)
{
    struct in6_addr ip;
    assert_int_equal(inet_pton(AF_INET6, text, &ip), 1);
    return ip;
}

static void an_ipv6_address_has_the_coordinates(void **state)
{
    (void)state;
    static const struct {
        const char *ip;
        unsigned addr_hi, addr_lo;
    } hosts[] = {{"fd68:786d:6573::12b:1", 299, 1}, {"fe80::12b:1", 299, 1}, {"fd68:786d:6573::a:0", 10, 0}};
    static const char *const nobodys[] = {"fd68:786d:6573::12c:1",
                                          "fd68:786d:6573::12b:2",
                                          "fd68:786d:6573:1::a:0",
                                          "fd68:786d:6573::1:a:0",
                                          "fd68:786d:6574::a:0",
                                          "fe80::1:0:a:0",
                                          "fe80::12c:1",
                                          "ff02::1",
                                          "::1",
                                          "::",
                                          "::ffff:10.0.0.1"};
    struct hx_spec spec = load("torus 300x2");
    const struct hx_fabric *g = hx_spec_fabric(&spec);
    for (unsigned i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        const struct in6_addr ip = parse6(hosts[i].ip);
        uint32_t host = hx_fabric_host(g, hosts[i].addr_hi, hosts[i].addr_lo);
        assert_int_equal(host_of_ip6(g, &ip), host);
        const struct in6_addr back = host_ip6(g, host, hosts[i].ip[1] == 'd' ? HOST_IP6_FABRIC : HOST_IP6_LINK);
        assert_memory_equal(&back, &ip, sizeof ip);
    }
    for (unsigned i = 0; i < sizeof nobodys / sizeof *nobodys; i++) {
        const struct in6_addr ip = parse6(nobodys[i]);
        assert_int_equal(host_of_ip6(g, &ip), HX_NOWHERE);
    }
    hx_spec_free(&spec);
}

/* Also if a coordinate does not fit a byte. */
static void each_address_maps_back(void **state)
{
    (void)state;
    static const char *const fabrics[] = {"2x2 Hx2Mesh", "3x2 H2x4Mesh", "fat-tree hosts=64 radix=16",
                                          "torus 8x8x4", "torus 300x2",  "torus 300x300"};
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        struct hx_spec spec = load(fabrics[i]);
        const struct hx_fabric *g = hx_spec_fabric(&spec);
        for (uint32_t host = 0; host < g->hosts; host++) {
            assert_int_equal(host_of_ip(g, host_ip(g, host)), host);
            assert_int_equal(host_ip(g, host) >> (32 - HOST_IP_PREFIX), 10);
        }
        hx_spec_free(&spec);
    }
}

static void each_name_maps_back(void **state)
{
    (void)state;
    struct hx_spec spec = load("3x2 H2x4Mesh");
    const struct hx_fabric *g = hx_spec_fabric(&spec);
    for (uint32_t host = 0; host < g->hosts; host++) {
        char names[4][HX_NAME_BYTES];
        struct hx_problem problem;
        (void)host_place(names[0], g, host);
        (void)host_own_name(names[1], g, host);
        (void)snprintf(names[2], sizeof names[2], "h%u", (unsigned)host);
        memmove(names[3], names[0] + 1, strlen(names[0])); /* without its a */
        for (unsigned i = 0; i < 4; i++) {
            uint32_t found = HX_NOWHERE;
            assert_true(host_parse(names[i], g, &found, &problem));
            assert_int_equal(found, host);
        }
    }
    hx_spec_free(&spec);
}

static void unknown_hosts_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"",      "h",    "h48",      "h-1", "h01",   "a6,0", "a0,8",
                                        "a0",    "a0,",  "a0,0/p0",  "0-0", "a0,0 ", "row0", "h99999999999",
                                        "a0--0", "a0.0", "localhost"};
    struct hx_spec spec = load("3x2 H2x4Mesh");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t host;
        struct hx_problem problem = {.exit_code = 0};
        assert_false(host_parse(names[i], hx_spec_fabric(&spec), &host, &problem));
        assert_int_equal(problem.exit_code, HX_EXIT_USAGE);
        assert_string_equal(problem.where, names[i][0] ? names[i] : "''");
        assert_string_equal(problem.what, "is no host of this fabric (a0,0 is one, also as h0; there are 48)");
    }
    hx_spec_free(&spec);
}

static void the_hosts_file_has_the_running_hosts(void **state)
{
    (void)state;
    struct hx_spec spec = load("1x1 Hx2Mesh");
    const bool runs[] = {true, false, true, true};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_true(host_names_write(out, hx_spec_fabric(&spec), runs));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "127.0.0.1\tlocalhost\n"
                              "::1\tlocalhost\n"
                              "10.0.0.1\ta0-0 a0,0 h0\n"
                              "fd68:786d:6573::\ta0-0 a0,0 h0\n"
                              "10.0.1.1\ta0-1 a0,1 h2\n"
                              "fd68:786d:6573::1\ta0-1 a0,1 h2\n"
                              "10.1.1.1\ta1-1 a1,1 h3\n"
                              "fd68:786d:6573::1:1\ta1-1 a1,1 h3\n");
    free(text);
    hx_spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ipv4_address_has_the_coordinates),
        cmocka_unit_test(an_ipv6_address_has_the_coordinates),
        cmocka_unit_test(each_address_maps_back),
        cmocka_unit_test(each_name_maps_back),
        cmocka_unit_test(unknown_hosts_are_refused),
        cmocka_unit_test(the_hosts_file_has_the_running_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
