/* runner.c - all unit and property tests of one platform in one program.
 *
 *     test-PLATFORM SUITE [TEST]   runs the tests of one source, or those with a name that TEST matches (* and ?)
 *     test-PLATFORM                prints the names of all suites
 *
 * A suite is a test's source: its main() has a name of its own here (mk/compile.mk), and suites.h lists them all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SUITE(symbol, name) int symbol(void);
#include "suites.h"
#undef SUITE

struct suite {
    const char *name;
    int (*run)(void);
};

#define SUITE(symbol, name) {name, symbol},
static const struct suite suites[] = {
#include "suites.h"
};

int main(int count, char **words)
{
    const size_t number = sizeof suites / sizeof suites[0];
    if (count < 2) {
        for (size_t i = 0; i < number; i++)
            puts(suites[i].name);
        return 0;
    }
    if (count > 2)
        cmocka_set_test_filter(words[2]);
    for (size_t i = 0; i < number; i++)
        if (strcmp(suites[i].name, words[1]) == 0)
            return suites[i].run();
    fprintf(stderr, "hxmesh: error: %s: no suite '%s' (without words it lists them)\n", words[0], words[1]);
    return 2;
}
