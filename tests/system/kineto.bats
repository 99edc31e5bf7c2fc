# kineto.bats - traces of PyTorch's profiler are schedules: the example's, bytes by a second derivation, errors.

load emulator_support

setup() { fresh_folder; }
teardown() { end_started; }

# event CATEGORY NAME THREAD BEGIN US [ARGS]: an event of a trace, with a comma.
event() {
    printf '{"ph": "X", "cat": "%s", "name": "%s", "pid": 0, "tid": %d, "ts": %d, "dur": %d, "args": {%s}},\n' \
        "$1" "$2" "$3" "$4" "$5" "${6:-}"
}

# gloo NAME THREAD BEGIN ELEMENTS: a collective of gloo, 50 us, and its call.
gloo() {
    event cpu_op "c10d::${1//_/}_" 1 "$3" 2
    event user_annotation "gloo:$1" "$2" "$(($3 + 1))" 50 '"Input Dims": [['"$4"']], "Input type": ["float"]'
}

# trace RANK RANKS EVENTS: writes t.RANK.json.
trace() {
    printf '{"schemaVersion": 1, "distributedInfo": {"rank": %d, "world_size": %d}, "traceEvents": [\n%s{"ph": "M"}]}\n' \
        "$1" "$2" "$3"$'\n' >"t.$1.json"
}

# step RANK: two buckets in the backward pass, a broadcast and an all-gather.
step() {
    event cpu_op aten::mm 1 0 $((100 + $1))
    gloo all_reduce 2 120 1000
    event cpu_op aten::mm 1 123 60
    gloo all_reduce 3 190 "$((3 * 100))"
    gloo broadcast 2 260 77
    gloo all_gather 3 320 33
    event cpu_op aten::add_ 1 380 10
}

# sums FILE...: a second derivation agrees on number and bytes of collectives of each kind.
sums() {
    hxmesh schedule "$1" --json found.json --quiet
    diff <(python3 "$BATS_TEST_DIRNAME/kineto_sums.py" "$@") \
        <(jq -r '. as $all | .collectives | to_entries[] | select(.value > 0) | [.key, .value,
            $all.collective_bytes[.key]] | join(" ")' found.json | sort)
}

@test "kineto: a trace of four ranks has the bytes that a second derivation finds, and is replayed" {
    local rank
    for rank in 0 1 2 3; do trace "$rank" 4 "$(step "$rank")"; done
    sums t.*.json
    gzip t.?.json
    sums t.*.json.gz
    hxmesh run "fat-tree hosts=4 radix=4" --traffic t.2.json.gz --clock virtual --name "$NAME" --quiet --json - >"$REPORT"
    holds '.complete and .schedule[0].ranks_done == 4'
}

@test "kineto: cut, missing and different files are refused" {
    local rank
    for rank in 0 1 2 3; do trace "$rank" 4 "$(step "$rank")"; done
    trace 1 4 "$(step 1 | sed 's/77/78/')"
    run -3 --separate-stderr hxmesh run "fat-tree hosts=4 radix=4" --traffic t.0.json --clock virtual --name "$NAME"
    # shellcheck disable=SC2154 # bats sets it
    [ "$stderr" = "hxmesh: error: t.0.json: rank 1: collective 3 of group 0 (4 ranks) is broadcast 'broadcast' of 312 B, \
root 0, at rank 0 it is broadcast 'broadcast' of 308 B, root 0 (all members of a group call the same)" ]
    trace 1 4 "$(step 1)"
    head -c 1000 t.1.json >t.part
    mv t.part t.1.json
    run -3 --separate-stderr hxmesh schedule t.0.json
    [ "$stderr" = "hxmesh: error: t.1.json: byte 1000: the file ends, expected the rest of a string (is it whole?)" ]
    rm t.1.json
    run -3 --separate-stderr hxmesh schedule t.3.json
    [ "$stderr" = "hxmesh: error: t.1.json: is missing: each of the 4 ranks has a file" ]
    trace 1 5 ""
    run -3 --separate-stderr hxmesh schedule t.3.json
    [ "$stderr" = "hxmesh: error: t.1.json: distributedInfo: is of rank 1 of 5, expected rank 1 of 4" ]
}

@test "kineto: one file stands for all ranks if --ranks says so" {
    trace 2 4 "$(step 2)"
    run -3 --separate-stderr hxmesh schedule t.2.json
    [ "$stderr" = "hxmesh: error: t.2.json: is of rank 2 of 4, and no other rank has a file named so (--ranks 4 lets each rank do what this one does)" ]
    run -0 hxmesh schedule t.2.json --ranks 4
    [[ "$output" == "t.2.json: 4 ranks"*"4 broadcast, 4 all-gather, 8 all-reduce, one for each member"*"matching        complete" ]]
}

@test "kineto: PyTorch trains on 16 hosts, and its trace is replayed on three fabrics" {
    /usr/bin/python3 -c 'import torch' 2>/dev/null || skip "PyTorch is missing: package python3-torch"
    HXMESH=$HXMESH FABRIC=$NAME run timeout 500 "$BATS_TEST_DIRNAME/../../examples/pytorch/record.sh" .
    [ "$status" -ne 4 ] || skip "$output"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    nothing_left
    [[ "$output" == "a0,0: 16 ranks, sum and weights are right"* ]]
    [[ "$output" == *"matching        complete"* ]]
    local fabric
    for fabric in "2x2 Hx2Mesh" "fat-tree hosts=16 radix=8" "torus 4x4"; do
        grep -qE "^  $fabric +[14] +400 +1600 .* [um]?s" <<<"$output"
    done
    sums train.*.json
    [ "$(jq '.collectives["all-reduce"] % 16' found.json)" -eq 0 ]
    # Each step reduces every gradient once: 8 layers of 256 x 256 weights with biases, and one of 10 x 256.
    [ "$(jq '.collective_bytes["all-reduce"]' found.json)" -eq $((16 * 2 * 4 * (8 * (256 * 256 + 256) + 2570))) ]
}
