# astra.bats - ASTRA-sim's front end of hxmesh (examples/astra-sim), built against the checkout that $ASTRA_SIM names.

load emulator_support

setup_file() {
    [ -n "${ASTRA_SIM:-}" ] || return 0
    local build
    build=$(dirname "$(realpath "${HXMESH:-build/hxmesh}")")
    make --silent -C "$BATS_TEST_DIRNAME/../../examples/astra-sim" BUILD="$build" ASTRA_SIM="$ASTRA_SIM"
    export ASTRA_HXMESH=$build/astra-hxmesh
}

# A system whose NPUs only wait for messages: one chunk, and a memory that takes no time.
setup() {
    [ -n "${ASTRA_SIM:-}" ] || skip "ASTRA_SIM names no checkout of ASTRA-sim (examples/astra-sim/README.md)"
    fresh_folder
    cat >system.json <<'END'
{"scheduling-policy": "LIFO", "endpoint-delay": 1, "active-chunks-per-dimension": 1, "preferred-dataset-splits": 1,
 "all-reduce-implementation": ["ring"], "all-gather-implementation": ["ring"],
 "reduce-scatter-implementation": ["ring"], "all-to-all-implementation": ["direct"], "local-mem-bw": 1000000,
 "collective-optimization": "localBWAware"}
END
    echo '{"memory-type": "NO_MEMORY_EXPANSION"}' >memory.json
}

# astra COLLECTIVE NPUS ARGUMENT...: a micro-benchmark of 1 MiB.
astra() {
    local workload=$ASTRA_SIM/examples/workload/microbenchmarks/$1/$2npus_1MB/$1
    shift 2
    timeout 600 "$ASTRA_HXMESH" --workload-configuration "$workload" --system-configuration system.json \
        --remote-memory-configuration memory.json "$@"
}

# cycles: of each NPU, in $output.
cycles() { sed -n 's/.* finished, \([0-9]*\) cycles.*/\1/p' <<<"$output"; }

# within LEAST MOST NPUS: that many NPUs finished, each between the two.
within() {
    [ "$(cycles | wc -l)" -eq "$3" ]
    [ "$(cycles | awk -v least="$1" -v most="$2" '$1 < least || $1 > most' | wc -l)" -eq 0 ]
}

# A ring all-reduce of n NPUs has 2(n - 1) steps of 1 MiB / n each. A step takes its bytes at 400 Gb/s and 500 ns of a
# cable, and at most 1/32 more for headers, and 450 ns in two hosts, their switches and ASTRA-sim's buses.
@test "astra: a ring all-reduce takes 2(n - 1) steps" {
    for n in 4 8; do
        run -0 --separate-stderr astra all_reduce $n --fabric "Ring($n) gbps=400 ns=500"
        local bytes_ns=$(((1 << 20) * 8 / (n * 400)))
        within $((2 * (n - 1) * (bytes_ns + 500))) $((2 * (n - 1) * (bytes_ns * 33 / 32 + 950))) $n
    done
}

@test "astra: a network file of ASTRA-sim is a fabric, with its NPUs" {
    printf 'topology: [Ring, Switch]\nnpus_count: [4, 2]\nbandwidth: [50.0, 25.0]\nlatency: [500, 1000]\n' >network.yml
    sed -i 's/\["ring"\]/["ring", "ring"]/' system.json
    run -0 --separate-stderr astra all_reduce 8 --network-configuration=network.yml
    [ "$(cycles | wc -l)" -eq 8 ]
}

@test "astra: NPUs are the first hosts of a larger fabric, and a report is written" {
    run -0 --separate-stderr astra all_reduce 8 --fabric "2x2 Hx2Mesh" --dims 8 --report report.json -- --planes 2
    [ "$(cycles | wc -l)" -eq 8 ]
    # 8 NPUs send 14 messages each.
    [ "$(jq .messages report.json)" -eq 112 ]
}

@test "astra: more NPUs than hosts, and what is missing, are said in a line" {
    run -3 --separate-stderr astra all_reduce 8 --fabric "Ring(4)" --dims 8
    # shellcheck disable=SC2154 # bats sets it
    [ "$stderr" = "astra-hxmesh: error: --dims: 8 NPUs or more, but the fabric has 4 hosts that can be used" ]
    run -2 --separate-stderr astra all_reduce 8
    [ "$stderr" = "astra-hxmesh: error: --fabric: is missing (see --help)" ]
}
