/* theirs.hh - what nearly every source of ASTRA-sim includes, compiled once: it takes most of the time of each. */
#include <json/json.hpp>

#include <astra-sim/common/Logging.hh>
#include <astra-sim/system/Sys.hh>
