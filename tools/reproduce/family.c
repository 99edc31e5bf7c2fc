/* family.c - the topologies of the diameter-two study (tools/reproduce/family.h). */
#include "tools/reproduce/family.h"
#include "topology/galois.h"

#include <stdio.h>

/* q = 4w + d: 2 q^2 routers with (3q - d) / 2 links, and half as many hosts, rounded down like the paper's smaller
 * one. */
static bool slim_fly(unsigned radix, struct family_member *m)
{
    for (unsigned q = radix; q >= 3; q--) {
        if (q % 4 == 2 || !hx_is_prime_power(q))
            continue;
        unsigned links = (3 * q - (q % 4 == 1) + (q % 4 == 3)) / 2;
        unsigned p = links / 2;
        if (links + p > radix)
            continue;
        (void)snprintf(m->spec, sizeof m->spec, "slim-fly q=%u p=%u", q, p);
        m->routers = 2.0 * q * q;
        m->hosts = m->routers * p;
        m->links = m->hosts + m->routers * links / 2;
        m->ports = m->routers * (links + p);
        return true;
    }
    return false;
}

static bool mlfm(unsigned radix, struct family_member *m)
{
    unsigned h = radix / 2;
    (void)snprintf(m->spec, sizeof m->spec, "mlfm h=%u", h);
    m->routers = 1.5 * h * (h + 1);
    m->hosts = 1.0 * h * h * (h + 1);
    m->links = 2 * m->hosts;
    m->ports = 3 * m->hosts;
    return h >= 1;
}

static bool oft(unsigned radix, struct family_member *m)
{
    unsigned k = radix / 2;
    while (k >= 3 && !hx_is_prime_power(k - 1))
        k--;
    double each = (double)k * k - k + 1;
    (void)snprintf(m->spec, sizeof m->spec, "oft k=%u", k);
    m->routers = 3 * each;
    m->hosts = 2 * each * k;
    m->links = 2 * m->hosts;
    m->ports = 3 * m->hosts;
    return k >= 3;
}

static bool two_levels(unsigned radix, struct family_member *m)
{
    unsigned half = radix / 2;
    m->routers = 3.0 * half;
    m->hosts = 2.0 * half * half;
    m->links = 2 * m->hosts;
    m->ports = 3 * m->hosts;
    (void)snprintf(m->spec, sizeof m->spec, "fat-tree hosts=%.0f radix=%u levels=2", m->hosts, radix / 2 * 2);
    return true;
}

static bool three_levels(unsigned radix, struct family_member *m)
{
    unsigned half = radix / 2;
    m->routers = 5.0 * half * half;
    m->hosts = 2.0 * half * half * half;
    m->links = 3 * m->hosts;
    m->ports = 5 * m->hosts;
    (void)snprintf(m->spec, sizeof m->spec, "fat-tree hosts=%.0f radix=%u levels=3", m->hosts, radix / 2 * 2);
    return true;
}

/* Two dimensions of s routers. At most a third of the ports, and at most s, lead to hosts: then a cut has just enough
 * links. */
static bool hyperx(unsigned radix, struct family_member *m)
{
    unsigned s = radix / 3 + 1;
    unsigned p = radix % 3 ? s : s - 1;
    (void)snprintf(m->spec, sizeof m->spec, "hyperx %ux%u p=%u", s, s, p);
    m->routers = 1.0 * s * s;
    m->hosts = m->routers * p;
    m->links = m->hosts + m->routers * (s - 1);
    m->ports = m->routers * (2.0 * (s - 1) + p);
    return s >= 2;
}

/* Balanced as by Kim et al.: a = 2p = 2h, and one group more than a group has global links. */
static bool dragonfly(unsigned radix, struct family_member *m)
{
    unsigned h = (radix + 1) / 4;
    unsigned groups = 2 * h * h + 1;
    (void)snprintf(m->spec, sizeof m->spec, "dragonfly a=%u p=%u h=%u groups=%u", 2 * h, h, h, groups);
    m->routers = 2.0 * h * groups;
    m->hosts = m->routers * h;
    m->links = m->hosts + m->routers * (3.0 * h - 1) / 2;
    m->ports = m->routers * (4 * h - 1);
    return h >= 1;
}

static const char *const slim_flies[] = {
    "slim-fly q=5", "slim-fly q=7", "slim-fly q=9", "slim-fly q=11", "slim-fly q=13", "slim-fly q=17", NULL};
static const char *const mlfms[] = {"mlfm h=5", "mlfm h=7", "mlfm h=9", "mlfm h=12", "mlfm h=15", "mlfm h=19", NULL};
static const char *const ofts[] = {"oft k=4", "oft k=6", "oft k=8", "oft k=10", "oft k=12", "oft k=14", NULL};
static const char *const trees[] = {"fat-tree hosts=128 radix=16 levels=2", "fat-tree hosts=512 radix=32 levels=2",
                                    "fat-tree hosts=2048 radix=64 levels=2", NULL};
static const char *const hyperxes[] = {"hyperx 5x5 p=5",    "hyperx 8x8 p=8",    "hyperx 12x12 p=12",
                                       "hyperx 16x16 p=16", "hyperx 18x18 p=18", NULL};
static const char *const dragonflies[] = {"dragonfly a=4 p=2 h=2 groups=9", "dragonfly a=6 p=3 h=3 groups=19",
                                          "dragonfly a=8 p=4 h=4 groups=33", "dragonfly a=12 p=6 h=6 groups=73", NULL};

const struct family families[FAMILIES] = {
    {"Slim Fly", slim_fly, slim_flies},         {"MLFM", mlfm, mlfms},        {"OFT", oft, ofts},
    {"fat tree, 2 levels", two_levels, trees},  {"HyperX", hyperx, hyperxes}, {"Dragonfly", dragonfly, dragonflies},
    {"fat tree, 3 levels", three_levels, NULL},
};
