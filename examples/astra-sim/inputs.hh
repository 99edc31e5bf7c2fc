/* inputs.hh - checks the input files before ASTRA-sim reads them.
 *
 * At some faults it ends in an assertion or a signal, at others it simulates something else without a word. */
#ifndef ASTRA_HXMESH_INPUTS_HH
#define ASTRA_HXMESH_INPUTS_HH

#include "options.hh"

namespace astra_hxmesh
{

/* A fault ends the program:
 *
 *     a file that is not there, or no JSON object
 *     a collective of a trace without an algorithm for each dimension, one with too many or unknown ones
 *     an algorithm that does not fit its NPUs
 *     a number of a group below 1, and NPUs of it that are not there
 *     an NPU without a trace, a broken trace, a trace without an NPU */
void check_inputs(const Options &options, const std::vector<int> &dimensions);

} // namespace astra_hxmesh

#endif
