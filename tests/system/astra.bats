# astra.bats - ASTRA-sim's front end of hxmesh (examples/astra-sim), built against the checkout that $ASTRA_SIM names.

load emulator_support

setup_file() {
    [ -n "${ASTRA_SIM:-}" ] || return 0
    local build
    build=$(dirname "$(realpath "${HXMESH:-build/hxmesh}")")
    make --silent -C "$BATS_TEST_DIRNAME/../../examples/astra-sim" BUILD="$build" ASTRA_SIM="$ASTRA_SIM"
    export ASTRA_HXMESH=$build/astra-hxmesh
}

# NPUs that only wait for messages: one chunk, and a memory that takes no time.
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
    timeout 60 "$ASTRA_HXMESH" --workload-configuration "$workload" --system-configuration system.json \
        --remote-memory-configuration memory.json "$@"
}

# trace NPU NODE...: a trace of an NPU, each node in protobuf's text form.
trace() {
    local proto=$ASTRA_SIM/extern/graph_frontend/chakra/schema/protobuf file=own.$1.et message bytes
    shift
    printf '\0' >"$file" # metadata, of no bytes
    for message in "$@"; do
        protoc --proto_path="$proto" --encode=ChakraProtoMsg.Node et_def.proto <<<"$message" >node
        bytes=$(wc -c <node)
        # The size goes before: seven bits a byte, the lowest first, with a bit that says whether another follows.
        printf '%b' "$(printf '\\x%02x' $((bytes % 128 + 128)) $((bytes / 128)))" >>"$file"
        cat node >>"$file"
    done
}

# transfer ID SEND|RECV FROM TO BYTES [DEPENDS]: a node of such a trace, after another.
transfer() {
    echo "id: $1 name: \"t$1\" type: COMM_$2_NODE ${6:+data_deps: $6}" \
        "attr { name: \"is_cpu_op\" bool_val: false } attr { name: \"comm_src\" int64_val: $3 }" \
        "attr { name: \"comm_dst\" int64_val: $4 } attr { name: \"comm_size\" int64_val: $5 }" \
        "attr { name: \"comm_tag\" int64_val: 7 }"
}

