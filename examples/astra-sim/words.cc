/* words.cc - words of a command line as values (words.hh). */
#include "words.hh"
#include "fail.hh"

#include <cstdlib>

namespace astra_hxmesh
{

int whole_of(const std::string &name, const std::string &word, int least, int most, const std::string &hint)
{
    char *end;
    const long value = std::strtol(word.c_str(), &end, 10);
    if (word.empty() || *end || value < least || value > most)
        fail(USAGE, name + ": '" + word + "' is no whole number from " + std::to_string(least) + " to " +
                        std::to_string(most) + hint);
    return static_cast<int>(value);
}

} // namespace astra_hxmesh
