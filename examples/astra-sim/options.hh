/* options.hh - the command line: ASTRA-sim's own options, with a fabric in place of its network. */
#ifndef ASTRA_HXMESH_OPTIONS_HH
#define ASTRA_HXMESH_OPTIONS_HH

#include <string>
#include <vector>

namespace astra_hxmesh
{

struct Options {
    std::string workload, system, remote_memory;
    std::string communicators = "empty"; /* so called by ASTRA-sim: none */
    std::string fabric;                  /* a spec or a file */
    std::vector<std::string> of_fabric;  /* options of hxmesh run */
    std::vector<int> dimensions;         /* NPUs along each; empty: see npus_of() */
    std::string logging = "empty", logs = "log";
    std::string report; /* a file; "": none */
    int queues = 1;     /* of each dimension */
    double communication_scale = 1, injection_scale = 1;
    bool has_rendezvous = false;
};

/* Reads the command line. `--help` and a wrong one end the program. */
Options options_of(int argc, char **argv);

/* The dimensions of the NPUs, the nearest first: those asked for, else those of an ASTRA-sim network file or of a spec
 * such as "Ring(4)_Switch(2)", else one of all `hosts`. */
std::vector<int> dimensions_of(const Options &options, size_t hosts);

/* Their product: the number of NPUs. */
int npus_along(const std::vector<int> &dimensions);

} // namespace astra_hxmesh

#endif
