/* support_platform_shm.c - the switch with the constants of shared memory (support_platforms.h). */
#define PLATFORM shm
#include "tests/support/loopback/support_platform_renames.h"

#include "hal_port.h"
#define HAL_SHARED 1

#include "firmware/switch.c"       // NOLINT(bugprone-suspicious-include)
#include "firmware/switch_setup.c" // NOLINT(bugprone-suspicious-include)
#include "tests/support/loopback/support_platforms.h"

const struct switch_calls switch_of_shared_memory = SWITCH_CALLS("shared memory");
