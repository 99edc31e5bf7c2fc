/* prices.c - reads a file of prices, and prices interfaces of servers (topology/prices.h). */
#include "topology/prices.h"

#include "base/yaml/keys.h"

#include <math.h>

const char *const hx_circuit_names[] = {"panel", "lookahead", "ocs", "fibre", NULL};
static const char *const optical_names[] = {"aoc", "all", NULL};

const struct hx_prices hx_default_prices = {
    .box = 14280, .cable = {[HX_DAC] = 272, [HX_AOC] = 603}, .gbyte_cable = 2, .gbyte_nic = 48, .gbyte_port = 24};

/* ---- file ---- */

/* With these, the price of the largest fabric fits 63 bits. */
#define MOST_USD   1e9 /* of a switch or a cable */
#define MOST_PART  1e6 /* of a part by rate */
#define MOST_FIBRE 1e3 /* of a metre */
#define MOST_METRE 1e5
#define MOST_GBPS  1e6

/* clang-format off */
#define USD(key_, target, most, help_) \
    {.key = (key_), .kind = HX_OPTION_REAL, .argument = "USD", .to.real = (target), .real_low = 0, \
     .real_high = (most), .help = (help_), .otherwise = "0"}
/* p: struct hx_prices; r: the struct hx_rate_price being read. */
#define PRICE_OPTIONS(p, r) \
    USD("switch", &(p)->box, MOST_USD, "of a switch, with any number of ports"), \
    USD("cables.trace", &(p)->cable[HX_TRACE], MOST_USD, "of a trace on a board"), \
    USD("cables.dac", &(p)->cable[HX_DAC], MOST_USD, "of a copper cable, with its ends"), \
    USD("cables.aoc", &(p)->cable[HX_AOC], MOST_USD, "of an optical cable, with its ends"), \
    {.key = "rates[].gbps", .key_required = true, .kind = HX_OPTION_REAL, .argument = "GBPS", .to.real = &(r)->gbps, \
     .real_low = 1, .real_high = MOST_GBPS, .help = "rate of a link, Gb/s; ascending"}, \
    USD("rates[].transceiver", &(r)->transceiver, MOST_PART, "of a transceiver"), \
    USD("rates[].nic", &(r)->nic, MOST_PART, "of a link at a server"), \
    USD("rates[].port", &(r)->port, MOST_PART, "of a link at a switch, beside `switch`"), \
    {.key = "fibre.cables", .kind = HX_OPTION_CHOICE, .to.choice = &(p)->optical, .choices = optical_names, \
     .help = "cables that are a fibre between two transceivers: optical ones, or all", .otherwise = "aoc"}, \
    USD("fibre.metre", &(p)->metre, MOST_FIBRE, "of a metre"), \
    {.key = "fibre.longest", .kind = HX_OPTION_REAL, .argument = "METRES", .to.real = &(p)->longest, .real_low = 0, \
     .real_high = MOST_METRE, .help = "longest fibre; the mean is half of it", .otherwise = "0"}, \
    {.key = "circuits.by", .kind = HX_OPTION_CHOICE, .to.choice = &(p)->circuit, .choices = hx_circuit_names, \
     .help = "what is between the fibres of two servers: a panel port for each, two and 1x2 switches for both " \
             "directions, a port of a circuit switch for each, or nothing", .otherwise = "panel"}, \
    USD("circuits.panel", &(p)->panel, MOST_PART, "of a port of a patch panel"), \
    USD("circuits.ocs", &(p)->ocs, MOST_PART, "of a port of an optical circuit switch"), \
    USD("circuits.flip", &(p)->flip, MOST_PART, "of a 1x2 switch"), \
    USD("gbyte.cable", &(p)->gbyte_cable, MOST_PART, "hxmesh bandwidth: of a cable, for each GB/s"), \
    USD("gbyte.nic", &(p)->gbyte_nic, MOST_PART, "of a NIC at a switch, for each GB/s"), \
    USD("gbyte.port", &(p)->gbyte_port, MOST_PART, "of a switch's port, for each GB/s"), \
    HX_OPTIONS_END

static const struct hx_yaml_group groups[] = {
    {.key = "cables", .holds = HX_YAML_KEYS, .argument = "mapping", .help = "prices of whole cables, by kind"},
    {.key = "rates", .holds = HX_YAML_ENTRIES, .least = 1, .most = HX_MOST_RATES, .argument = "list",
     .help = "prices that depend on the rate of a link"},
    {.key = "fibre", .holds = HX_YAML_KEYS, .argument = "mapping", .help = "cables that are made of parts"},
    {.key = "circuits", .holds = HX_YAML_KEYS, .argument = "mapping", .help = "fibres between two servers"},
    {.key = "gbyte", .holds = HX_YAML_KEYS, .argument = "mapping", .help = "prices of networks of dimensions"},
    {.key = NULL}};
/* clang-format on */

