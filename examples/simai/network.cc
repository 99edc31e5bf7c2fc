/* network.cc - an accelerator's network, as SimAI sees it (network.hh). */
#include "network.hh"

#include <cmath>

#include <astra-sim/system/RecvPacketEventHadndlerData.hh>
#include <astra-sim/system/SendPacketEventHandlerData.hh>

#define PS_OF_NS 1000

namespace simai_hxmesh
{

using astra_hxmesh::Callback;
using AstraSim::ncclFlowTag;

static void give_received(const Callback &received, const ncclFlowTag &tag)
{
    static_cast<AstraSim::RecvPacketEventHadndlerData *>(received.argument)->flowTag = tag;
    received();
}

static void give_sent(const Callback &sent, const ncclFlowTag &tag)
{
    static_cast<AstraSim::SendPacketEventHandlerData *>(sent.argument)->flowTag = tag;
    sent();
}

int Network::sim_send(void *, uint64_t count, int, int dst, int, AstraSim::sim_request *request,
                      void (*msg_handler)(void *), void *fun_arg)
{
    const ncclFlowTag tag = request->flowTag;
    const Mailbox::Key key = {rank, dst, tag.tag_id, count};
    const uint64_t number = shared.mailbox.send(key);
    const uint32_t from = shared.fabric.host_of(rank), to = shared.fabric.host_of(dst);
    const auto deliver = [&shared = shared, key, number, tag] {
        if (const auto received = shared.mailbox.arrive(key, number))
            give_received(*received, tag);
        else
            shared.early.emplace(std::make_pair(key, number), tag);
    };
    const auto acknowledge = [sent = Callback{msg_handler, fun_arg}, tag] { give_sent(sent, tag); };
    shared.fabric.after(from, shared.send_latency, [&fabric = shared.fabric, from, to, key, deliver, acknowledge] {
        fabric.send(from, to, key.bytes, static_cast<uint32_t>(key.tag), deliver, acknowledge);
    });
    return 0;
}

/* A receive whose message is there is not done before this call returns. Its tag is in its argument, as SimAI passes
 * another one beside it. SimAI's all-to-all asks several times for one message: while one receive waits, the others are
 * ignored, as its ns-3 does. */
int Network::sim_recv(void *, uint64_t count, int, int src, int, AstraSim::sim_request *, void (*msg_handler)(void *),
                      void *fun_arg)
{
    const Callback received = {msg_handler, fun_arg};
    const int tag = static_cast<AstraSim::RecvPacketEventHadndlerData *>(fun_arg)->flowTag.tag_id;
    const Mailbox::Key key = {src, rank, tag, count};
    if (shared.mailbox.is_awaited(key))
        return 0;
    const auto number = shared.mailbox.receive(key, received);
    if (!number)
        return 0;
    const auto early = shared.early.extract({key, *number});
    shared.fabric.after(shared.fabric.host_of(rank), 0,
                        [received, tag = early.mapped()] { give_received(received, tag); });
    return 0;
}

void Network::sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void *), void *fun_arg)
{
    const auto delay = static_cast<uint64_t>(std::llround(delta.time_val * PS_OF_NS)); /* SimAI has nanoseconds alone */
    shared.fabric.after(shared.fabric.host_of(rank), delay, Callback{fun_ptr, fun_arg});
}

AstraSim::timespec_t Network::sim_get_time()
{
    return {AstraSim::NS, static_cast<double>(shared.fabric.now()) / PS_OF_NS};
}

} // namespace simai_hxmesh
