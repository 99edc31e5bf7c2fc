/* options.cc - the command line (options.hh). */
#include "options.hh"
#include "fail.hh"
#include "words.hh"

#include <cstdlib>
#include <getopt.h>
#include <iostream>

namespace astra_hxmesh
{

static const char help[] =
    R"help(usage: astra-hxmesh --workload-configuration PREFIX --system-configuration FILE
           --remote-memory-configuration FILE --fabric SPEC|FILE [OPTION...] [-- OPTION OF hxmesh run...]

Runs a workload of ASTRA-sim over a fabric of hxmesh.

  --workload-configuration PREFIX       Chakra traces PREFIX.0.et, PREFIX.1.et, ...
  --system-configuration FILE           the system layer: collectives, chunks, delays
  --remote-memory-configuration FILE
  --comm-group-configuration FILE       communicator groups (none)
  --fabric SPEC|FILE                    "4x4 Hx2Mesh" (hxmesh topologies), or a network file of ASTRA-sim
  --network-configuration FILE          the same, as ASTRA-sim names it
  --dims AxBx...                        NPUs along each dimension; their product is the number of NPUs
                                        (those of a network file or of "Ring(A)_Switch(B)"; else all hosts in one)
  --num-queues-per-dim N                (1)
  --comm-scale X, --injection-scale X   (1)
  --rendezvous-protocol                 receivers ask for messages
  --logging-configuration FILE, --logging-folder FOLDER   (log)
  --report FILE                         writes the fabric's report (docs/report.md of hxmesh)
  --help
)help";

enum {
    WORKLOAD = 256,
    SYSTEM,
    MEMORY,
    GROUPS,
    FABRIC,
    DIMS,
    QUEUES,
    SCALE,
    INJECTION,
    RENDEZVOUS,
    LOGGING,
    LOGS,
    REPORT,
    HELP
};

static const option known[] = {
    {"workload-configuration", required_argument, nullptr, WORKLOAD},
    {"system-configuration", required_argument, nullptr, SYSTEM},
    {"remote-memory-configuration", required_argument, nullptr, MEMORY},
    {"comm-group-configuration", required_argument, nullptr, GROUPS},
    {"fabric", required_argument, nullptr, FABRIC},
    {"network-configuration", required_argument, nullptr, FABRIC},
    {"dims", required_argument, nullptr, DIMS},
    {"num-queues-per-dim", required_argument, nullptr, QUEUES},
    {"comm-scale", required_argument, nullptr, SCALE},
    {"injection-scale", required_argument, nullptr, INJECTION},
    {"rendezvous-protocol", no_argument, nullptr, RENDEZVOUS},
    {"logging-configuration", required_argument, nullptr, LOGGING},
    {"logging-folder", required_argument, nullptr, LOGS},
    {"report", required_argument, nullptr, REPORT},
    {"help", no_argument, nullptr, HELP},
    {nullptr, 0, nullptr, 0},
};

/* ---- values ---- */

enum { MOST = 1 << 24 /* NPUs, queues */ };

static double scale_of(const std::string &name, const char *text)
{
    char *end;
    const double value = std::strtod(text, &end);
    if (end == text || *end || !(value > 0))
        fail(USAGE, name + ": '" + text + "' is no number above 0");
    return value;
}

static std::vector<int> sides_of(const std::string &name, const std::string &word)
{
    std::vector<int> sides;
    for (size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
        end = word.find('x', at);
        sides.push_back(whole_of(name, word.substr(at, end - at), 1, MOST, " (as 4x2: NPUs along each dimension)"));
    }
    return sides;
}

/* ---- the line ---- */

static void set(Options &o, int which, const std::string &name, const char *value)
{
    switch (which) {
    case WORKLOAD:
        o.workload = value;
        break;
    case SYSTEM:
        o.system = value;
        break;
    case MEMORY:
        o.remote_memory = value;
        break;
    case GROUPS:
        o.communicators = value;
        break;
    case FABRIC:
        if (!o.fabric.empty())
            fail(USAGE, name + ": a second fabric; '" + o.fabric + "' is the first");
        o.fabric = value;
        break;
    case DIMS:
        o.dimensions = sides_of(name, value);
        break;
    case QUEUES:
        o.queues = whole_of(name, value, 1, MOST);
        break;
    case SCALE:
        o.communication_scale = scale_of(name, value);
        break;
    case INJECTION:
        o.injection_scale = scale_of(name, value);
        break;
    case RENDEZVOUS:
        o.has_rendezvous = true;
        break;
    case LOGGING:
        o.logging = value;
        break;
    case LOGS:
        o.logs = value;
        break;
    case REPORT:
        if (!*value)
            fail(USAGE, name + ": '' is no file");
        o.report = value;
        break;
    case HELP:
        std::cout << help;
        std::exit(0);
    case ':':
        fail(USAGE, name + ": its value is missing (see --help)");
    default:
        fail(USAGE, name + ": no such option (see --help); those of hxmesh run stand behind --");
    }
}

Options options_of(int argc, char **argv)
{
    Options o;
    int which, at;
    opterr = 0;
    for (int line = optind; (which = getopt_long(argc, argv, "+:", known, &at)) != -1; line = optind)
        set(o, which, argv[line], optarg);
    const bool has_end = optind > 1 && std::string(argv[optind - 1]) == "--";
    if (optind < argc && !has_end)
        fail(USAGE, std::string(argv[optind]) + ": an option begins with '--'");
    o.of_fabric.assign(argv + optind, argv + argc);
    const std::pair<const char *, const std::string *> needed[] = {{"--workload-configuration", &o.workload},
                                                                   {"--system-configuration", &o.system},
                                                                   {"--remote-memory-configuration", &o.remote_memory},
                                                                   {"--fabric", &o.fabric}};
    for (const auto &[name, value] : needed) {
        if (value->empty())
            fail(USAGE, std::string(name) + ": is missing (see --help)");
    }
    return o;
}

} // namespace astra_hxmesh
