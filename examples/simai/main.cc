/* main.cc - runs SimAI's workloads, with its model of NCCL, over a fabric of hxmesh. */
#include "fail.hh"
#include "network.hh"
#include "words.hh"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <getopt.h>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <astra-sim/system/Sys.hh>

namespace simai_hxmesh
{

using namespace astra_hxmesh; /* fail() and its codes */

static const char help[] =
    R"help(usage: simai-hxmesh -w FILE --fabric SPEC|FILE [OPTION...] [-- OPTION OF hxmesh run...]

Runs a workload of SimAI (AICB writes them) over a fabric of hxmesh.

  -w, --workload FILE
  --fabric SPEC|FILE        "4x4 Hx2Mesh" (hxmesh topologies)
  -g, --gpus N              accelerators (all hosts of the fabric)
  --gpus-per-server N       as NCCL sees it: its rings pass through a server in turn (8)
  --gpu-type NAME           A100, A800, H100, H800 or H20: channels and algorithms of NCCL (H100)
  --send-latency NS         before each message begins, as AS_SEND_LAT of SimAI (6000)
  -o, --results PREFIX      of SimAI's tables (./simai_)
  --report FILE             writes the fabric's report (docs/report.md of hxmesh)
  -h, --help
)help";

struct Options {
    std::string workload, fabric, report;
    std::string results = "./simai_";
    std::vector<std::string> of_fabric; /* options of hxmesh run */
    int gpus = 0;                       /* 0: all hosts */
    int gpus_per_server = 8;
    GPUType gpu_type = GPUType::H100;
    uint64_t send_latency_ns = 6000;
};

/* ---- options ---- */

enum { FABRIC = 256, PER_SERVER, TYPE, LATENCY, REPORT };

static const option known[] = {
    {"workload", required_argument, nullptr, 'w'},
    {"fabric", required_argument, nullptr, FABRIC},
    {"gpus", required_argument, nullptr, 'g'},
    {"gpus-per-server", required_argument, nullptr, PER_SERVER},
    {"gpu-type", required_argument, nullptr, TYPE},
    {"send-latency", required_argument, nullptr, LATENCY},
    {"results", required_argument, nullptr, 'o'},
    {"report", required_argument, nullptr, REPORT},
    {"help", no_argument, nullptr, 'h'},
    {nullptr, 0, nullptr, 0},
};

static GPUType type_of(const std::string &name, const std::string &text)
{
    static const std::pair<const char *, GPUType> types[] = {{"A100", GPUType::A100},
                                                             {"A800", GPUType::A800},
                                                             {"H100", GPUType::H100},
                                                             {"H800", GPUType::H800},
                                                             {"H20", GPUType::H20}};
    for (const auto &[known_name, type] : types) {
        if (text == known_name)
            return type;
    }
    fail(USAGE, name + ": '" + text + "' is none of A100, A800, H100, H800, H20");
}

static void set(Options &o, int which, const std::string &name, const char *value)
{
    switch (which) {
    case 'w':
        o.workload = value;
        break;
    case FABRIC:
        o.fabric = value;
        break;
    case 'g':
        o.gpus = whole_of(name, value, 1, 1 << 24);
        break;
    case PER_SERVER:
        o.gpus_per_server = whole_of(name, value, 1, 1 << 24);
        break;
    case TYPE:
        o.gpu_type = type_of(name, value);
        break;
    case LATENCY:
        o.send_latency_ns = static_cast<uint64_t>(whole_of(name, value, 0, 1000000000));
        break;
    case 'o':
        o.results = value;
        break;
    case REPORT:
        o.report = value;
        break;
    case 'h':
        std::cout << help;
        std::exit(0);
    default:
        fail(USAGE, name + ": no such option, or its value is missing (see --help)");
    }
}

