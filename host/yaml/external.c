/* external.c - reads the accelerators that run elsewhere (host/yaml/external.h). */
#include "host/yaml/external.h"
#include "host/yaml/values.h"

#include <net/if.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_PATH = 96 };
const struct hx_external_values hx_external_defaults = {.wait_ns = UINT64_C(10000000000)};

const char *const hx_cable_words[HX_CABLES] = {"out", "memif", "veth", "tap"};

/* ---- what libcyaml fills ---- */

/* clang-format off */
static const cyaml_schema_value_t number_schema = {CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint32_t)};

static const cyaml_schema_field_t port_fields[] = {
    HX_YAML_TEXT("E", struct hx_yaml_cables, e), HX_YAML_TEXT("W", struct hx_yaml_cables, w),
    HX_YAML_TEXT("N", struct hx_yaml_cables, n), HX_YAML_TEXT("S", struct hx_yaml_cables, s), CYAML_FIELD_END};

static const cyaml_schema_field_t external_fields[] = {
    CYAML_FIELD_SEQUENCE_FIXED("at", CYAML_FLAG_DEFAULT, struct hx_yaml_external, at, &number_schema, 2),
    CYAML_FIELD_MAPPING("ports", CYAML_FLAG_DEFAULT, struct hx_yaml_external, ports, port_fields),
    HX_YAML_TEXT("plane", struct hx_yaml_external, plane),
    HX_YAML_TEXT("wait", struct hx_yaml_external, wait),
    HX_YAML_TEXT("lose_credits", struct hx_yaml_external, lose_credits),
    CYAML_FIELD_END};

const cyaml_schema_value_t hx_yaml_external_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct hx_yaml_external, external_fields)};
/* clang-format on */

/* ---- one entry ---- */

struct reading {
    const struct hx_yaml_marks *marks;
    const struct hx_spec *spec;
    struct hx_problem *problem;
    const struct hx_yaml_external *entry;
    struct hx_external *external;
    char path[LONGEST_PATH]; /* "external[0]" */
};

static const char *path_of(const struct reading *r, char path[LONGEST_PATH], const char *key)
{
    snprintf(path, LONGEST_PATH, "%.60s.%s", r->path, key);
    return path;
}

static bool read_place(struct reading *r)
{
    char path[LONGEST_PATH];
    const struct hx_spec *s = r->spec;
    uint32_t gx = r->entry->at[0];
    uint32_t gy = r->entry->at[1];
    path_of(r, path, "at");
    if (gx >= s->a * s->x || gy >= s->b * s->y)
        return hx_yaml_fail(r->marks, path, r->problem,
                            "accelerator %u,%u is outside the fabric (gx 0 .. %u, gy 0 .. %u)", gx, gy, s->a * s->x - 1,
                            s->b * s->y - 1);
    if (hx_spec_board_failed(s, hx_spec_board_at(s, gx, gy)))
        return hx_yaml_fail(r->marks, path, r->problem, "accelerator %u,%u is on a failed board", gx, gy);
    r->external->gx = (uint16_t)gx;
    r->external->gy = (uint16_t)gy;
    return true;
}

static bool read_values(struct reading *r)
{
    static const char *const keys[] = {"plane", "wait", "lose_credits"};
    const char *const texts[] = {r->entry->plane, r->entry->wait, r->entry->lose_credits};
    struct hx_external_values v = hx_external_defaults;
    const struct hx_option options[] = {HX_EXTERNAL_OPTIONS(&v, r->spec->planes)};
    for (unsigned i = 0; i < sizeof options / sizeof *options; i++) {
        char path[LONGEST_PATH];
        const char *wrong = texts[i] ? hx_option_apply(&options[i], texts[i]) : NULL;
        if (wrong)
            return hx_yaml_fail(r->marks, path_of(r, path, keys[i]), r->problem, "%s: %s", keys[i], wrong);
    }
    r->external->plane = (unsigned)v.plane;
    r->external->wait_ns = v.wait_ns;
    r->external->lose_credits = v.lose_credits;
    return true;
}

/* ---- its cables ---- */

