# simai.bats - SimAI's front end of hxmesh (examples/simai), built against the checkout that $SIMAI names.

load emulator_support

setup_file() {
    [ -n "${SIMAI:-}" ] || return 0
    local build
    build=$(dirname "$(realpath "${HXMESH:-build/hxmesh}")")
    make --silent -C "$BATS_TEST_DIRNAME/../../examples/simai" BUILD="$build" SIMAI="$SIMAI"
    export SIMAI_HXMESH=$build/simai-hxmesh
}

setup() {
    [ -n "${SIMAI:-}" ] || skip "SIMAI names no checkout of SimAI (examples/simai/README.md)"
    fresh_folder
}

# simai COLLECTIVE BYTES GPUS ARGUMENT...: one collective of all, after 1 us of computing.
simai() {
    {
        echo "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: $3 ep: 1 pp: 1 vpp: 8 ga: 1 all_gpus: $3" \
            "checkpoints: 0 checkpoint_initiates: 0"
        echo 1
        echo "layer -1 1000 $1 $2 1 NONE 0 1 NONE 0 1"
    } >workload.txt
    shift 3
    timeout 60 "$SIMAI_HXMESH" -w workload.txt "$@"
}

# within LEAST MOST: it ended between the two, in ns.
within() {
    local ended
    ended=$(sed -n 's/^finished after \([0-9]*\) ns$/\1/p' <<<"$output")
    echo "ended after $ended, $1 to $2"
    [ "$ended" -ge "$1" ]
    [ "$ended" -le "$2" ]
}

# A ring of n has 2(n - 1) steps of 1/n each at 400 Gb/s, and the last arrives 500 ns of a cable later. At most 1/64
# more for headers, and 1 us a step for the cable, two hosts and their switches: another channel of NCCL may use the
# link meanwhile.
@test "simai: an all-reduce takes the steps of a ring" {
    for bytes in 4194304 67108864; do
        run -0 --separate-stderr simai ALLREDUCE $bytes 8 --fabric "Ring(8) gbps=400 ns=500" --send-latency 0
        local step=$((bytes / 50 / 8))
        within $((1000 + 14 * step + 500)) $((1000 + 14 * (step * 65 / 64 + 1000)))
    done
}

@test "simai: an all-to-all on links of their own takes one message" {
    run -0 --separate-stderr simai ALLTOALL 67108864 8 --fabric "FC(8) gbps=400 ns=500" --send-latency 0
    within $((1000 + 167772 + 500)) $((1000 + 167772 * 33 / 32 + 1000))
}

@test "simai: each message begins after the latency of a send" {
    run -0 --separate-stderr simai ALLTOALL 4194304 8 --fabric "FC(8) gbps=400 ns=500" --send-latency 0
    local without
    without=$(sed -n 's/^finished after \([0-9]*\) ns$/\1/p' <<<"$output")
    run -0 --separate-stderr simai ALLTOALL 4194304 8 --fabric "FC(8) gbps=400 ns=500" --send-latency 70000
    within $((without + 69990)) $((without + 70010))
}

@test "simai: accelerators are the first hosts of a larger fabric, and a report is written" {
    run -0 --separate-stderr simai ALLREDUCE 1048576 8 -g 8 --fabric "2x2 Hx2Mesh" --report report.json -- --planes 2
    jq -e '.planes == 2 and .bytes_delivered == 2 * 7 * 1048576' report.json
}

@test "simai: what is wrong is said in a line" {
    run -3 --separate-stderr simai ALLREDUCE 1048576 8 -g 8 --fabric "Ring(4)"
    # shellcheck disable=SC2154 # bats sets it
    [ "$stderr" = "simai-hxmesh: error: --gpus: 8, but the fabric has 4 hosts that can be used" ]
    run -3 --separate-stderr simai ALLREDUCE 1048576 8 --fabric "Ring(12)"
    [ "$stderr" = "simai-hxmesh: error: --gpus-per-server: 12 accelerators are no whole servers of 8" ]
    run -2 --separate-stderr simai ALLREDUCE 1048576 8
    [ "$stderr" = "simai-hxmesh: error: --fabric: is missing (see --help)" ]
}
