/* config.c - completes and checks the configuration of a node (config.h). */
#include "config.h"
#include "base/error.h"
#include "base/key.h"
#include "base/text.h"
#include "workload/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct node_values node_default_values = {
    .queue = 512, .mtu = NODE_FULL_MTU, .credit_period_ns = 100000, .vcs = HX_MESH_VCS};

void node_values_merge(struct node_values *into, const struct node_values *over)
{
    struct node_values source = *over;
    const struct hx_option to[] = {NODE_OPTIONS(into), HX_OPTIONS_END};
    const struct hx_option of[] = {NODE_OPTIONS(&source), HX_OPTIONS_END};
    into->sizes.credits = over->sizes.credits ? over->sizes.credits : into->sizes.credits;
    hx_settings_merge(&into->settings, &over->settings);
    hx_options_take(to, of);
}

uint64_t node_run(const struct hx_settings *s)
{
    return HX_FOR_WALL | (hx_settings_named(s) & HX_FOR_ANY_PATTERN);
}

unsigned node_ports_used(const struct node_config *c)
{
    unsigned used = 0;
    for (unsigned port = 0; port < c->ports; port++)
        used += c->port[port].device[0] != 0;
    return used;
}

const char *node_port_word(char word[HX_NAME_BYTES], const struct node_config *config, unsigned port)
{
    if (config->place.kind == HX_ACCELERATOR)
        (void)snprintf(word, HX_NAME_BYTES, "%s", hx_port_letters[port]);
    else
        (void)snprintf(word, HX_NAME_BYTES, "%u", port);
    return word;
}

/* ---- which node ---- */

static void load_fabric(struct node_config *c, const struct node_values *v)
{
    if (!v->fabric)
        hx_die(HX_EXIT_USAGE, "--fabric", "is missing: which fabric is this a node of (or --config FILE)");
    if (!v->node)
        hx_die(HX_EXIT_USAGE, "--node", "is missing: which node is this, as a0,0/p0");
    hx_spec_load(v->fabric, &v->sizes, &c->spec);
    c->g = hx_spec_mesh(&c->spec, "hxmesh-dpdk");
    if (!hx_node_parse(v->node, c->spec.graph, &c->plane, &c->node))
        hx_die(HX_EXIT_CONFIG, v->node, "no such node in a %s with %u plane%s (as a0,0/p0 or row0/p0/leaf0)",
               c->spec.fabric, c->g.planes, hx_plural(c->g.planes));
    c->place = hx_place_of(&c->g, c->node);
    c->ports = hx_node_ports(&c->g, c->node);
    (void)hx_node_name(c->name, c->spec.graph, c->plane, c->node);
}

static void settle_job(struct node_config *c, const struct node_values *v)
{
    if (c->place.kind != HX_ACCELERATOR)
        return;
    unsigned board = hx_spec_board_at(&c->spec, c->place.gx, c->place.gy);
    if (hx_spec_board_failed(&c->spec, board))
        hx_die(HX_EXIT_CONFIG, c->name, "is on a failed board of %s", c->spec.source);
    c->job = v->given & NODE_GIVEN_JOB ? (uint16_t)v->job : hx_spec_board_job(&c->spec, board);
}

/* ---- lists: PORT=VALUE,... ---- */

static unsigned port_of(const struct node_config *c, const char *option, const char *word)
{
    char known[HX_NAME_BYTES];
    for (unsigned port = 0; port < c->ports; port++)
        if (strcmp(word, node_port_word(known, c, port)) == 0)
            return port;
    if (c->place.kind == HX_ACCELERATOR)
        hx_die(HX_EXIT_CONFIG, option, "'%s' is no port (E, W, N, S, local)", word);
    hx_die(HX_EXIT_CONFIG, option, "'%s' is no port of %s (0 to %u)", word, c->name, c->ports - 1);
}

/* Calls `set` with each (port, value) of a list. */
static void read_list(struct node_config *c, const char *option, const char *list,
                      void (*set)(struct node_config *, unsigned port, const char *value))
{
    char *copy = strdup(list ? list : "");
    char *rest = copy;
    for (char *item = strsep(&rest, ","); copy && item; item = strsep(&rest, ",")) {
        size_t name = strcspn(item, "=");
        if (*item == 0)
            continue;
        if (item[name] == 0 || item[name + 1] == 0)
            hx_die(HX_EXIT_CONFIG, option, "'%s' is not PORT=VALUE", item);
        item[name] = 0;
        set(c, port_of(c, option, item), item + name + 1);
    }
    free(copy);
}

