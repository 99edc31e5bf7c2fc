/* permutations.c - rings by strides (tools/circuits/permutations.h). */
#include "tools/circuits/permutations.h"
#include "base/divisor.h"

#include <math.h>

static bool is_prime(uint32_t p)
{
    for (uint32_t divisor = 2; divisor * divisor <= p; divisor++)
        if (p % divisor == 0)
            return false;
    return p > 1;
}

unsigned circuits_strides(uint32_t k, bool prime, uint32_t *stride)
{
    unsigned count = 0;
    for (uint32_t p = 1; p < k; p++)
        if (hx_common_divisor(p, k) == 1 && (!prime || p == 1 || is_prime(p)))
            stride[count++] = p;
    return count;
}

unsigned circuits_select(uint32_t k, const uint32_t *candidate, unsigned count, unsigned d, uint32_t *chosen)
{
    const double x = fmax(2, pow(k, 1.0 / d));
    unsigned number = 0;
    for (unsigned at = 0; at < count && number < d; at++) {
        const double wanted = number ? x * chosen[number - 1] : 0;
        while (at + 1 < count && fabs(candidate[at + 1] - wanted) < fabs(candidate[at] - wanted))
            at++;
        chosen[number++] = candidate[at];
    }
    return number;
}
