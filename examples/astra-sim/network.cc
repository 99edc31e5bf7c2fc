/* network.cc - an NPU's network, as ASTRA-sim sees it (network.hh). */
#include "network.hh"

#include <cassert>
#include <cmath>

#define PS_OF_NS 1000

namespace astra_hxmesh
{

int Network::sim_send(void *, uint64_t count, int, int dst, int tag, AstraSim::sim_request *,
                      void (*msg_handler)(void *), void *fun_arg)
{
    const Mailbox::Key key = {rank, dst, tag, count};
    const uint64_t number = shared.mailbox.send(key);
    const Callback sent = {msg_handler, fun_arg};
    const auto deliver = [&mailbox = shared.mailbox, key, number] {
        if (const auto received = mailbox.arrive(key, number))
            (*received)();
    };
    if (dst != rank)
        shared.fabric.send(shared.fabric.host_of(rank), shared.fabric.host_of(dst), count, static_cast<uint32_t>(tag),
                           deliver, sent);
    else
        shared.fabric.after(shared.fabric.host_of(rank), 0, [deliver, sent] {
            sent();
            deliver();
        });
    return 0;
}

/* A receive whose message is there is not done before this call returns: its caller does not expect that. */
int Network::sim_recv(void *, uint64_t count, int, int src, int tag, AstraSim::sim_request *,
                      void (*msg_handler)(void *), void *fun_arg)
{
    const Callback received = {msg_handler, fun_arg};
    if (shared.mailbox.receive({src, rank, tag, count}, received))
        shared.fabric.after(shared.fabric.host_of(rank), 0, received);
    return 0;
}

void Network::sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void *), void *fun_arg)
{
    assert(delta.time_res == AstraSim::NS); /* ASTRA-sim has no other */
    const auto delay = static_cast<uint64_t>(std::llround(delta.time_val * PS_OF_NS));
    shared.fabric.after(shared.fabric.host_of(rank), delay, Callback{fun_ptr, fun_arg});
}

AstraSim::timespec_t Network::sim_get_time()
{
    return {AstraSim::NS, static_cast<long double>(shared.fabric.now()) / PS_OF_NS};
}

/* Read by the greedy schedulers of dimensions alone, as a share of the others'. All dimensions are one fabric here. */
double Network::get_BW_at_dimension(int)
{
    return 1;
}

void Network::sim_notify_finished()
{
    shared.finished++;
}

} // namespace astra_hxmesh
