/* kautz.c - Kautz graphs (W. H. Kautz, "Bounds on directed (d, k) graphs", 1968): among the largest graphs of a degree
 * and diameter.
 *
 * Routers are words of `length` letters out of degree + 1, without equal neighbouring letters. A router is joined to
 * the words that drop its first letter and append another. Links are bidirectional, so no path is longer than a word.
 * Each hop moves to the next VC, hence words of at most three letters. A group is a router and its hosts. */
#include "topology/topology.h"

/* A word as a number: the first letter, then the distance of each letter from the previous one, minus one, in base
 * `degree`. */
struct words_of {
    unsigned degree, length, count;
};

static void letters_of(const struct words_of *k, unsigned word, unsigned *letter)
{
    unsigned weight = k->count / (k->degree + 1);
    letter[0] = word / weight;
    for (unsigned i = 1; i < k->length; i++) {
        word %= weight;
        weight /= k->degree;
        letter[i] = (letter[i - 1] + 1 + word / weight) % (k->degree + 1);
    }
}

static unsigned word_of(const struct words_of *k, const unsigned *letter)
{
    unsigned word = letter[0];
    for (unsigned i = 1; i < k->length; i++)
        word = word * k->degree + (letter[i] + k->degree - letter[i - 1]) % (k->degree + 1);
    return word;
}

static unsigned next_word(const struct words_of *k, unsigned word, unsigned step)
{
    unsigned letter[4];
    letters_of(k, word, letter);
    letter[k->length] = (letter[k->length - 1] + 1 + step) % (k->degree + 1);
    return word_of(k, letter + 1);
}

static bool follows(const struct words_of *k, unsigned word, unsigned to)
{
    for (unsigned step = 0; step < k->degree; step++)
        if (next_word(k, word, step) == to)
            return true;
    return false;
}

static bool build(struct hx_fabric *f, struct hx_spec_tokens *words, struct hx_problem *problem)
{
    static const char *const keys[] = {"degree", "length", "p", NULL};
    struct words_of k;
    unsigned p;
    if (!hx_spec_tokens_number(words, "degree", 2, HX_MAX_RADIX / 2 - 1, 4, &k.degree, problem) ||
        !hx_spec_tokens_number(words, "length", 1, 3, 3, &k.length, problem) ||
        !hx_spec_tokens_number(words, "p", 1, HX_MAX_RADIX - 2 * k.degree, k.degree, &p, problem) ||
        !hx_spec_tokens_end(words, keys, 0, problem))
        return false;
    k.count = k.degree + 1;
    for (unsigned i = 1; i < k.length; i++)
        k.count *= k.degree;
    hx_fabric_start(f, k.count * p, k.count, k.count, p);
    unsigned own = hx_fabric_class_of_kind(f, "host", HX_DAC);
    unsigned link = hx_fabric_class_of_kind(f, "link", HX_AOC);
    for (unsigned router = 0; router < k.count; router++) {
        hx_fabric_attach_hosts(f, router, p, own);
        for (unsigned step = 0; step < k.degree; step++) {
            unsigned far = next_word(&k, router, step);
            if (router < far || !follows(&k, far, router)) /* aba and bab follow each other: one link */
                hx_fabric_add_link(
                    f, &(struct hx_new_link){.a = f->hosts + router, .b = f->hosts + far, .link_class = (uint8_t)link});
        }
    }
    f->groups = k.count;
    f->group_word = "router";
    f->rule = HX_VC_BY_HOP;
    f->vcs = k.length;
    f->bought_planes = 16;
    hx_fabric_name(f, "router", f->hosts, k.count, 0);
    return hx_fabric_finish(f, problem);
}

const struct hx_topology hx_topology_kautz = {
    HX_TOPOLOGY("kautz", "degree=N length=N (letters of a word) p=N (hosts a router)", "kautz degree=4 length=3 p=4",
                "many routers at a small distance: words that follow each other", build),
};
