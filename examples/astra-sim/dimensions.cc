/* dimensions.cc - the dimensions of the NPUs (options.hh). */
#include "fail.hh"
#include "options.hh"

#include <algorithm>
#include <fstream>
#include <functional>
#include <numeric>
#include <regex>
#include <yaml-cpp/yaml.h>

namespace astra_hxmesh
{

/* Of a network file of ASTRA-sim; none: it is another file, or none. The library has said what is wrong with it. */
static std::vector<int> dimensions_of_file(const std::string &name)
{
    if (!std::ifstream(name))
        return {};
    try {
        const YAML::Node file = YAML::LoadFile(name);
        return file.IsMap() && file["npus_count"] ? file["npus_count"].as<std::vector<int>>() : std::vector<int>();
    } catch (const YAML::Exception &) {
        return {};
    }
}

/* Of a spec of mixed dimensions; none: it is another spec. */
static std::vector<int> dimensions_of_spec(const std::string &spec)
{
    static const std::regex mixed(R"(\s*([A-Za-z]+\(\d+\)_?)+(\s.*)?)"), side(R"(\((\d+)\))");
    std::vector<int> sides;
    if (!std::regex_match(spec, mixed))
        return sides;
    for (std::sregex_iterator at(spec.begin(), spec.end(), side), end; at != end; ++at)
        sides.push_back(std::stoi((*at)[1]));
    return sides;
}

std::vector<int> dimensions_of(const Options &options, size_t hosts)
{
    std::vector<int> sides = options.dimensions;
    if (sides.empty())
        sides = dimensions_of_file(options.fabric);
    if (sides.empty())
        sides = dimensions_of_spec(options.fabric);
    if (sides.empty())
        sides = {static_cast<int>(hosts)};
    size_t npus = 1;
    for (const int side : sides) {
        npus *= static_cast<size_t>(side);
        if (npus > hosts)
            fail(BAD_CONFIGURATION, "--dims: " + std::to_string(npus) + " NPUs or more, but the fabric has " +
                                        std::to_string(hosts) + " hosts that can be used");
    }
    return sides;
}

int npus_along(const std::vector<int> &dimensions)
{
    return std::accumulate(dimensions.begin(), dimensions.end(), 1, std::multiplies<int>());
}

} // namespace astra_hxmesh
