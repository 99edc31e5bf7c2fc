/* support_platform_virtual.c - the switch with the constants of the virtual clock (support_platforms.h). */
#define PLATFORM virtual
#include "tests/support/loopback/support_platform_renames.h"

#include "hal_port.h"
#define HAL_SPARSE    1
#define HAL_VCS_APART 0

#include "firmware/switch.c"       // NOLINT(bugprone-suspicious-include)
#include "firmware/switch_setup.c" // NOLINT(bugprone-suspicious-include)
#include "tests/support/loopback/support_platforms.h"

const struct switch_calls switch_of_virtual_clock = SWITCH_CALLS("the virtual clock");
