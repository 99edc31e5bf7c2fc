/* config_file.c - reads a node file (config.h).
 *
 *     fabric: 2x2 Hx2Mesh             or a *.hxm.yaml file, found from here
 *     node: a0,0/p0
 *     ports:
 *       - {port: E, device: net_memif0, lcore: 1}
 *       - {port: local, device: endpoint}
 *     job: 7   credits: 512   frames: 8192   queue: 512   mtu: 8242
 *     credit_period: 100us   nap: 50us   linger: 1s   statistics: 10s   lose_credits: 100
 *     traffic: {pattern: all-to-all, message: 64KiB, count: 1, duration: 0, rate: 1, seed: 1, verify: true}
 *
 * As in a fabric file every single value is read by the option of the same name. */
#include "config.h"
#include "host/yaml/keys.h"
#include "host/yaml/load.h"
#include "host/yaml/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LIST = 8192 };

struct port {
    char *port, *device, *lcore;
};

struct file {
    char *fabric, *node, *job, *credits, *frames, *queue, *mtu, *credit_period, *nap, *linger, *statistics,
        *lose_credits;
    struct port *ports;
    struct hx_yaml_traffic *traffic;
    unsigned ports_count;
};

/* clang-format off */
static const cyaml_schema_field_t port_fields[] = {
    CYAML_FIELD_STRING_PTR("port", CYAML_FLAG_POINTER, struct port, port, 1, HX_YAML_LONGEST_VALUE),
    CYAML_FIELD_STRING_PTR("device", CYAML_FLAG_POINTER, struct port, device, 1, HX_YAML_LONGEST_VALUE),
    HX_YAML_TEXT("lcore", struct port, lcore), CYAML_FIELD_END};
static const cyaml_schema_value_t port_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct port, port_fields)};

static const cyaml_schema_field_t file_fields[] = {
    HX_YAML_TEXT("fabric", struct file, fabric),         HX_YAML_TEXT("node", struct file, node),
    HX_YAML_TEXT("job", struct file, job),               HX_YAML_TEXT("credits", struct file, credits),
    HX_YAML_TEXT("frames", struct file, frames),         HX_YAML_TEXT("mtu", struct file, mtu),
    HX_YAML_TEXT("queue", struct file, queue),
    HX_YAML_TEXT("credit_period", struct file, credit_period), HX_YAML_TEXT("nap", struct file, nap),
    HX_YAML_TEXT("linger", struct file, linger),         HX_YAML_TEXT("statistics", struct file, statistics),
    HX_YAML_TEXT("lose_credits", struct file, lose_credits),
    CYAML_FIELD_SEQUENCE("ports", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file, ports, &port_schema, 1,
                         HX_MAX_RADIX),
    CYAML_FIELD_MAPPING_PTR("traffic", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file, traffic,
                            hx_yaml_traffic_fields),
    CYAML_FIELD_END};
static const cyaml_schema_value_t file_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct file, file_fields)};

/* Which option reads which key. */
#define NODE_VALUES(f) \
    {"job", "job", (f)->job}, {"credits", "credits", (f)->credits}, {"frames", "frames", (f)->frames}, \
    {"queue", "queue", (f)->queue}, {"mtu", "mtu", (f)->mtu}, {"credit-period", "credit_period", (f)->credit_period}, \
    {"nap", "nap", (f)->nap}, {"linger", "linger", (f)->linger}, {"statistics", "statistics", (f)->statistics}, \
    {"lose-credits", "lose_credits", (f)->lose_credits}
/* clang-format on */

struct node_texts {
    struct hx_yaml_document document;
    char ports[LONGEST_LIST], lcores[LONGEST_LIST];
};

void node_texts_free(struct node_texts *texts)
{
    if (!texts)
        return;
    hx_yaml_close(&texts->document);
    free(texts);
}