static bool read_rates(struct hx_prices *p, struct hx_rate_price *r, const struct hx_yaml *y,
                       const struct hx_option *options, struct hx_problem *problem)
{
    const struct hx_yaml_item *list = hx_yaml_find(y, "rates");
    if (!list)
        return true;
    for (const struct hx_yaml_item *entry = hx_yaml_first(list); entry; entry = hx_yaml_next(list, entry)) {
        *r = (struct hx_rate_price){.gbps = 0};
        if (!hx_yaml_apply(y, entry, options, problem))
            return false;
        if (p->rates && r->gbps <= p->rate[p->rates - 1].gbps)
            return hx_yaml_fail(y, hx_yaml_within(entry, "rates[].gbps"), problem,
                                "%g Gb/s is not above the rate before it, %g: sort the list", r->gbps,
                                p->rate[p->rates - 1].gbps);
        p->rate[p->rates++] = *r;
    }
    return true;
}

bool hx_prices_read(struct hx_prices *p, const char *path, struct hx_problem *problem)
{
    struct hx_rate_price rate;
    *p = (struct hx_prices){.path = path};
    const struct hx_option options[] = {PRICE_OPTIONS(p, &rate)};
    const struct hx_yaml_kind kind = {.options = options, .groups = groups};
    struct hx_yaml y;
    if (!hx_yaml_open(&y, path, &kind, problem))
        return false;
    const bool good = hx_yaml_apply(&y, y.items, options, problem) && read_rates(p, &rate, &y, options, problem);
    hx_yaml_free(&y);
    return good;
}

void hx_prices_print_keys(enum hx_help_format format, FILE *out)
{
    struct hx_prices p = {.rates = 0};
    struct hx_rate_price rate = {.gbps = 0};
    const struct hx_option options[] = {PRICE_OPTIONS(&p, &rate)};
    const struct hx_yaml_kind kind = {.title = "Keys of a file of prices", .options = options, .groups = groups};
    hx_yaml_keys_print(&kind, format, out);
}

struct hx_prices hx_prices_take(const char *path)
{
    struct hx_prices p = hx_default_prices;
    struct hx_problem problem;
    if (path && !hx_prices_read(&p, path, &problem))
        hx_die_of(&problem);
    return p;
}

/* ---- links ---- */

static double between(double a, double b, double share)
{
    return a + (b - a) * share;
}

struct hx_link_price hx_link_price(const struct hx_prices *p, double gbps)
{
    struct hx_link_price l = {.links = 1, .fibre = p->metre * p->longest / 2};
    if (!p->rates)
        return l;
    unsigned above = 0;
    while (above < p->rates && p->rate[above].gbps < gbps)
        above++;
    const struct hx_rate_price *high = &p->rate[above < p->rates ? above : p->rates - 1];
    const struct hx_rate_price *low = above > 0 && above < p->rates ? high - 1 : high;
    const double share = low < high ? (gbps - low->gbps) / (high->gbps - low->gbps) : 0;
    l.links = fmax(1, gbps / p->rate[p->rates - 1].gbps);
    l.transceiver = l.links * between(low->transceiver, high->transceiver, share);
    l.nic = l.links * between(low->nic, high->nic, share);
    l.port = l.links * between(low->port, high->port, share);
    l.fibre *= l.links;
    return l;
}

/* ---- interfaces ---- */

double hx_circuit_end_usd(const struct hx_prices *p, enum hx_circuit circuit, double gbps)
{
    const struct hx_link_price l = hx_link_price(p, gbps);
    const double device[HX_CIRCUITS] = {
        [HX_CIRCUIT_PANEL] = p->panel, [HX_CIRCUIT_LOOKAHEAD] = 2 * p->panel + 2 * p->flip, [HX_CIRCUIT_OCS] = p->ocs};
    return l.links * device[circuit] + (circuit == HX_CIRCUIT_FIBRE ? l.fibre / 2 : l.fibre);
}

double hx_circuit_usd(const struct hx_prices *p, enum hx_circuit circuit, double gbps)
{
    const struct hx_link_price l = hx_link_price(p, gbps);
    return l.nic + l.transceiver + hx_circuit_end_usd(p, circuit, gbps);
}

unsigned hx_tree_levels(uint32_t hosts, unsigned radix)
{
    const uint64_t r = radix, most[] = {r, r * r / 2, r * r * r / 4};
    for (unsigned level = 0; level < sizeof most / sizeof *most; level++)
        if (hosts <= most[level])
            return level + 1;
    return 0;
}

double hx_tree_usd(const struct hx_prices *p, unsigned levels, double taper, double gbps)
{
    const struct hx_link_price l = hx_link_price(p, gbps);
    const double links = 1 + (levels - 1) / taper, ports = 2 * links - 1;
    return l.nic + ports * l.port + 2 * links * l.transceiver + links * l.fibre;
}

double hx_tree_of_equal_cost(const struct hx_prices *p, unsigned levels, double usd, unsigned d, double gbps)
{
    const double tree = hx_tree_usd(p, levels, 1, gbps);
    return tree > 0 ? d * gbps * usd / tree : 0;
}
