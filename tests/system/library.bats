# library.bats - libhxmesh-sim: its own tests, and its results beside those of the program.

load emulator_support

setup() { fresh_folder; }
teardown() { leave_nothing; }

# The programs of a build with sanitizers have the library of that build.
BUILT=$(dirname "$(realpath -m "${HXMESH:-build/hxmesh}")")

# The sanitizer keeps freed memory for a while, by default more than the test allows.
export ASAN_OPTIONS=quarantine_size_mb=1:$ASAN_OPTIONS

@test "library: events, errors, many fabrics, memory" {
    run -0 "$BUILT/tests/library/test_sim"
}

@test "library: random calls: time never decreases, and each message ends once" {
    run -0 "$BUILT/tests/library/random_calls" 1 40
    [ "$output" = "nothing wrong" ]
}

# bats test_tags=all
@test "library: a thousand sequences of random calls" { run -0 "$BUILT/tests/library/random_calls" 1000 1000; }

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

# with_package PROGRAM ARGUMENTS...: runs it with the Python package of this tree and the library of this build.
with_package() {
    HXMESH=$HXMESH HXMESH_LIBRARY=$BUILT/libhxmesh-sim.so PYTHONDONTWRITEBYTECODE=1 \
        PYTHONPATH=$BATS_TEST_DIRNAME/../../python "$@"
}

@test "library: random runs take the times of the program's, to the picosecond" {
    case $BUILT in */asan) skip "Python has no sanitizer" ;; esac
    with_package run -0 /usr/bin/python3 "$BATS_TEST_DIRNAME/library_random.py" "$HXMESH" 1 200
    [ "$output" = "200 runs, 0 differ" ]
}

@test "library: the Python package" {
    case $BUILT in */asan) skip "Python has no sanitizer" ;; esac
    with_package run -0 /usr/bin/python3 -m pytest -q -p no:cacheprovider "$BATS_TEST_DIRNAME/../../python/tests"
}

# draws NAME...: examples in Python make their pictures.
draws() {
    local name
    case $BUILT in */asan) skip "Python has no sanitizer" ;; esac
    for name in "$@"; do
        with_package run -0 /usr/bin/python3 "$BATS_TEST_DIRNAME/../../examples/python/$name.py" "$name.svg"
        grep -q '</svg>' "$name.svg"
    done
}

@test "library: examples in Python make their pictures" {
    draws latency_load own_collective job_scheduler fault
}

# bats test_tags=all
@test "library: the example of training on three fabrics makes its picture" { draws training; }
