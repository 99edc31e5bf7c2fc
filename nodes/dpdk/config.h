/* config.h - the configuration of a node: from options, a file, or both.
 *
 * Options and the keys of a node file (config_file.c) have the same names; options take precedence. */
#ifndef DPDK_NODE_CONFIG_H
#define DPDK_NODE_CONFIG_H

#include "base/options/options.h"
#include "hxmesh/auth_tag.h"
#include "spec/spec.h"
#include "topology/name.h"

enum { NODE_DEVICE_BYTES = 64, NODE_ANY_LCORE = -1 };
#define NODE_ENDPOINT "endpoint" /* device name of a local port with the built-in endpoint */

/* Values given by the user. */
enum node_given {
    NODE_GIVEN_JOB = 1 << 0,
    NODE_GIVEN_FRAMES = 1 << 1,
    NODE_GIVEN_MTU = 1 << 2,
    NODE_GIVEN_CREDIT_PERIOD = 1 << 3,
    NODE_GIVEN_IDLE_WAIT = 1 << 4,
    NODE_GIVEN_LINGER = 1 << 5,
    NODE_GIVEN_STATISTICS = 1 << 6,
    NODE_GIVEN_LOSE_CREDITS = 1 << 7,
    NODE_GIVEN_QUEUE = 1 << 8,
    NODE_GIVEN_VCS = 1 << 9,
    NODE_GIVEN_ISOLATE = 1 << 10
};

struct node_values {
    const char *fabric, *node; /* NULL: not given */
    const char *ports, *lcores;
    const char *key_file; /* NULL: none */
    uint64_t job;
    uint64_t frames; /* mbufs; 0: as many as credit can need */
    uint64_t queue;  /* descriptors of a device's queue */
    uint64_t mtu;
    uint64_t credit_period_ns;
    uint64_t vcs;
    uint64_t idle_wait_ns; /* 0: poll without a pause */
    uint64_t linger_ns;    /* 0: for ever */
    uint64_t statistics_ns;
    uint64_t lose_credits;
    bool isolate;
    struct hx_overrides sizes;
    struct hx_settings settings;
    uint64_t given; /* enum node_given */
};
extern const struct node_values node_default_values;