/* Applies each value that is there and that no option gave. */
static bool apply_values(const struct hx_yaml_document *d, struct node_values *values, struct hx_problem *problem)
{
    const struct file *f = d->data;
    struct node_values from = node_default_values;
    const struct hx_option options[] = {NODE_OPTIONS(&from), HX_OPTIONS_END};
    static const struct hx_yaml_traffic no_traffic;
    const struct hx_yaml_traffic *t = f->traffic ? f->traffic : &no_traffic;
    const struct hx_yaml_value texts[] = {NODE_VALUES(f), HX_YAML_TRAFFIC_VALUES(t)};
    from.settings.given = 0;
    unsigned count = sizeof texts / sizeof *texts;
    if (!hx_yaml_apply(&d->marks, options, texts, count, problem) ||
        !hx_yaml_check(&d->marks, options, texts, count, node_run(&from.settings), problem))
        return false;
    node_values_merge(&from, values);
    from.fabric = values->fabric ? values->fabric : f->fabric;
    from.node = values->node ? values->node : f->node;
    from.ports = values->ports;
    from.lcores = values->lcores;
    *values = from;
    return true;
}

/* The list of ports as the option has it. */
static bool apply_ports(struct node_texts *texts, struct node_values *values, struct hx_problem *problem)
{
    const struct hx_yaml_marks *marks = &texts->document.marks;
    const struct file *f = texts->document.data;
    size_t ports = 0;
    size_t lcores = 0;
    for (unsigned i = 0; i < f->ports_count; i++) {
        const struct port *p = &f->ports[i];
        if (strpbrk(p->port, ",=") || strpbrk(p->device, ",=")) {
            char path[32];
            (void)snprintf(path, sizeof path, "ports[%u]", i);
            return hx_yaml_fail(marks, path, problem, "the names of ports and devices have neither ',' nor '='");
        }
        ports += (size_t)snprintf(texts->ports + ports, sizeof texts->ports - ports, "%s%s=%s", ports ? "," : "",
                                  p->port, p->device);
        if (p->lcore)
            lcores += (size_t)snprintf(texts->lcores + lcores, sizeof texts->lcores - lcores, "%s%s=%s",
                                       lcores ? "," : "", p->port, p->lcore);
        if (ports >= sizeof texts->ports || lcores >= sizeof texts->lcores)
            return hx_yaml_fail(marks, "ports", problem, "the names are too long");
    }
    values->ports = values->ports || !ports ? values->ports : texts->ports;
    values->lcores = values->lcores || !lcores ? values->lcores : texts->lcores;
    return true;
}

struct node_texts *node_file_read(const char *path, struct node_values *values)
{
    struct node_texts *texts = hx_allocate(1, sizeof *texts);
    struct hx_problem problem;
    if (!hx_yaml_open(&texts->document, path, &file_schema, &problem) ||
        !apply_values(&texts->document, values, &problem) || !apply_ports(texts, values, &problem))
        hx_die_of(&problem);
    return texts;
}

void node_file_print_keys(enum hx_help_format format, FILE *out)
{
    static const struct file f;
    static const struct hx_yaml_traffic t;
    struct node_values v = node_default_values;
    v.settings = hx_default_settings;
    const struct hx_option options[] = {NODE_OPTIONS(&v), HX_OPTIONS_END};
    const struct hx_yaml_value values[] = {
        {"fabric", "fabric", NULL}, {"node", "node", NULL}, NODE_VALUES(&f), HX_YAML_TRAFFIC_VALUES(&t)};
    static const struct hx_option others[] = {
        HX_YAML_KEY("ports", "list", "what is on each port"),
        HX_YAML_KEY("ports[].port", "PORT", "E W N S local, or the number of a network switch's port"),
        HX_YAML_KEY("ports[].device", "DEVICE", "the ethdev's name; endpoint is the built-in endpoint of local"),
        HX_YAML_KEY("ports[].lcore", "LCORE", "who polls it"),
        HX_YAML_KEY("traffic", "mapping", "what the built-in endpoint sends"),
        HX_OPTIONS_END};
    const struct hx_yaml_keys keys = {.title = "Keys of a node file",
                                      .fields = file_fields,
                                      .options = options,
                                      .values = values,
                                      .count = sizeof values / sizeof *values,
                                      .others = others};
    hx_yaml_keys_print(&keys, format, out);
}