# own ARGUMENT...: runs the traces own.*.et on a ring of 4, NPUs 0 and 1 alone.
own() {
    timeout 60 "$ASTRA_HXMESH" --workload-configuration own --system-configuration system.json \
        --remote-memory-configuration memory.json --fabric "Ring(4) gbps=400 ns=500" --dims 2 "$@"
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

# 1 MB at 400 Gb/s, 500 ns of a cable, and 320 ns in the buffers of two hosts and two switches. The acknowledgement
# takes as long, but for the bytes. A message to itself takes no time.
@test "astra: a send ends at its acknowledgement, a receive at its message" {
    trace 0 "$(transfer 1 SEND 0 0 4096)" "$(transfer 2 RECV 0 0 4096)" "$(transfer 3 SEND 0 1 1000000 2)"
    trace 1 "$(transfer 1 RECV 0 1 1000000)"
    run -0 --separate-stderr own
    local sender receiver
    sender=$(sed -n 's/.*sys\[0\] finished, \([0-9]*\) cycles.*/\1/p' <<<"$output")
    receiver=$(sed -n 's/.*sys\[1\] finished, \([0-9]*\) cycles.*/\1/p' <<<"$output")
    echo "sender $sender receiver $receiver"
    [ "$receiver" -ge 20820 ]
    [ "$receiver" -le 20850 ]
    [ $((sender - receiver)) -ge 820 ]
    [ $((sender - receiver)) -le 850 ]
}

@test "astra: what is left without its counterpart is said in a line" {
    trace 0 "$(transfer 1 SEND 0 1 4096)"
    trace 1 "$(transfer 1 RECV 0 1 4000)"
    run -1 --separate-stderr own
    local said="1 of 2 NPUs did not finish: 1 message without a receive, 1 receive without a message; the first: "
    # shellcheck disable=SC2154 # bats sets it
    [ "$stderr" = "astra-hxmesh: error: ${said}from NPU 0 to NPU 1, tag 7, 4000 bytes" ]
}

@test "astra: more NPUs than hosts, and what is missing, are said in a line" {
    run -3 --separate-stderr astra all_reduce 8 --fabric "Ring(4)" --dims 8
    # shellcheck disable=SC2154 # bats sets it
    [ "$stderr" = "astra-hxmesh: error: --dims: 8 NPUs or more, but the fabric has 4 hosts that can be used" ]
    run -2 --separate-stderr astra all_reduce 8
    [ "$stderr" = "astra-hxmesh: error: --fabric: is missing (see --help)" ]
}

# refuses CODE TEXT ARGUMENT...: an all-reduce of 8 NPUs ends at once, with that line.
refuses() {
    local code=$1 text=$2
    shift 2
    run "-$code" --separate-stderr astra all_reduce 8 --fabric "Ring(8)" "$@"
    [ "$stderr" = "astra-hxmesh: error: $text" ]
}

@test "astra: a system file without an algorithm for each dimension is refused" {
    refuses 3 "--system-configuration: system.json: all-reduce-implementation: names 1 algorithm, and the NPUs have 2 dimensions (--dims)" \
        --dims 4x2
    sed -i 's/\["ring"\]/["ring", "ring"]/' system.json
    refuses 3 "--system-configuration: system.json: all-reduce-implementation: names 2 algorithms, and the NPUs have 1 dimension (--dims)"
    # It is refused for what the traces use: the all-to-all of this file still has one algorithm.
    run -0 --separate-stderr astra all_reduce 8 --fabric "Ring(8)" --dims 4x2 --report report.json
    jq -e '.bytes_delivered == 2 * 7 * 1048576' report.json
}

@test "astra: an algorithm that ASTRA-sim does not know or cannot run is refused" {
    local of="--system-configuration: system.json: all-reduce-implementation:"
    sed -i 's/"all-reduce-implementation": \["ring"\]/"all-reduce-implementation": ["rings"]/' system.json
    refuses 3 "$of 'rings' is no algorithm (ring, direct, direct4, doubleBinaryTree, halvingDoubling, oneRing, oneDirect, oneHalvingDoubling)"
    sed -i 's/rings/doubleBinaryTree/' system.json
    local traces=$ASTRA_SIM/examples/workload/microbenchmarks/all_reduce/8npus_1MB/all_reduce
    for npu in 0 1 2 3 4 5; do cp "$traces.$npu.et" "six.$npu.et"; done
    run -3 --separate-stderr astra all_reduce 8 --fabric "Ring(6)" --workload-configuration six
    [ "$stderr" = "astra-hxmesh: error: $of doubleBinaryTree needs a power of two NPUs, and has 6" ]
    run -0 --separate-stderr astra all_reduce 8 --fabric "Ring(8)"
}

@test "astra: input files that are not there or broken are named" {
    refuses 3 "--remote-memory-configuration: gone.json: No such file or directory" \
        --remote-memory-configuration gone.json
    echo '{"memory-type": ' >broken.json
    refuses 3 "--remote-memory-configuration: broken.json: is no JSON object" --remote-memory-configuration broken.json
    refuses 3 "--system-configuration: .: is a folder" --system-configuration .
    echo '{"0": [0, 1]}' >groups.json
    refuses 3 "--comm-group-configuration: groups.json: '0' is no number of a group: from 1, as 0 is that of all NPUs" \
        --comm-group-configuration groups.json
    echo '{"1": [0, 8]}' >groups.json
    refuses 3 "--comm-group-configuration: groups.json: group 1 is no list of NPUs from 0 to 7" \
        --comm-group-configuration groups.json
    refuses 4 "--report: gone/report.json: No such file or directory" --report gone/report.json
    # ASTRA-sim ends after the report was found to be writable: none is left.
    sed -i 's/LIFO/sideways/' system.json
    run -1 --separate-stderr astra all_reduce 8 --fabric "Ring(8)" --report none.json
    [ ! -e none.json ]
}

@test "astra: each NPU has a trace, and each trace an NPU" {
    local traces=$ASTRA_SIM/examples/workload/microbenchmarks/all_reduce/8npus_1MB/all_reduce
    run -3 --separate-stderr astra all_reduce 8 --fabric "Ring(16)"
    [ "$stderr" = "astra-hxmesh: error: --workload-configuration: $traces.8.et: No such file or directory: 16 NPUs, each with a trace (--dims 8?)" ]
    run -3 --separate-stderr astra all_reduce 8 --fabric "Ring(4)"
    [ "$stderr" = "astra-hxmesh: error: --workload-configuration: $traces.4.et: is a trace of an NPU that is not there: the NPUs are 4 (--dims, or a fabric with more hosts)" ]
    for npu in 0 1 2 3 4 5 6 7; do cp "$traces.$npu.et" "cut.$npu.et"; done
    truncate -s 9 cut.3.et
    refuses 3 "--workload-configuration: cut.3.et: breaks off after 0 nodes" --workload-configuration cut
    head -c 1000 /dev/zero | tr '\0' '\377' >cut.3.et
    refuses 3 "--workload-configuration: cut.3.et: is no Chakra trace" --workload-configuration cut
    refuses 3 "--workload-configuration: own.0.et: No such file or directory (PREFIX is what stands before .0.et)" \
        --workload-configuration own
}

@test "astra: options that are wrong are said in a line" {
    refuses 2 "--network-configuration: a second fabric; 'Ring(8)' is the first" --network-configuration network.yml
    refuses 2 "--dims: '4,2' is no whole number from 1 to 16777216 (as 4x2: NPUs along each dimension)" --dims 4,2
    refuses 2 "--planes: no such option (see --help); those of hxmesh run stand behind --" --planes 2
    refuses 2 "--dims: its value is missing (see --help)" --dims
}
