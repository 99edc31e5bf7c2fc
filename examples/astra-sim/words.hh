/* words.hh - words of a command line as values. What is wrong ends the program. */
#ifndef ASTRA_HXMESH_WORDS_HH
#define ASTRA_HXMESH_WORDS_HH

#include <string>

namespace astra_hxmesh
{

/* The whole number that is the word of an option of this name, or a part of it. `hint`: of an error. */
int whole_of(const std::string &name, const std::string &word, int least, int most, const std::string &hint = "");

} // namespace astra_hxmesh

#endif
