/* fuzz_spec.c - any text as a fabric is refused in one line, or is a complete graph. libFuzzer's entry; seeds in
 * corpus/spec.
 *
 * Only small fabrics are made, and no text names a file. */
#include "tests/fuzz/fuzz.h"
#include "topology/topology.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 400, LARGEST = 4096 /* product of all numbers */ };

static void require_one_line(const struct hx_problem *p)
{
    require(p->exit_code != 0 && p->what[0] != '\0' && !strchr(p->what, '\n'));
}

/* Tokens cover the whole text and stay within it. */
static void try_words(const char *text)
{
    struct hx_spec_tokens w;
    struct hx_problem problem = {.what = ""};
    if (!hx_spec_tokens_split(&w, text, &problem)) {
        require_one_line(&problem);
        return;
    }
    require(w.word[0] != '\0' && w.keys <= HX_MAX_KEYS && w.sizes <= HX_MAX_SIZES);
    for (unsigned i = 0; i < w.keys; i++) {
        require(strlen(w.key[i].key) + strlen(w.key[i].value) < HX_SPEC_BYTES);
        require(hx_spec_tokens_has(&w, w.key[i].key) && hx_spec_tokens_text(&w, w.key[i].key) == w.key[i].value);
    }
}

/* Its numbers are few and small; defaults are small by themselves, except those of a Dragonfly. */
static bool is_small(const char *text)
{
    unsigned long product = 1;
    while (*text) {
        unsigned long number = 1;
        if (isdigit((unsigned char)*text)) {
            char *end = NULL;
            number = strtoul(text, &end, 10);
            text = end;
        } else {
            text++;
        }
        if (number > LARGEST)
            return false;
        product *= number ? number : 1;
        if (product > LARGEST)
            return false;
    }
    return true;
}

static bool may_be_made(const char *text)
{
    struct hx_problem problem;
    const struct hx_topology *t = hx_topology_of(text, &problem);
    if (!t || strcmp(t->word, "graph") == 0)
        return false;
    return is_small(text) && (strcmp(t->word, "dragonfly") != 0 || strstr(text, "groups="));
}

/* Every link leads back, and every host is found by its address. */
static void require_whole(const struct hx_fabric *f)
{
    require(f->hosts > 0 && f->hosts <= HX_MAX_HOSTS && f->nodes >= f->hosts && f->vcs >= 1 && f->vcs <= HX_VCS);
    for (uint32_t node = 0; node < f->nodes; node++) {
        require(hx_fabric_ports(f, node) <= HX_MAX_RADIX && f->node[node].group < f->groups);
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
            struct hx_end far = hx_fabric_far(f, node, port);
            if (far.node == HX_NOWHERE)
                continue;
            require(far.node < f->nodes && far.port < hx_fabric_ports(f, far.node));
            struct hx_end back = hx_fabric_far(f, far.node, far.port);
            require(back.node == node && back.port == port);
            require(hx_fabric_port(f, node, port)->link_class < f->link_classes);
        }
    }
    for (uint32_t host = 0; host < f->hosts; host++)
        require(hx_fabric_host(f, f->node[host].addr_hi, f->node[host].addr_lo) == host);
    require((uint64_t)f->columns * f->rows >= f->hosts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[LONGEST + 1] = "";
    memcpy(text, data, size < LONGEST ? size : LONGEST);
    try_words(text);
    if (!may_be_made(text))
        return 0;
    struct hx_fabric f;
    struct hx_problem problem = {.what = ""};
    if (hx_fabric_make(&f, text, 1, &problem)) {
        require_whole(&f);
        hx_fabric_free(&f);
    } else
        require_one_line(&problem);
    return 0;
}