static bool read_cable(const struct reading *r, const char *path, const char *text, struct hx_external_port *port)
{
    size_t word = strcspn(text, ":");
    unsigned cable = HX_CABLE_MEMIF;
    while (cable < HX_CABLES &&
           (strlen(hx_cable_words[cable]) != word || strncmp(text, hx_cable_words[cable], word) != 0))
        cable++;
    if (cable == HX_CABLES || text[word] != ':' || text[word + 1] == '\0')
        return hx_yaml_fail(r->marks, path, r->problem,
                            "'%s' is no cable (memif:SOCKET, veth:INTERFACE or tap:INTERFACE)", text);
    const char *target = text + word + 1;
    size_t room = cable == HX_CABLE_MEMIF ? HX_CABLE_TARGET_BYTES : IF_NAMESIZE;
    if (strlen(target) >= room)
        return hx_yaml_fail(r->marks, path, r->problem, "'%s' is too long: the kernel takes %zu characters", target,
                            room - 1);
    port->cable = (enum hx_cable_kind)cable;
    snprintf(port->target, sizeof port->target, "%s", target);
    return true;
}

static bool read_port(struct reading *r, const struct hx_geometry *g, unsigned port, const char *text)
{
    static const char *const keys[HX_CABLE_PORTS] = {[HX_E] = "ports.E", "ports.W", "ports.N", "ports.S"};
    char path[LONGEST_PATH];
    struct hx_external *e = r->external;
    path_of(r, path, keys[port]);
    if (hx_far_end(g, hx_accelerator(g, e->gx, e->gy), port).node == HX_NOWHERE)
        return hx_yaml_fail_key(r->marks, path, r->problem, "no cable is on this port of %u,%u in a %s", e->gx, e->gy,
                                r->spec->fabric);
    return read_cable(r, path, text, &e->port[port]);
}

static bool read_ports(struct reading *r)
{
    const struct hx_geometry g = hx_spec_geometry(r->spec);
    const struct hx_yaml_external *e = r->entry;
    const char *const texts[HX_CABLE_PORTS] = {
        [HX_E] = e->ports.e, [HX_W] = e->ports.w, [HX_N] = e->ports.n, [HX_S] = e->ports.s};
    char path[LONGEST_PATH];
    unsigned named = 0;
    for (unsigned port = 0; port < HX_CABLE_PORTS; port++) {
        if (texts[port] && !read_port(r, &g, port, texts[port]))
            return false;
        named += texts[port] != NULL;
    }
    return named || hx_yaml_fail_key(r->marks, path_of(r, path, "ports"), r->problem, "none of E, W, N, S has a cable");
}

/* ---- all ---- */

static bool is_same(const struct hx_external_port *a, const struct hx_external_port *b)
{
    return a->cable != HX_CABLE_OUT && a->cable == b->cable && strcmp(a->target, b->target) == 0;
}

/* The last entry against itself and those before it. */
static bool is_new(const struct reading *r, const struct hx_external *first)
{
    const struct hx_external *last = r->external;
    for (const struct hx_external *e = first; e <= last; e++) {
        if (e != last && e->gx == last->gx && e->gy == last->gy && e->plane == last->plane)
            return hx_yaml_fail_key(r->marks, r->path, r->problem, "accelerator %u,%u has two entries for plane %u",
                                    e->gx, e->gy, e->plane);
        for (unsigned i = 0; i < HX_CABLE_PORTS * HX_CABLE_PORTS; i++) {
            unsigned mine = i % HX_CABLE_PORTS;
            unsigned other = i / HX_CABLE_PORTS;
            if ((e != last || mine < other) && is_same(&last->port[mine], &e->port[other]))
                return hx_yaml_fail_key(r->marks, r->path, r->problem, "%s:%s is on two ports",
                                        hx_cable_words[last->port[mine].cable], last->port[mine].target);
        }
    }
    return true;
}

bool hx_external_read(const struct hx_yaml_marks *marks, const struct hx_yaml_external *entries, unsigned count,
                      struct hx_spec *spec, struct hx_problem *problem)
{
    spec->external = count ? hx_allocate(count, sizeof *spec->external) : NULL;
    for (spec->externals = 0; spec->externals < count; spec->externals++) {
        struct reading r = {.marks = marks,
                            .spec = spec,
                            .problem = problem,
                            .entry = &entries[spec->externals],
                            .external = &spec->external[spec->externals]};
        snprintf(r.path, sizeof r.path, "external[%u]", spec->externals);
        if (!read_place(&r) || !read_values(&r) || !read_ports(&r) || !is_new(&r, spec->external))
            return false;
    }
    return true;
}
