/* files.hh - input files that an option names. */
#ifndef ASTRA_HXMESH_FILES_HH
#define ASTRA_HXMESH_FILES_HH

#include <string>

namespace astra_hxmesh
{

/* Ends the program if the file of an option cannot be read. `hint`: of the error. */
void check_readable(const std::string &option, const std::string &name, const std::string &hint = "");

} // namespace astra_hxmesh

#endif