/* Option table entries for these values. */
/* clang-format off */
#define NODE_OPTIONS(v) \
    HX_OPTIONS_HEADING("Node"), \
    {.name = "fabric", .key = "fabric", .kind = HX_OPTION_STRING, .argument = "SPEC|FILE", .to.string = &(v)->fabric, \
     .help = "the fabric, as \"4x4 Hx2Mesh\" or a *.hxm.yaml"}, \
    {.name = "node", .key = "node", .kind = HX_OPTION_STRING, .argument = "NAME", .to.string = &(v)->node, \
     .help = "which node this is: a5,3/p0 an accelerator's switch, row3/p0/leaf0 a network's"}, \
    {.name = "ports", .kind = HX_OPTION_STRING, .argument = "LIST", .to.string = &(v)->ports, \
     .help = "PORT=DEVICE,...: E W N S local, or the number of a network switch's port, and the ethdev's name; " \
     "local=endpoint is the built-in endpoint"}, \
    {.name = "lcores", .kind = HX_OPTION_STRING, .argument = "LIST", .to.string = &(v)->lcores, \
     .help = "PORT=LCORE,...: the lcore that polls a port", .otherwise = "one for all: the first worker lcore"}, \
    {.name = "job", .key = "job", .kind = HX_OPTION_NUMBER, .argument = "TAG", .to.number = &(v)->job, .low = 0, \
     .high = UINT16_MAX, .help = "job tag of its board", .otherwise = "as the fabric says", \
     HX_GIVEN_IN(v, NODE_GIVEN_JOB)}, \
    {.name = "key-file", .key = "key_file", .kind = HX_OPTION_STRING, .argument = "FILE", .to.string = &(v)->key_file, \
     .help = "authenticate every cable but the built-in endpoint's: file with a key of 128 bits in hex, mode 0600"}, \
    {.name = "isolate", .key = "isolate", .kind = HX_OPTION_FLAG, .to.flag = &(v)->isolate, \
     .help = "take only the EtherTypes of hxmesh from each device, by rte_flow, and leave all other frames to the " \
     "kernel, on a device that it shares (mlx5)", HX_GIVEN_IN(v, NODE_GIVEN_ISOLATE)}, \
    HX_OPTIONS_HEADING("Buffers and time"), \
    HX_CREDIT_OPTION(&(v)->sizes), \
    {.name = "frames", .key = "frames", .kind = HX_OPTION_NUMBER, .to.number = &(v)->frames, .low = 0, \
     .high = 1 << 22, .help = "packet buffers of 9.5 KiB; 0: as many as credit can need", \
     HX_GIVEN_IN(v, NODE_GIVEN_FRAMES)}, \
    {.name = "queue", .key = "queue", .kind = HX_OPTION_NUMBER, .to.number = &(v)->queue, .low = 32, .high = 4096, \
     .help = "descriptors of a device's queue, if the device allows a choice", HX_GIVEN_IN(v, NODE_GIVEN_QUEUE)}, \
    {.name = "mtu", .key = "mtu", .kind = HX_OPTION_NUMBER, .argument = "BYTES", .to.number = &(v)->mtu, .low = 114, \
     .high = NODE_FULL_MTU, \
     .help = "MTU that every port must have; less than a full packet is for fabrics that only send short messages", \
     HX_GIVEN_IN(v, NODE_GIVEN_MTU)}, \
    {.name = "credit-period", .key = "credit_period", .kind = HX_OPTION_DURATION, .to.number = &(v)->credit_period_ns, \
     .low = 1000, .high = 10000000000U, .help = "time between credit frames that nothing asks for", \
     HX_GIVEN_IN(v, NODE_GIVEN_CREDIT_PERIOD)}, \
    {.name = "vcs", .key = "vcs", .kind = HX_OPTION_NUMBER, .to.number = &(v)->vcs, .low = HX_MESH_VCS, \
     .high = HX_VCS, .help = "VCs of each cable, the same in the whole fabric; 4: with the escape VC, for pairs that " \
     "dead links leave no other path (docs/faults.md)", HX_GIVEN_IN(v, NODE_GIVEN_VCS)}, \
    {.name = "idle-wait", .alias = "nap", .key = "idle_wait", .kind = HX_OPTION_DURATION, \
     .to.number = &(v)->idle_wait_ns, .low = 0, \
     .high = 1000000000, .help = "sleep of an lcore that found no work for a while; 0: it keeps polling", \
     HX_GIVEN_IN(v, NODE_GIVEN_IDLE_WAIT)}, \
    {.name = "linger", .key = "linger", .kind = HX_OPTION_DURATION, .to.number = &(v)->linger_ns, .low = 0, \
     .high = HX_MOST_DURATION, .help = "end when the endpoint has sent and received all, and nothing has crossed the " \
     "node for so long; 0: only by a signal", HX_GIVEN_IN(v, NODE_GIVEN_LINGER)}, \
    {.name = "statistics", .key = "statistics", .kind = HX_OPTION_DURATION, .to.number = &(v)->statistics_ns, \
     .low = 0, .high = HX_MOST_DURATION, .help = "time between lines of statistics; 0: none", \
     HX_GIVEN_IN(v, NODE_GIVEN_STATISTICS)}, \
    {.name = "lose-credits", .key = "lose_credits", .kind = HX_OPTION_NUMBER, .to.number = &(v)->lose_credits, \
     .low = 0, .high = 1000000, .help = "for tests: one credit frame in N is not sent; 0: none", \
     HX_GIVEN_IN(v, NODE_GIVEN_LOSE_CREDITS)}, \
    HX_OPTIONS_HEADING("Traffic of the built-in endpoint"), \
    HX_TRAFFIC_OPTIONS(&(v)->settings)
/* clang-format on */

enum { NODE_FULL_MTU = HX_MAX_FRAME - 14 };

struct node_port_config {
    char device[NODE_DEVICE_BYTES]; /* "": no cable */
    int lcore;                      /* or NODE_ANY_LCORE */
};

struct node_config {
    struct hx_spec spec;
    struct hx_geometry g;
    char name[HX_NAME_BYTES];
    uint32_t node;
    unsigned plane;
    unsigned vcs; /* of its cables */
    struct hx_place place;
    unsigned ports;
    struct node_port_config port[HX_MAX_RADIX];
    uint16_t job;
    uint8_t *blocked; /* boards that its job may not enter, a bit each (hx_spec_blocked_boards()) */
    bool has_endpoint;
    bool trial;         /* opens everything, starts no core (trial.h) */
    bool authenticated; /* its cables have a key */
    struct hx_auth_key key;
    const struct node_config *before; /* that this one replaced in the node; others may still read it. NULL: none */
    struct node_values values;        /* merged; its strings are not valid */
};

/* Copies the values given in `over` to `into`, except strings. */
void node_values_merge(struct node_values *into, const struct node_values *over);

/* Returns the kind of run that options must be for: wall clock, and the pattern of these settings, or any. */
uint64_t node_run(const struct hx_settings *s);

/* Adds the values of a node file to those in `values`. The result owns the strings. */
struct node_texts;
struct node_texts *node_file_read(const char *path, struct node_values *values);
void node_texts_free(struct node_texts *texts);
/* Prints every key of such a file. */
void node_file_print_keys(enum hx_help_format format, FILE *out);

/* Reads `file` (NULL: none), completes *values, and checks everything. Exits with an error. */
void node_config_load(struct node_config *config, const char *file, struct node_values *values);
void node_config_free(struct node_config *config);

/* Number of ports with a device. */
unsigned node_ports_used(const struct node_config *config);

/* Returns "E", "local", "12": a port of this node, as in lists and reports. */
const char *node_port_word(char word[HX_NAME_BYTES], const struct node_config *config, unsigned port);

#endif
