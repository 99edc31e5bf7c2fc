/* config.c - reads the configuration of an image (config.h). */
#include "config.h"
#include "hal/bare/bare.h"
#include "hxmesh/error.h"
#include "hxmesh/memory.h"

/* ---- lines ---- */

struct line {
    const char *word; /* first word, up to a space or the end of the line */
    const char *at;   /* next character */
};

static bool is_end(char c)
{
    return c == '\n' || c == 0;
}

static bool is_line(const struct line *l, const char *word)
{
    const char *c = l->word;
    for (; *word && *c == *word; word++)
        c++;
    return *word == 0 && (*c == ' ' || is_end(*c));
}

static bool next_number(struct line *l, uint64_t *number)
{
    while (*l->at == ' ')
        l->at++;
    if (is_end(*l->at))
        return false;
    for (*number = 0; *l->at >= '0' && *l->at <= '9'; l->at++)
        *number = *number * 10 + (uint64_t)(*l->at - '0');
    if (*l->at != ' ' && !is_end(*l->at))
        bare_die("its configuration has a character %x in a number", (unsigned char)*l->at);
    return true;
}

/* Reads the next number; panics if there is none or it exceeds `most`. */
static uint64_t number_of(struct line *l, uint64_t most)
{
    uint64_t number = 0;
    if (!next_number(l, &number) || number > most)
        bare_die("its configuration has a number %lu where %lu is the most, or too few", number, most);
    return number;
}

/* ---- contents ---- */

static void read_fabric(struct config *c, struct line *l)
{
    uint16_t n[7];
    for (unsigned i = 0; i < 7; i++)
        n[i] = (uint16_t)number_of(l, UINT16_MAX);
    if (hx_geometry_init(&c->g, n[0], n[1], n[2], n[3], n[4], n[5], n[6]) != HX_OK)
        bare_die("its configuration has an impossible fabric: %u x %u boards of %u x %u", n[2], n[3], n[0], n[1]);
    c->blocked = bare_take((size_t)c->g.x * c->g.y / 8 + 1);
}

static void read_blocked(struct config *c, struct line *l)
{
    for (uint64_t board = 0; next_number(l, &board);) {
        if (board >= (uint64_t)c->g.x * c->g.y)
            bare_die("its configuration blocks board %lu, which does not exist", board);
        c->blocked[board / 8] |= (uint8_t)(1U << board % 8);
    }
}

static void read_place(struct config *c, struct line *l)
{
    c->gx = (uint16_t)number_of(l, c->g.columns - 1U);
    c->gy = (uint16_t)number_of(l, c->g.rows - 1U);
    c->plane = (uint8_t)number_of(l, c->g.planes - 1U);
    c->rank = hx_accelerator(&c->g, c->gx, c->gy);
    c->endpoint.addr_hi = c->gx;
    c->endpoint.addr_lo = c->gy;
    c->endpoint.columns = c->g.columns;
    c->endpoint.rows = c->g.rows;
    c->endpoint.plane_set = (uint8_t)(1U << c->plane);
    c->endpoint.window = (uint8_t)hx_peer_window(c->g.planes);
}

static void read_traffic(struct config *c, struct line *l)
{
    c->seed = number_of(l, UINT64_MAX);
    c->verify = number_of(l, 1);
    c->message = number_of(l, UINT64_MAX);
    c->messages = number_of(l, UINT64_MAX);
}

static void read_targets(struct config *c, struct line *l)
{
    struct line counted = *l;
    uint64_t rank;
    while (next_number(&counted, &rank))
        c->targets++;
    uint32_t *to = bare_take(c->targets * sizeof *to);
    for (uint32_t i = 0; i < c->targets; i++)
        to[i] = (uint32_t)number_of(l, c->g.accelerators - 1U);
    c->to = to;
}

static void read_random(struct config *c, struct line *l)
{
    c->endpoint.epoch = (uint32_t)number_of(l, UINT32_MAX);
    c->endpoint.key = number_of(l, UINT64_MAX);
    c->random = number_of(l, UINT64_MAX);
}

static void read_wait(struct config *c, struct line *l)
{
    static const uint64_t ns_per_ms = 1000000;
    static const uint64_t most_ms = 1U << 30;
    c->endpoint.timeout_ns = number_of(l, most_ms) * ns_per_ms;
    c->endpoint.least_ns = number_of(l, most_ms) * ns_per_ms;
    c->endpoint.most_ns = number_of(l, most_ms) * ns_per_ms;
    c->endpoint.retries = (uint8_t)number_of(l, UINT8_MAX);
    c->endpoint.unreachable_ns = number_of(l, most_ms) * ns_per_ms;
}

static void read_line(struct config *c, struct line *l)
{
    if (is_line(l, "fabric"))
        read_fabric(c, l);
    else if (c->g.accelerators == 0)
        bare_die("its configuration does not begin with the fabric");
    else if (is_line(l, "vcs"))
        c->vcs = (uint8_t)number_of(l, HX_VCS);
    else if (is_line(l, "blocked") || is_line(l, "barred" /* older name */))
        read_blocked(c, l);
    else if (is_line(l, "at"))
        read_place(c, l);
    else if (is_line(l, "credits"))
        c->credits = (uint32_t)number_of(l, UINT16_MAX);
    else if (is_line(l, "job"))
        c->endpoint.job = (uint16_t)number_of(l, UINT16_MAX);
    else if (is_line(l, "random"))
        read_random(c, l);
    else if (is_line(l, "traffic"))
        read_traffic(c, l);
    else if (is_line(l, "rate"))
        c->rate = number_of(l, UINT64_MAX);
    else if (is_line(l, "to"))
        read_targets(c, l);
    else if (is_line(l, "wait"))
        read_wait(c, l);
    else
        bare_die("its configuration has an unknown line, which begins with character %x", (unsigned char)*l->word);
}

void config_read(struct config *c, const char *text)
{
    *c = (struct config){.vcs = HX_MESH_VCS, .endpoint = {.sends = 8, .check = true}};
    while (*text) {
        struct line l = {.word = text, .at = text};
        while (*l.at != ' ' && !is_end(*l.at))
            l.at++;
        if (!is_end(*text))
            read_line(c, &l);
        while (!is_end(*text))
            text++;
        text += *text == '\n';
    }
    if (c->vcs < HX_MESH_VCS)
        bare_die("its configuration has %u VCs, fewer than board crossings need", c->vcs);
    if (c->endpoint.plane_set == 0 || c->credits == 0 || c->endpoint.timeout_ns == 0 || c->endpoint.epoch == 0)
        bare_die("its configuration is not complete: at, credits, random and wait have to be there");
}
