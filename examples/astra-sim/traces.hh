/* traces.hh - reads the Chakra traces before ASTRA-sim does, which takes half of a broken one for a whole. */
#ifndef ASTRA_HXMESH_TRACES_HH
#define ASTRA_HXMESH_TRACES_HH

#include <set>
#include <string>

namespace astra_hxmesh
{

/* Checks PREFIX.0.et to PREFIX.(npus - 1).et. Returns the collectives in them, as keys of a system file name them:
 * "all-reduce". A trace that is broken or not there, and one of a further NPU, end the program. */
std::set<std::string> collectives_of_traces(const std::string &prefix, int npus);

} // namespace astra_hxmesh

#endif
