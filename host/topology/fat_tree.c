/* fat_tree.c - fat trees of two levels (Leiserson; SC22 appendix C): leaves with `down` hosts and `up` links to spines.
 *
 * Uplink u of leaf l goes to spine (l * up + u) modulo the spines, so that every spine has as many links as any other, but
 * for one. Up, then down: one VC. A group is a leaf with its hosts. */
#include "host/topology/topology.h"

static unsigned round_up(unsigned n, unsigned by)
{
    return (n + by - 1) / by;
}

static bool build(struct hx_fabric *f, struct hx_words *words, struct hx_problem *problem)
{
    static const char *const keys[] = {"hosts", "radix", "down", "up", NULL};
    unsigned hosts;
    unsigned radix;
    unsigned down;
    unsigned up;
    if (!hx_words_number(words, "hosts", 2, HX_MAX_HOSTS, 1024, &hosts, problem) ||
        !hx_words_number(words, "radix", 2, HX_MAX_RADIX, 64, &radix, problem) ||
        !hx_words_number(words, "down", 1, radix - 1, radix / 2, &down, problem) ||
        !hx_words_number(words, "up", 1, radix - down, radix - down, &up, problem) ||
        !hx_words_end(words, keys, 0, problem))
        return false;
    unsigned leaves = round_up(hosts, down);
    unsigned spines = leaves == 1 ? 0 : round_up(leaves * up, radix);
    if (spines > up)
        return hx_words_fail(words, problem, "%u leaves of %u uplinks are more than two levels can join", leaves, up);
    hx_fabric_start(f, hosts, leaves + spines, leaves, down);
    unsigned own = hx_fabric_class_of_kind(f, "host", HX_DAC);
    unsigned tree = hx_fabric_class_of_kind(f, "tree", HX_AOC);
    for (unsigned host = 0; host < hosts; host++) {
        unsigned leaf = host / down;
        hx_fabric_address(f, host, leaf, host % down);
        f->node[host].group = leaf;
        hx_fabric_lay(f, &(struct hx_laid){.a = host, .b = hosts + leaf, .link_class = (uint8_t)own});
    }
    for (unsigned leaf = 0; leaf < leaves; leaf++) {
        hx_fabric_address(f, hosts + leaf, leaf, 0);
        f->node[hosts + leaf].group = leaf;
        for (unsigned u = 0; spines && u < up; u++)
            hx_fabric_lay(f, &(struct hx_laid){.a = hosts + leaf,
                                               .b = hosts + leaves + (leaf * up + u) % spines,
                                               .link_class = (uint8_t)tree});
    }
    for (unsigned spine = 0; spine < spines; spine++)
        f->node[hosts + leaves + spine].group = leaves + spine;
    f->groups = leaves + spines;
    f->group_word = "leaf";
    f->bought_planes = 16;
    hx_fabric_name(f, "leaf", hosts, leaves, 0);
    hx_fabric_name(f, "spine", hosts + leaves, spines, 0);
    return hx_fabric_finish(f, problem);
}

const struct hx_topology hx_topology_fat_tree = {
    .word = "fat-tree",
    .parameters = "hosts=N radix=N down=N up=N",
    .example = "fat-tree hosts=1024 radix=64",
    .summary = "switches in levels, up and down again",
    .build = build,
};
