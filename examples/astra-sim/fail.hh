/* fail.hh - the one way out of an error: a line, and an exit code of hxmesh.
 *
 * ASTRA-sim calls us back from code that catches exceptions and goes on, so an error ends the program where it is. */
#ifndef ASTRA_HXMESH_FAIL_HH
#define ASTRA_HXMESH_FAIL_HH

#include <string>

namespace astra_hxmesh
{

enum Exit { NOT_DONE = 1, USAGE = 2, BAD_CONFIGURATION = 3, MACHINE_REFUSED = 4 };

[[noreturn]] void fail(Exit code, const std::string &text);

} // namespace astra_hxmesh

#endif
