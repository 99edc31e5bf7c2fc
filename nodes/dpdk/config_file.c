/* config_file.c - reads a node file (config.h).
 *
 *     fabric: 2x2 Hx2Mesh             or a *.hxm.yaml file, relative to the working directory
 *     node: a0,0/p0
 *     ports:
 *       - {port: E, device: net_memif0, lcore: 1}
 *       - {port: local, device: endpoint}
 *     key_file: /etc/hxmesh/cable.key
 *     job: 7   credits: 512   frames: 8192   queue: 512   mtu: 8242
 *     credit_period: 100us   idle_wait: 50us   linger: 1s   statistics: 10s   lose_credits: 100
 *     traffic: {pattern: all-to-all, message: 64KiB, count: 1, duration: 0, rate: 1, seed: 1, verify: true}
 *
 * The option with the same key reads each value, as in a fabric file. */
#include "base/yaml/keys.h"
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LIST = 8192 };

struct port {
    const char *port, *device, *lcore; /* lcore NULL: not given */
};

/* clang-format off */
#define FILE_OPTIONS(v, p) \
    NODE_OPTIONS(v), \
    {.key = "ports[].port", .key_required = true, .kind = HX_OPTION_STRING, .argument = "PORT", \
     .to.string = &(p)->port, \
     .help = "E W N S local, or the number of a network switch's port"}, \
    {.key = "ports[].device", .key_required = true, .kind = HX_OPTION_STRING, .argument = "DEVICE", \
     .to.string = &(p)->device, .help = "the ethdev's name; endpoint is the built-in endpoint of local"}, \
    {.key = "ports[].lcore", .kind = HX_OPTION_STRING, .argument = "LCORE", .to.string = &(p)->lcore, \
     .help = "the lcore that polls it"}, \
    HX_OPTIONS_END

static const struct hx_yaml_group groups[] = {
    {.key = "ports", .holds = HX_YAML_ENTRIES, .least = 1, .most = HX_MAX_RADIX, .argument = "list",
     .help = "device and lcore of each port"},
    {.key = "traffic", .holds = HX_YAML_KEYS, .argument = "mapping", .help = "traffic of the built-in endpoint"},
    {.key = NULL}};
/* clang-format on */

struct node_texts {
    struct hx_yaml y;
    char ports[LONGEST_LIST], lcores[LONGEST_LIST];
};

void node_texts_free(struct node_texts *texts)
{
    if (!texts)
        return;
    hx_yaml_free(&texts->y);
    free(texts);
}

/* Target of the options. */
struct reading {
    struct node_values values;
    struct port port;
};

/* Applies the values of the file that no option gave. */
static bool apply_values(const struct hx_yaml *y, const struct hx_option *options, struct reading *from,
                         struct node_values *values, struct hx_problem *problem)
{
    struct node_values *v = &from->values;
    if (!hx_yaml_apply(y, y->items, options, problem) ||
        !hx_yaml_applies(y, y->items, options, node_run(&v->settings), problem))
        return false;
    node_values_merge(v, values);
    v->fabric = values->fabric ? values->fabric : v->fabric;
    v->node = values->node ? values->node : v->node;
    v->key_file = values->key_file ? values->key_file : v->key_file;
    v->ports = values->ports;
    v->lcores = values->lcores;
    *values = *v;
    return true;
}

/* Appends "PORT=VALUE" to a list; false: too long. */
static bool append(char list[LONGEST_LIST], const char *port, const char *value)
{
    size_t used = strlen(list);
    return snprintf(list + used, LONGEST_LIST - used, "%s%s=%s", used ? "," : "", port, value) <
           (int)(LONGEST_LIST - used);
}

/* Converts the port list to the form of the option. */
static bool apply_ports(struct node_texts *texts, const struct hx_option *options, struct reading *from,
                        struct node_values *values, struct hx_problem *problem)
{
    const struct hx_yaml *y = &texts->y;
    const struct hx_yaml_item *list = hx_yaml_find(y, "ports");
    if (!list)
        return true;
    struct port *p = &from->port;
    for (const struct hx_yaml_item *entry = hx_yaml_first(list); entry; entry = hx_yaml_next(list, entry)) {
        *p = (struct port){.port = "", .device = ""};
        if (!hx_yaml_apply(y, entry, options, problem))
            return false;
        if (strpbrk(p->port, ",=") || strpbrk(p->device, ",="))
            return hx_yaml_fail(y, entry, problem, "the names of ports and devices have neither ',' nor '='");
        if (!append(texts->ports, p->port, p->device) || (p->lcore && !append(texts->lcores, p->port, p->lcore)))
            return hx_yaml_fail(y, list, problem, "the names are too long");
    }
    values->ports = values->ports ? values->ports : texts->ports;
    values->lcores = values->lcores || !texts->lcores[0] ? values->lcores : texts->lcores;
    return true;
}

struct node_texts *node_file_read(const char *path, struct node_values *values)
{
    struct node_texts *texts = hx_allocate(1, sizeof *texts);
    struct reading from = {.values = node_default_values};
    from.values.settings.given = 0;
    const struct hx_option options[] = {FILE_OPTIONS(&from.values, &from.port)};
    const struct hx_yaml_kind kind = {.options = options, .groups = groups};
    struct hx_problem problem;
    if (!hx_yaml_open(&texts->y, path, &kind, &problem) || !apply_values(&texts->y, options, &from, values, &problem) ||
        !apply_ports(texts, options, &from, values, &problem))
        hx_die_of(&problem);
    return texts;
}

void node_file_print_keys(enum hx_help_format format, FILE *out)
{
    struct node_values v = node_default_values;
    struct port port = {.port = NULL};
    v.settings = hx_default_settings;
    const struct hx_option options[] = {FILE_OPTIONS(&v, &port)};
    const struct hx_yaml_kind kind = {.title = "Keys of a node file", .options = options, .groups = groups};
    hx_yaml_keys_print(&kind, format, out);
}
