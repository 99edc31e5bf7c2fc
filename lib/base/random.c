/* random.c - unpredictable numbers (random.h). */
#include "random.h"
#include "error.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

uint64_t hx_random_64(void)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "the system has no random numbers: %s", strerror(errno));
    return number;
}

uint32_t hx_random_epoch(void)
{
    uint32_t epoch = (uint32_t)hx_random_64();
    return epoch ? epoch : 1;
}
