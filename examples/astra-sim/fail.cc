/* fail.cc - the one way out of an error (fail.hh). */
#include "fail.hh"

#include <cerrno>
#include <cstdlib>
#include <iostream>

namespace astra_hxmesh
{

void fail(Exit code, const std::string &text)
{
    std::cout.flush();
    std::cerr << program_invocation_short_name << ": error: " << text << std::endl;
    std::exit(code);
}

} // namespace astra_hxmesh
