/* inputs.cc - checks of the input files (inputs.hh). */
#include "inputs.hh"
#include "fail.hh"
#include "files.hh"
#include "traces.hh"

#include <algorithm>
#include <fstream>
#include <json/json.hpp>
#include <regex>

namespace astra_hxmesh
{

using nlohmann::json;

static std::string quoted(const std::string &text)
{
    return "'" + text + "'";
}

static std::string plural(size_t count, const std::string &word)
{
    return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

/* ---- files ---- */

static json object_of(const std::string &option, const std::string &name)
{
    check_readable(option, name);
    std::ifstream file(name);
    const json value = json::parse(file, nullptr, false);
    if (value.is_discarded() || !value.is_object())
        fail(BAD_CONFIGURATION, option + ": " + name + ": is no JSON object");
    return value;
}

/* ---- algorithms ---- */

static bool is_known(const std::string &algorithm)
{
    static const std::regex known("ring|oneRing|doubleBinaryTree|halvingDoubling|oneHalvingDoubling|"
                                  "(direct|oneDirect)[0-9]{0,5}");
    return std::regex_match(algorithm, known);
}

static bool halves(const std::string &algorithm)
{
    return algorithm == "doubleBinaryTree" || algorithm == "halvingDoubling" || algorithm == "oneHalvingDoubling";
}

/* One that takes all NPUs as one dimension. */
static bool is_of_all(const std::string &algorithm)
{
    return algorithm.rfind("one", 0) == 0;
}

static void check_algorithm(const std::string &where, const std::string &algorithm, int npus)
{
    if (!is_known(algorithm))
        fail(BAD_CONFIGURATION,
             where + quoted(algorithm) +
                 " is no algorithm (ring, direct, direct4, doubleBinaryTree, halvingDoubling, oneRing, "
                 "oneDirect, oneHalvingDoubling)");
    if (halves(algorithm) && (npus & (npus - 1)) != 0)
        fail(BAD_CONFIGURATION, where + algorithm + " needs a power of two NPUs, and has " + std::to_string(npus));
}

/* ASTRA-sim ends at more algorithms than dimensions. Fewer leave other dimensions out, if the collective is used. */
static void check_algorithms(const std::string &where, const json &algorithms, const std::vector<int> &dimensions,
                             bool used)
{
    if (!algorithms.is_array() || algorithms.empty() ||
        !std::all_of(algorithms.begin(), algorithms.end(), [](const json &one) { return one.is_string(); }))
        fail(BAD_CONFIGURATION, where + "is no list of algorithms");
    if (algorithms.size() == 1 && is_of_all(algorithms[0].get<std::string>()))
        return check_algorithm(where, algorithms[0].get<std::string>(), npus_along(dimensions));
    if (algorithms.size() > dimensions.size() || (used && algorithms.size() < dimensions.size()))
        fail(BAD_CONFIGURATION, where + "names " + plural(algorithms.size(), "algorithm") + ", and the NPUs have " +
                                    plural(dimensions.size(), "dimension") + " (--dims)");
    for (size_t i = 0; i < algorithms.size(); i++)
        check_algorithm(where, algorithms[i].get<std::string>(), dimensions[i]);
}

static void check_system(const std::string &name, const std::vector<int> &dimensions, const std::set<std::string> &used)
{
    const std::string option = "--system-configuration";
    const json system = object_of(option, name);
    for (const char *collective : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"}) {
        const std::string key = std::string(collective) + "-implementation";
        if (system.contains(key))
            check_algorithms(option + ": " + name + ": " + key + ": ", system[key], dimensions,
                             used.count(collective) != 0);
    }
}

/* ---- groups ---- */

static void check_groups(const std::string &name, int npus)
{
    const std::string option = "--comm-group-configuration";
    if (name.find("empty") != std::string::npos) /* so ASTRA-sim has it */
        return;
    const json groups = object_of(option, name);
    for (const auto &[group, members] : groups.items()) {
        if (!std::regex_match(group, std::regex("[1-9][0-9]{0,8}")))
            fail(BAD_CONFIGURATION, option + ": " + name + ": " + quoted(group) +
                                        " is no number of a group: from 1, as 0 is that of all NPUs");
        if (!members.is_array() || !std::all_of(members.begin(), members.end(), [npus](const json &member) {
                return member.is_number_unsigned() && member.get<uint64_t>() < static_cast<uint64_t>(npus);
            }))
            fail(BAD_CONFIGURATION, option + ": " + name + ": group " + group + " is no list of NPUs from 0 to " +
                                        std::to_string(npus - 1));
    }
}

/* ---- all ---- */

void check_inputs(const Options &options, const std::vector<int> &dimensions)
{
    const int npus = npus_along(dimensions);
    (void)object_of("--remote-memory-configuration", options.remote_memory);
    check_groups(options.communicators, npus);
    check_system(options.system, dimensions, collectives_of_traces(options.workload, npus));
}

} // namespace astra_hxmesh
