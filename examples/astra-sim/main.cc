/* main.cc - runs ASTRA-sim's system layer and workload over a fabric of hxmesh. */
#include "fabric.hh"
#include "fail.hh"
#include "inputs.hh"
#include "mailbox.hh"
#include "network.hh"
#include "options.hh"

#include <exception>
#include <memory>

#include <astra-sim/common/Logging.hh>
#include <astra-sim/system/Sys.hh>
#include <remote_memory_backend/analytical/AnalyticalRemoteMemory.hh>

namespace astra_hxmesh
{

/* An NPU with its network. The network is older: the system asks it for the time until its end. */
struct Npu {
    std::unique_ptr<Network> network;
    std::unique_ptr<AstraSim::Sys> system;
};

static std::vector<Npu> npus_of(const Options &o, const std::vector<int> &dimensions,
                                AstraSim::AstraRemoteMemoryAPI &memory, Shared &shared)
{
    const std::vector<int> queues(dimensions.size(), o.queues);
    const int count = npus_along(dimensions);
    std::vector<Npu> npus;
    for (int i = 0; i < count; i++) {
        auto network = std::make_unique<Network>(i, shared);
        auto system = std::make_unique<AstraSim::Sys>(i, o.workload, o.communicators, o.system, &memory, network.get(),
                                                      dimensions, queues, o.injection_scale, o.communication_scale,
                                                      o.has_rendezvous);
        npus.push_back({std::move(network), std::move(system)});
    }
    return npus;
}

/* Nothing happens any more: all NPUs must be at their end, and all messages received. */
static void check_end(const Shared &shared, size_t npus)
{
    const std::string unmatched = shared.mailbox.unmatched();
    if (shared.finished < npus)
        fail(NOT_DONE,
             std::to_string(npus - shared.finished) + " of " + std::to_string(npus) + " NPUs did not finish: " +
                 (unmatched.empty() ? "their traces wait, or ASTRA-sim says above what is wrong" : unmatched));
    if (!unmatched.empty())
        fail(NOT_DONE, unmatched);
}

static void run(const Options &o)
{
    Fabric fabric(o.fabric, o.of_fabric);
    const std::vector<int> dimensions = dimensions_of(o, fabric.usable_hosts());
    check_inputs(o, dimensions);
    fabric.check_report(o.report);
    AstraSim::LoggerFactory::init(o.logging, o.logs);
    Analytical::AnalyticalRemoteMemory memory(o.remote_memory);
    Shared shared{fabric, {}};
    std::vector<Npu> npus = npus_of(o, dimensions, memory, shared);
    for (const Npu &npu : npus)
        npu.system->workload->fire();
    fabric.run();
    const size_t count = npus.size();
    npus.clear();
    AstraSim::LoggerFactory::shutdown();
    fabric.write_report(o.report);
    check_end(shared, count);
}

} // namespace astra_hxmesh

/* What ASTRA-sim throws says what is wrong with one of its files. */
int main(int argc, char **argv)
{
    const astra_hxmesh::Options options = astra_hxmesh::options_of(argc, argv);
    try {
        astra_hxmesh::run(options);
    } catch (const std::exception &e) {
        astra_hxmesh::fail(astra_hxmesh::BAD_CONFIGURATION, e.what());
    }
    return 0;
}
