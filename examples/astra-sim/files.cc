/* files.cc - input files (files.hh). */
#include "files.hh"
#include "fail.hh"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sys/stat.h>

namespace astra_hxmesh
{

void check_readable(const std::string &option, const std::string &name, const std::string &hint)
{
    struct stat of;
    if (stat(name.c_str(), &of) == 0 && S_ISDIR(of.st_mode))
        fail(BAD_CONFIGURATION, option + ": " + name + ": is a folder" + hint);
    if (!std::ifstream(name))
        fail(BAD_CONFIGURATION, option + ": " + name + ": " + std::strerror(errno) + hint);
}

} // namespace astra_hxmesh
