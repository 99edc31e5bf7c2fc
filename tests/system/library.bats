# library.bats - libhxmesh-sim: its own tests, and its results beside those of the program.

load emulator_support

setup() { fresh_folder; }
teardown() { leave_nothing; }

# The programs of a build with sanitizers have the library of that build.
BUILT=$(dirname "$(realpath -m "${HXMESH:-build/hxmesh}")")

@test "library: events, errors, many fabrics, memory" {
    run -0 "$BUILT/tests/library/test_sim"
}

@test "library: valgrind finds no block that is lost" {
    case $BUILT in */asan) skip "the sanitizer looks itself" ;; esac
    HX_FEW_OPENINGS=1 run -0 valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \
        --error-exitcode=9 "$BUILT/tests/library/test_sim"
}

@test "library: its header is C++, too" {
    echo '#include <hxmesh/sim.h>
int main() { return hx_sim_open("nothing", nullptr, nullptr) != nullptr && HX_SIM_IDLE != 3; }' >x.cpp
    g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I"$BATS_TEST_DIRNAME/../../include" x.cpp
}

@test "library: it shows nothing but what its header says" {
    nm --dynamic --defined-only "$BUILT/libhxmesh-sim.so" | awk '$2 == "T" { print $3 }' >shown
    grep -oE '\bhx_sim_[a-z_]+\(' "$BATS_TEST_DIRNAME/../../include/hxmesh/sim.h" | tr -d '(' | sort -u >said
    run -0 diff shown said
    [ "$(nm --dynamic --defined-only "$BUILT/libhxmesh-sim.so" | grep -cE ' [TDBVW] ')" -eq "$(wc -l <said)" ]
}
