/* fuzz_prices.c - any bytes as a file of prices are refused in one line with a place, or give prices that are finite
 * and not negative, of each link and each network. libFuzzer's entry; seeds in corpus/prices. */
#include "tests/fuzz/fuzz.h"
#include "topology/prices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096, LEVELS = 3 };

static void require_price(double usd)
{
    require(isfinite(usd) && usd >= 0);
}

static void require_sound(const struct hx_prices *p)
{
    static const double gbps[] = {0.5, 1, 100, 150, 400, 1e6, 1e7};
    for (unsigned i = 0; i < sizeof gbps / sizeof *gbps; i++) {
        for (unsigned circuit = 0; circuit < HX_CIRCUITS; circuit++) {
            const double usd = hx_circuit_usd(p, (enum hx_circuit)circuit, gbps[i]);
            require_price(usd);
            require(hx_circuit_end_usd(p, (enum hx_circuit)circuit, gbps[i]) <= usd);
            require_price(hx_tree_of_equal_cost(p, LEVELS, usd, 4, gbps[i]));
        }
        require_price(hx_tree_usd(p, LEVELS, 1, gbps[i]));
        require(hx_tree_usd(p, LEVELS, 2, gbps[i]) <= hx_tree_usd(p, LEVELS, 1, gbps[i]) * (1 + 1e-9));
    }
    for (unsigned i = 1; i < p->rates; i++)
        require(p->rate[i].gbps > p->rate[i - 1].gbps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct hx_prices prices;
    struct hx_problem problem = {.what = ""};
    if (size > LONGEST)
        return 0;
    (void)snprintf(path, sizeof path, "/tmp/hxmesh-fuzz-%d.yaml", (int)getpid());
    FILE *out = fopen(path, "w");
    require(out && fwrite(data, 1, size, out) == size && fclose(out) == 0);
    if (hx_prices_read(&prices, path, &problem))
        require_sound(&prices);
    else
        require(problem.exit_code != 0 && strncmp(problem.where, path, strlen(path)) == 0 && problem.what[0] &&
                !strchr(problem.what, '\n'));
    require(unlink(path) == 0);
    return 0;
}
