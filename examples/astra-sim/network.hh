/* network.hh - an NPU's network, as ASTRA-sim sees it: a host of a fabric of hxmesh.
 *
 * A send is done when its receiver has acknowledged it, a receive when its message is there. A message of an NPU to
 * itself takes no time: a fabric of hxmesh carries none. */
#ifndef ASTRA_HXMESH_NETWORK_HH
#define ASTRA_HXMESH_NETWORK_HH

#include "fabric.hh"
#include "mailbox.hh"

#include <astra-sim/common/AstraNetworkAPI.hh>

namespace astra_hxmesh
{

/* What the NPUs share. */
struct Shared {
    Fabric &fabric;
    Mailbox mailbox;
    uint32_t finished = 0; /* NPUs */
};

class Network : public AstraSim::AstraNetworkAPI
{
  public:
    Network(int npu, Shared &shared) : AstraNetworkAPI(npu), shared(shared)
    {
    }

    int sim_send(void *buffer, uint64_t count, int type, int dst, int tag, AstraSim::sim_request *request,
                 void (*msg_handler)(void *), void *fun_arg) override;
    int sim_recv(void *buffer, uint64_t count, int type, int src, int tag, AstraSim::sim_request *request,
                 void (*msg_handler)(void *), void *fun_arg) override;
    void sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void *), void *fun_arg) override;
    AstraSim::timespec_t sim_get_time() override;
    double get_BW_at_dimension(int dim) override;
    void sim_notify_finished() override;

  private:
    Shared &shared;
};

} // namespace astra_hxmesh

#endif
