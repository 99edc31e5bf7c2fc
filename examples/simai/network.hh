/* network.hh - an accelerator's network, as SimAI sees it: a host of a fabric of hxmesh.
 *
 * A message is a flow of SimAI's NCCL model. Its flow tag says which flow of which channel it is, and which flows
 * follow it. The network keeps the tag of a send: the receive gets it when the message is there, and the send when it
 * is acknowledged. Receives are matched by sender, receiver, tag and size. */
#ifndef SIMAI_HXMESH_NETWORK_HH
#define SIMAI_HXMESH_NETWORK_HH

#include "fabric.hh"
#include "mailbox.hh"

#include <astra-sim/system/AstraNetworkAPI.hh>
#include <map>
#include <utility>

namespace simai_hxmesh
{

using astra_hxmesh::Fabric;
using astra_hxmesh::Mailbox;

/* What the accelerators share. */
struct Shared {
    Fabric &fabric;
    uint64_t send_latency; /* ps before a message begins */
    Mailbox mailbox;
    /* By key and number: tags of messages that arrived before their receive. */
    std::map<std::pair<Mailbox::Key, uint64_t>, AstraSim::ncclFlowTag> early;
};

class Network : public AstraSim::AstraNetworkAPI
{
  public:
    Network(int accelerator, Shared &shared) : AstraNetworkAPI(accelerator), shared(shared)
    {
    }

    int sim_send(void *buffer, uint64_t count, int type, int dst, int tag, AstraSim::sim_request *request,
                 void (*msg_handler)(void *), void *fun_arg) override;
    int sim_recv(void *buffer, uint64_t count, int type, int src, int tag, AstraSim::sim_request *request,
                 void (*msg_handler)(void *), void *fun_arg) override;
    void sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void *), void *fun_arg) override;
    AstraSim::timespec_t sim_get_time() override;

    int sim_comm_size(AstraSim::sim_comm, int *) override
    {
        return 0;
    }
    int sim_finish() override
    {
        return 0;
    }
    double sim_time_resolution() override
    {
        return 0;
    }
    int sim_init(AstraSim::AstraMemoryAPI *) override
    {
        return 0;
    }

  private:
    Shared &shared;
};

} // namespace simai_hxmesh

#endif
