/* fabric.cc - a fabric of libhxmesh-sim whose events call functions (fabric.hh). */
#include "fabric.hh"
#include "fail.hh"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <utility>

namespace astra_hxmesh
{

Fabric::Fabric(const std::string &fabric, const std::vector<std::string> &options)
{
    std::vector<const char *> words;
    for (const std::string &option : options)
        words.push_back(option.c_str());
    words.push_back(nullptr);
    char error[HX_SIM_TEXT];
    sim = hx_sim_open(fabric.c_str(), words.data(), error);
    if (!sim)
        fail(BAD_CONFIGURATION, error);
    std::cerr << hx_sim_warnings(sim);
    for (uint32_t host = 0; host < hx_sim_hosts(sim); host++) {
        if (hx_sim_is_usable(sim, host))
            usable.push_back(host);
    }
}

Fabric::~Fabric()
{
    hx_sim_close(sim);
}

uint64_t Fabric::now() const
{
    return hx_sim_now(sim);
}

void Fabric::check(int result) const
{
    if (result < 0)
        fail(result == HX_SIM_INVALID ? BAD_CONFIGURATION : MACHINE_REFUSED, hx_sim_error(sim));
}

void Fabric::send(uint32_t from, uint32_t to, uint64_t bytes, uint32_t tag, Function delivered, Function acknowledged)
{
    const uint64_t cookie = next_cookie++;
    check(hx_sim_send(sim, from, to, bytes, tag, cookie));
    messages.emplace(cookie, Message{std::move(delivered), std::move(acknowledged)});
}

void Fabric::after(uint32_t host, uint64_t delay, Function function)
{
    const uint64_t cookie = next_cookie++;
    check(hx_sim_timer(sim, host, now() + delay, cookie));
    timers.emplace(cookie, std::move(function));
}

void Fabric::run()
{
    hx_sim_event event;
    int result;
    while ((result = hx_sim_next(sim, HX_SIM_NEVER, &event)) == HX_SIM_EVENT)
        handle(event);
    check(result);
}

/* A function may send, and set timers: it is taken out before it is called. */
void Fabric::handle(const hx_sim_event &event)
{
    switch (event.type) {
    case HX_SIM_DELIVERED:
        std::exchange(messages.at(event.cookie).delivered, nullptr)();
        break;
    case HX_SIM_ACKNOWLEDGED:
        messages.extract(event.cookie).mapped().acknowledged();
        break;
    case HX_SIM_TIMER:
        timers.extract(event.cookie).mapped()();
        break;
    case HX_SIM_FAILED:
        fail(NOT_DONE, "host " + std::to_string(event.to) + " cannot be reached from host " +
                           std::to_string(event.from) + ", at " + std::to_string(event.time / 1000) + " ns");
    case HX_SIM_FAULT:
    case HX_SIM_ENDED:
        break;
    }
}

static void refuse_report(const std::string &file)
{
    fail(MACHINE_REFUSED, "--report: " + file + ": " + std::strerror(errno));
}

void Fabric::check_report(const std::string &file) const
{
    const bool is_new = !std::ifstream(file);
    if (file.empty())
        return;
    if (!std::ofstream(file, std::ios::app))
        refuse_report(file);
    if (is_new)
        std::remove(file.c_str());
}

void Fabric::write_report(const std::string &file)
{
    if (file.empty())
        return;
    const char *report = hx_sim_report(sim);
    if (!report)
        fail(MACHINE_REFUSED, hx_sim_error(sim));
    if (!(std::ofstream(file) << report << std::flush))
        refuse_report(file);
}

} // namespace astra_hxmesh
