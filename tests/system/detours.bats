# asan
# detours.bats - fabrics with detours: live and under the virtual clock, every byte checked, every frame verified.

# shellcheck disable=SC2154 # bats sets status, output and stderr
load emulator_support

FABRICS=("fat-tree hosts=16 radix=8" "mlfm h=2" "oft k=3" "dragonfly a=2 p=2 h=2 groups=5" "dragonfly a=4 p=1 h=2" "hyperx 4 p=2"
    "hyperx 3x3 p=1" "slim-fly q=3 p=1" "bigraph m=2 n=6")
POLICIES=(valiant ugal:c=0.25 "ugal:n=2,c=0.25,t=0.01")

setup() {
    fresh_name
    cd "$BATS_TEST_TMPDIR" || return 1
    FILE="$BATS_TEST_TMPDIR/run.pcapng"
}

teardown() { end_started; }

# captured FABRIC POLICY CLOCK [MORE...]: runs and verifies the frames; some of them were on a detour.
captured() {
    rm -f "$FILE"
    report "$1" --routing "$2" --clock "$3" -m 20000 --verify --capture "$FILE" "${@:4}"
    holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .routing != "minimal"'
    "$HXMESH-verify" --quiet "$FILE" --json - >verdict
    jq --exit-status '.passed and .findings == [] and .injected == .delivered and .injected > 0 and
        .verified.nodes > 0 and .verified.links > 0' verdict || {
        echo "$1 $2 $3: $(cat verdict)"
        return 1
    }
}

# bats test_tags=all
@test "detours: live, every fabric by every policy, every frame on a valid path" {
    for fabric in "${FABRICS[@]}"; do
        for policy in "${POLICIES[@]}"; do
            captured "$fabric" "$policy" wall --workers 2
        done
        captured "$fabric" valiant wall --workers 2
        holds '.max_vc > 0'
    done
}

# bats test_tags=all
@test "detours: the same under the virtual clock" {
    for fabric in "${FABRICS[@]}"; do
        for policy in "${POLICIES[@]}"; do
            captured "$fabric" "$policy" virtual --workers 2 --share-cores --check-steps
        done
    done
}

@test "detours: trace shows a detour from the router that chose it to the one where it ends" {
    captured "mlfm h=2" valiant virtual
    "$HXMESH-trace" "$FILE" --from 0,0 --to 3,0 --most 100 --json - >traced
    jq --exit-status '[.hops[] | select(.kind == "packet")] | length > 0 and all(.[]; . as $packet | [.hops[].in.via] as $in |
        [.hops[].out.via] as $out | ($out[1] | . != null and . != $packet.from[0] and . != $packet.to[0]) and
        $in == [null, null, $out[1], $out[1], null, null, null] and
        $out == [null, $out[1], $out[1], null, null, null, null])' traced || { cat traced; return 1; }
    "$HXMESH-trace" "$FILE" --from 0,0 --to 3,0 | grep -q 'packet 0 of message 0 from a0,0 to a3,0.* by a detour to the router of addr_hi [0-9]'
}

# bats test_tags=all
@test "detours: kill -9 of workers with packets on detours: the rest continues, nothing is lost" {
    start "slim-fly q=3 p=1" --routing ugal:c=0.25 -t uniform -m 64KiB --duration 10s --workers 3
    await_workers 3
    await_traffic
    for death in 1 2; do
        mapfile -t before < <(workers_of "$PID")
        kill -KILL "${before[$((death - 1))]}"
        eventually all_gone "${before[$((death - 1))]}"
        await_workers 3
        await_traffic $(($(delivered) + 1000))
    done
    finish
    [ "$CODE" -eq 0 ]
    holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and .messages_failed == 0'
    holds '.messages == .messages_begun and .messages > 0 and .host.worker_deaths == 2 and .max_vc > 1'
    nothing_left
}

@test "detours: a packet that waits on the last of four VCs leaves when it can" {
    report "slim-fly q=5 p=3" --routing valiant --clock virtual -t uniform -m 64KiB --timing sc15 --buffer 3200KiB --rate 0.2 \
        -d 300us --warm-up 30us
    holds '.complete and .packets_lost == 0 and .max_vc == 3'
}

# bats test_tags=all
@test "detours: a virtual run is the same with 1, 2 and 4 workers" {
    for fabric in "mlfm h=3" "dragonfly a=4 p=2 h=2 groups=5" "slim-fly q=5 p=2"; do
        for policy in valiant ugal:n=2,c=1; do
            for workers in 1 2 4; do
                report "$fabric" --routing "$policy" --clock virtual -m 64KiB --share-cores --workers "$workers"
                jq 'del(.host)' "$REPORT" >"with$workers"
            done
            cmp with1 with2
            cmp with1 with4
        done
    done
}

@test "detours: check proves them for every policy, and names the routing" {
    for fabric in "${FABRICS[@]}"; do
        "$HXMESH" check "$fabric" --routing ugal-threshold --json - | jq --exit-status '
            .acyclic and .dead_ends == 0 and .unreachable == 0 and .vcs >= 2 and
            (.routing | test("^ugal:n=4,c=[12],t=0.1$"))'
    done
}

@test "detours: in a file, and overridden by the command line; unknown ones are refused in one line" {
    printf 'fabric: mlfm h=2\nrouting: valiant\n' >f.hxm.yaml
    report f.hxm.yaml --clock virtual
    holds '.routing == "valiant" and .spec == "mlfm h=2 routing=valiant"'
    report f.hxm.yaml --clock virtual --routing minimal
    holds '.routing == "minimal" and .spec == "mlfm h=2"'
    run --separate-stderr "$HXMESH" run "torus 4x4" --routing ugal
    [ "$status" -eq 3 ] && [ -z "$output" ] && [[ "$stderr" == *"no detours are possible here"* ]]
    run --separate-stderr "$HXMESH" run "mlfm h=2" --routing valliant
    [ "$status" -eq 2 ] && [ "$stderr" = "hxmesh: error: --routing: 'valliant' is not a routing: minimal, valiant, ugal, ugal-threshold or as ugal:n=4,c=2,t=0.1" ]
    printf 'fabric: mlfm h=2\nrouting: ugal:n=0\n' >f.hxm.yaml
    run --separate-stderr "$HXMESH" run f.hxm.yaml
    [ "$status" -eq 3 ] && [[ "$stderr" == "hxmesh: error: f.hxm.yaml:2:10: routing: 'ugal:n=0' is not a routing: "* ]]
}

@test "detours: the example of relayed messages carries each byte once, and once more if relayed" {
    local relayed="$BATS_TEST_DIRNAME/../../examples/detours/relayed.sh"
    "$relayed" 4 0 line permutation >straight.csv
    "$relayed" 4 8 any neighbours >relayed.csv
    [ "$(awk -F, 'NR > 1 { sum += $4 } END { print sum }' straight.csv)" -eq $((64 * 1048576)) ]
    local all=$((64 * 6 * 262144)) sum
    sum=$(awk -F, 'NR > 1 { sum += $4 } END { print sum }' relayed.csv)
    [ "$sum" -gt "$all" ]
    [ "$sum" -lt $((2 * all)) ] # between accelerators of one board nothing is relayed
    "$HXMESH" run "4x4 Hx2Mesh" --clock virtual --traffic relayed.csv --quiet --json - | jq -e --argjson sum "$sum" \
        '.complete and .bytes_delivered == $sum' >/dev/null
    run -2 "$relayed" 5 2 line neighbours
    [[ $output == relayed.sh* ]]
}
