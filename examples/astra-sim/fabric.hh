/* fabric.hh - a fabric of libhxmesh-sim whose events call functions. */
#ifndef ASTRA_HXMESH_FABRIC_HH
#define ASTRA_HXMESH_FABRIC_HH

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include <hxmesh/sim.h>

namespace astra_hxmesh
{

class Fabric
{
  public:
    using Function = std::function<void()>;

    /* Opens a fabric, a spec or a file, with options of `hxmesh run`. An error ends the program. */
    Fabric(const std::string &fabric, const std::vector<std::string> &options);
    ~Fabric();
    Fabric(const Fabric &) = delete;
    Fabric &operator=(const Fabric &) = delete;

    /* Hosts that are not on failed boards: each can be an NPU, in the order of their numbers. */
    size_t usable_hosts() const
    {
        return usable.size();
    }
    uint32_t host_of(int npu) const
    {
        return usable[static_cast<size_t>(npu)];
    }

    uint64_t now() const; /* ps */

    /* Sends a message between two hosts. `delivered` is called at the receiver, then `acknowledged` at the sender. */
    void send(uint32_t from, uint32_t to, uint64_t bytes, uint32_t tag, Function delivered, Function acknowledged);

    /* Calls a function in `delay` ps; what it sends from the host begins exactly then. */
    void after(uint32_t host, uint64_t delay, Function function);

    /* Runs until nothing is left to happen. */
    void run();

    /* Ends the program if a report could not be written to this file; "": none will be. */
    void check_report(const std::string &file) const;

    /* Ends the run. Writes the report of `hxmesh run --json` to a file; "": to none. */
    void write_report(const std::string &file);

  private:
    struct Message {
        Function delivered, acknowledged;
    };

    void handle(const hx_sim_event &event);
    void check(int result) const;

    hx_sim *sim;
    std::vector<uint32_t> usable;
    uint64_t next_cookie = 0;
    std::unordered_map<uint64_t, Message> messages; /* by cookie: not yet acknowledged */
    std::unordered_map<uint64_t, Function> timers;  /* by cookie */
};

} // namespace astra_hxmesh

#endif