static Options options_of(int argc, char **argv)
{
    Options o;
    int which, at;
    opterr = 0;
    for (int line = optind; (which = getopt_long(argc, argv, "+w:g:o:h", known, &at)) != -1; line = optind)
        set(o, which, argv[line], optarg);
    if (optind < argc && std::string(argv[optind - 1]) != "--")
        fail(USAGE, std::string(argv[optind]) + ": an option begins with '-'");
    o.of_fabric.assign(argv + optind, argv + argc);
    if (o.workload.empty() || o.fabric.empty())
        fail(USAGE, std::string(o.workload.empty() ? "--workload" : "--fabric") + ": is missing (see --help)");
    if (!std::ifstream(o.workload))
        fail(BAD_CONFIGURATION, o.workload + ": cannot be read");
    return o;
}

/* ---- the run ---- */

/* SimAI numbers a switch of each server after the accelerators. They add up for NVLS alone, which is not simulated, so
 * none is a host here. */
static std::vector<int> switches_of(const Options &o, int count)
{
    std::vector<int> switches;
    for (int i = 0; i < count / o.gpus_per_server; i++)
        switches.push_back(count + i);
    return switches;
}

/* Makes a system for each accelerator. One deletes itself at the end of its work, and asks its network for the time
 * then: SimAI's list says which are left. */
static void make_systems(const Options &o, int count, Shared &shared, std::vector<std::unique_ptr<Network>> &networks)
{
    const std::vector<int> switches = switches_of(o, count);
    for (int i = 0; i < count; i++) {
        networks.push_back(std::make_unique<Network>(i, shared));
        auto *system =
            new AstraSim::Sys(networks.back().get(), nullptr, i, 0, 1, {count}, {1}, "", o.workload, 1.0F, 1.0F, 1.0F,
                              1, 0, o.results, "simai", true, false, o.gpu_type, {count}, switches, o.gpus_per_server);
        system->nvswitch_id = count + i / o.gpus_per_server;
        system->num_gpus = count;
    }
}

/* SimAI asks for some messages more often than it sends them, so a receive that is left says nothing by itself. */
static void check_end(const Shared &shared)
{
    const auto &all = AstraSim::Sys::all_generators;
    const auto finished = std::count(all.begin(), all.end(), nullptr);
    const std::string unmatched = shared.mailbox.unmatched();
    if (finished < static_cast<std::ptrdiff_t>(all.size()))
        fail(NOT_DONE, std::to_string(all.size() - static_cast<size_t>(finished)) + " of " +
                           std::to_string(all.size()) +
                           " accelerators did not finish: " + (unmatched.empty() ? "they wait" : unmatched));
}

static void run(const Options &o)
{
    Fabric fabric(o.fabric, o.of_fabric);
    fabric.check_report(o.report);
    const auto hosts = static_cast<int>(fabric.usable_hosts());
    const int count = o.gpus ? o.gpus : hosts;
    if (count > hosts)
        fail(BAD_CONFIGURATION, "--gpus: " + std::to_string(count) + ", but the fabric has " + std::to_string(hosts) +
                                    " hosts that can be used");
    if (count % o.gpus_per_server != 0)
        fail(BAD_CONFIGURATION, "--gpus-per-server: " + std::to_string(count) +
                                    " accelerators are no whole servers of " + std::to_string(o.gpus_per_server));
    Shared shared{fabric, 1000 * o.send_latency_ns, {}, {}};
    std::vector<std::unique_ptr<Network>> networks;
    make_systems(o, count, shared, networks);
    for (const AstraSim::Sys *one : std::vector<AstraSim::Sys *>(AstraSim::Sys::all_generators))
        one->workload->fire();
    fabric.run();
    fabric.write_report(o.report);
    check_end(shared);
    std::cout << "finished after " << fabric.now() / 1000 << " ns" << std::endl;
}

} // namespace simai_hxmesh

int main(int argc, char **argv)
{
    simai_hxmesh::run(simai_hxmesh::options_of(argc, argv));
    return 0;
}
