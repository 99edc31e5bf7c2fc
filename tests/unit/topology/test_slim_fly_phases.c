/* test_slim_fly_phases.c - all-to-all of a Slim Fly in phases: the partners of each host, and the links of their
 * packets, found by the far ends of ports. */
#include "tests/support/support_fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t router_of(const struct hx_fabric *f, uint32_t host)
{
    return hx_fabric_far(f, host, HX_E).node - f->hosts;
}

/* Also for numbers of hosts that fill no group, and fields of 4, 8, 9 elements. */
static void no_pair_meets_twice_and_no_host_itself(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {{3, 1}, {3, 2}, {4, 3}, {5, 1}, {5, 3}, {5, 4},
                                        {3, 7}, {4, 9}, {7, 5}, {8, 6}, {9, 6}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct hx_fabric f;
        char text[64];
        snprintf(text, sizeof text, "slim-fly q=%u p=%u", sizes[i][0], sizes[i][1]);
        fabric_make(&f, text);
        const uint32_t of_a_group = sizes[i][0] * sizes[i][1] * sizes[i][1];
        assert_int_equal(hx_fabric_phases(&f) % of_a_group, 0);
        assert_int_equal(hx_fabric_phases(&f) > 0, sizes[i][1] <= sizes[i][0]); /* with more no group is full */
        uint32_t *met = hx_allocate(f.hosts, sizeof *met);                      /* last source of each host, plus one */
        for (uint32_t host = 0; host < f.hosts; host++) {
            met[host] = host + 1;
            for (uint32_t phase = 0; phase < hx_fabric_phases(&f); phase++) {
                uint32_t to = hx_fabric_partner(&f, host, phase);
                if (to >= f.hosts || met[to] == host + 1)
                    fail_msg("%s, phase %u: host %u meets %u", text, phase, host, to);
                met[to] = host + 1;
            }
        }
        free(met);
        hx_fabric_free(&f);
    }
}

/* Loads of the links between routers. */
struct loads {
    const struct hx_fabric *f;
    uint32_t routers;
    uint8_t *joined; /* [routers][routers] */
    uint8_t *load;   /* [routers][routers] */
};

static void find_links(struct loads *l, const struct hx_fabric *f)
{
    *l = (struct loads){.f = f, .routers = f->nodes - f->hosts};
    l->joined = hx_allocate((size_t)l->routers * l->routers, 1);
    l->load = hx_allocate((size_t)l->routers * l->routers, 1);
    for (uint32_t a = 0; a < l->routers; a++) {
        for (unsigned port = 0; port < hx_fabric_ports(f, f->hosts + a); port++) {
            uint32_t far = hx_fabric_far(f, f->hosts + a, port).node;
            if (!hx_is_host(f, far))
                l->joined[(size_t)a * l->routers + far - f->hosts] = 1;
        }
    }
}

static bool are_joined(const struct loads *l, uint32_t a, uint32_t b)
{
    return l->joined[(size_t)a * l->routers + b];
}

/* Puts one packet on the only minimal path. */
static void send(struct loads *l, uint32_t a, uint32_t b)
{
    uint32_t over = l->routers;
    if (are_joined(l, a, b)) {
        l->load[(size_t)a * l->routers + b]++;
        return;
    }
    for (uint32_t middle = 0; middle < l->routers; middle++) {
        if (!are_joined(l, a, middle) || !are_joined(l, middle, b))
            continue;
        if (over != l->routers)
            fail_msg("routers %u and %u: two paths", a, b);
        over = middle;
    }
    assert_int_not_equal(over, l->routers);
    l->load[(size_t)a * l->routers + over]++;
    l->load[(size_t)over * l->routers + b]++;
}

static void validate_round(struct loads *l, const char *text, uint32_t phase)
{
    const struct hx_fabric *f = l->f;
    uint8_t *receives = hx_allocate(f->hosts, 1);
    memset(l->load, 0, (size_t)l->routers * l->routers);
    for (uint32_t host = 0; host < f->hosts; host++) {
        uint32_t to = hx_fabric_partner(f, host, phase);
        if (receives[to]++)
            fail_msg("%s, phase %u: two send to host %u", text, phase, to);
        send(l, router_of(f, host), router_of(f, to));
    }
    for (size_t i = 0; i < (size_t)l->routers * l->routers; i++) {
        if (l->load[i] > 1)
            fail_msg("%s, phase %u: %u packets from router %zu to %zu", text, phase, l->load[i], i / l->routers,
                     i % l->routers);
    }
    free(receives);
}

static void hosts_of_a_phase_share_no_link(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t phases, step;
    } of[] = {{"slim-fly q=5 p=3", 2 * 5 * 3 * 3, 1},
              {"slim-fly q=9 p=6", 2 * 9 * 6 * 6, 7},
              {"slim-fly q=13 p=9", 2 * 13 * 9 * 9, 53}};
    for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
        struct hx_fabric f;
        struct loads l;
        fabric_make(&f, of[i].text);
        find_links(&l, &f);
        assert_int_equal(hx_fabric_phases(&f), of[i].phases);
        for (uint32_t phase = 0; phase < of[i].phases; phase += of[i].step)
            validate_round(&l, of[i].text, phase);
        free(l.joined);
        free(l.load);
        hx_fabric_free(&f);
    }
}

static void other_fabrics_have_no_phases(void **state)
{
    (void)state;
    static const char *const without[] = {"fat-tree hosts=32 radix=8", "4x4 Hx2Mesh",
                                          "slim-fly q=5 p=3 routing=valiant", "slim-fly q=5 p=3 fail=router1,1/5"};
    for (unsigned i = 0; i < sizeof without / sizeof *without; i++) {
        struct hx_fabric f;
        fabric_make(&f, without[i]);
        assert_int_equal(hx_fabric_phases(&f), 0);
        hx_fabric_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_meets_twice_and_no_host_itself),
        cmocka_unit_test(hosts_of_a_phase_share_no_link),
        cmocka_unit_test(other_fabrics_have_no_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