static void set_device(struct node_config *c, unsigned port, const char *name)
{
    char word[HX_NAME_BYTES];
    (void)node_port_word(word, c, port);
    if (c->port[port].device[0])
        hx_die(HX_EXIT_CONFIG, "--ports", "port %s has two devices", word);
    if (strlen(name) >= NODE_DEVICE_BYTES)
        hx_die(HX_EXIT_CONFIG, "--ports", "'%s' is no device's name: too long", name);
    bool local = c->place.kind == HX_ACCELERATOR && port == HX_LOCAL;
    if (strcmp(name, NODE_ENDPOINT) == 0) {
        if (!local)
            hx_die(HX_EXIT_CONFIG, "--ports", "only the local port can have the built-in endpoint, not %s", word);
        c->has_endpoint = true;
    }
    for (unsigned other = 0; other < c->ports; other++)
        if (strcmp(c->port[other].device, name) == 0)
            hx_die(HX_EXIT_CONFIG, "--ports", "device '%s' has two ports", name);
    if (!local && hx_far_end(&c->g, c->node, port).node == HX_NOWHERE)
        hx_die(HX_EXIT_CONFIG, "--ports", "no cable is on port %s of %s in a %s", word, c->name, c->spec.fabric);
    (void)snprintf(c->port[port].device, NODE_DEVICE_BYTES, "%s", name);
}

static void set_lcore(struct node_config *c, unsigned port, const char *text)
{
    uint64_t lcore;
    char why[HX_WHY_TEXT];
    const char *wrong = hx_value_number(text, 0, 1023, &lcore, why);
    if (wrong)
        hx_die(HX_EXIT_CONFIG, "--lcores", "%s", wrong);
    if (!c->port[port].device[0]) {
        char word[HX_NAME_BYTES];
        hx_die(HX_EXIT_CONFIG, "--lcores", "port %s has no device", node_port_word(word, c, port));
    }
    c->port[port].lcore = (int)lcore;
}

static void read_ports(struct node_config *c, const struct node_values *v)
{
    for (unsigned port = 0; port < c->ports; port++)
        c->port[port].lcore = NODE_ANY_LCORE;
    read_list(c, "--ports", v->ports, set_device);
    read_list(c, "--lcores", v->lcores, set_lcore);
    if (node_ports_used(c) == 0)
        hx_die(HX_EXIT_USAGE, "--ports", "no port has a device (as E=net_memif0,local=endpoint)");
}

static void read_key(struct node_config *c, const struct node_values *v)
{
    struct hx_problem problem;
    c->authenticated = v->key_file;
    if (c->authenticated && !hx_key_read(&c->key, v->key_file, &problem))
        hx_die_of(&problem);
}

/* ---- consistency ---- */

static void check_traffic(const struct node_config *c)
{
    const struct hx_settings *s = &c->values.settings;
    uint64_t largest = c->values.mtu + 14 - HX_HEADER_BYTES;
    if (!c->has_endpoint)
        return;
    struct hx_problem problem;
    if (s->pattern >= HX_FLOWS)
        hx_die(HX_EXIT_USAGE, "--traffic", "the built-in endpoint sends messages: %s is for `hxmesh run`",
               hx_settings_traffic(s));
    if (s->warm_up_ns)
        hx_die(HX_EXIT_USAGE, "--warm-up", "a single node measures no rates: it is for `hxmesh run`");
    if (s->given & HX_GIVEN_COUNT && s->count && s->duration_ns)
        hx_die(HX_EXIT_USAGE, "--count", "%s", HX_COUNT_OR_DURATION);
    for (unsigned i = 0; i < s->target.count; i++)
        hx_spec_check_coordinate(&c->spec, "--target", s->target.at[i]);
    if (!traffic_check(&c->spec, c->spec.graph, s, &problem))
        hx_die_of(&problem);
    if (s->count == 0 && s->duration_ns == 0)
        hx_die(HX_EXIT_USAGE, "--count", "0 messages need a --duration");
    if (largest < HX_MAX_PAYLOAD && s->message > largest)
        hx_die(HX_EXIT_USAGE, "--message", "with an MTU of %u messages have at most %u bytes", (unsigned)c->values.mtu,
               (unsigned)largest);
}

void node_config_load(struct node_config *c, const char *file, struct node_values *values)
{
    *c = (struct node_config){.plane = 0};
    struct node_texts *texts = file ? node_file_read(file, values) : NULL;
    struct node_values settled = node_default_values;
    load_fabric(c, values);
    settled.settings = c->spec.settings;
    node_values_merge(&settled, values);
    settle_job(c, &settled);
    c->blocked = hx_allocate(hx_spec_boards(&c->spec) / 8U + 1U, 1);
    (void)hx_spec_blocked_boards(&c->spec, c->job, c->blocked);
    read_ports(c, values);
    read_key(c, values);
    c->values = settled;
    c->vcs = (unsigned)settled.vcs;
    check_traffic(c);
    node_texts_free(texts);
}

void node_config_free(struct node_config *config)
{
    hx_spec_free(&config->spec);
    free(config->blocked);
}
