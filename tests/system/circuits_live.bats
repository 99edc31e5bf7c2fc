#!/usr/bin/env bats
# circuits_live.bats - circuits that change under a live fabric: nothing is lost, and reports, captures and verify tell
# them from faults.

# shellcheck disable=SC2030,SC2031,SC2154 # what a test sets is meant for that test alone; bats sets stderr
load emulator_support

setup() {
    fresh_folder
    graph >graph.csv
}
teardown() {
    hxmesh down --name "$NAME" --quiet 2>/dev/null || true
    end_started
}

# links STRIDE SEPARATOR: circuits from each of 12 servers to another.
links() {
    local i
    for ((i = 0; i < 12; i++)); do
        echo "s$i$2s$(((i + $1) % 12))"
    done
}
# graph: of servers that forward, with circuits of the strides 1, 5 and 2.
graph() {
    seq -f 'forward s%g' 0 11
    links 1 ,
    links 5 ,
    links 2 ,
}
# circuits_plan DARK MS STATES: the strides 5 and 2 in turn, each for some ms; stride 1 is always there.
circuits_plan() {
    local i states
    states=("$(links 5 - | paste -s -d ,)" "$(links 2 - | paste -s -d ,)")
    echo "dark $1"
    for ((i = 0; i < $3; i++)); do
        echo "at $((i * $2))ms: ${states[i % 2]}"
    done
}

fault() { hxmesh fault --name "$NAME" "$@"; }
# are_over N: at least so many planned changes are over, and were followed.
are_over() {
    [ "$(fault --list --json - | jq '[.changes[] | select(.over and .followed_after_ns > 0)] | length')" -ge "$1" ]
}

# Nothing was lost, damaged or given up, by anyone.
NOTHING_LOST='.packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and .messages_failed == 0'

@test "circuits: a plan changes the graph under live traffic, and nothing is lost" {
    circuits_plan 1ms 60 20 >plan
    report "graph graph.csv" --workers 2 --duration 1s --traffic all-to-all-random --message 32KiB --circuits plan \
        --capture run.pcapng --snaplen 96
    holds "$ARRIVED and .circuits.links == 24 and .circuits.changes > 10 and .circuits.closed_ns > 0 and
        .circuits.followed_after_ns.median > 0 and .circuits.followed_after_ns.median <= .circuits.followed_after_ns.most and
        (has(\"faults\") | not) and .host.worker_deaths == 0"
    hxmesh verify run.pcapng >verified
    grep -q 'planned changes of links are reported in the capture' verified
    run ! grep -q 'faults are reported' verified
    hxmesh trace run.pcapng >/dev/null
}

@test "circuits: a cable that is drained on request carries nothing, and is no fault" {
    start "graph graph.csv" --workers 2 --traffic all-to-all-random --message 8KiB --duration 100s --fault "all up" \
        --capture run.pcapng --snaplen 96
    await_traffic 1000
    fault "s3/0 closed for 300ms" "s7/1 closed at 100ms for 200ms"
    eventually are_over 2
    fault "s5 closed"
    hxmesh top "$NAME" --json - --once --interval 100ms | is_so '.changes_holding == 1 and .faults_holding <= 1'
    fault "s5 up"
    eventually are_over 3
    fault --list >list
    grep -q '^  changes        3, planned$' list
    grep -Eq ' s3/0 closed for 300ms$' list
    [ "$(fault --list --json - | jq -c '[.faults[].fault]')" = '["all up","s5 up"]' ]
    end_long
    hxmesh verify run.pcapng >verified || { cat verified && return 1; }
    grep -q '3 planned changes' verified
    holds "$NOTHING_LOST and (.changes | length) == 3 and .circuits.changes >= 4 and all(.faults[]; .hits == 0)"
}

# bats test_tags=all
@test "circuits: workers that are killed while circuits change find the graph of that time" {
    circuits_plan 0 50 30 >plan
    report "graph graph.csv" --workers 2 --duration 1500ms --traffic all-to-all-random --message 32KiB \
        --circuits plan --capture run.pcapng --snaplen 96 \
        --fault "worker0 killed at 320ms; worker1 killed at 700ms; worker0 killed at 900ms"
    holds "$NOTHING_LOST and .host.worker_deaths == 3 and .circuits.links == 24"
    hxmesh verify run.pcapng
}

@test "circuits: programs run on hosts while circuits change; a fabric without circuits refuses a plan" {
    circuits_plan 1ms 100 600 >plan
    run -3 --separate-stderr hxmesh up "2x2 Hx2Mesh" --name "$NAME" --circuits plan
    [[ "$stderr" == "hxmesh: error: plan: circuits are links of a graph"* ]]
    sed 's/s5/s99/' plan >wrong
    run -3 --separate-stderr hxmesh up "graph graph.csv" --name "$NAME" --circuits wrong
    [[ "$stderr" == "hxmesh: error: wrong:2:"*"'s99' is no name of this fabric"* ]]
    nothing_left
    run --separate-stderr hxmesh up "graph graph.csv" --name "$NAME" --circuits plan --workers 2 --quiet
    [ "$status" -ne 4 ] || skip "$stderr"
    [ "$status" -eq 0 ]
    hxmesh exec --name "$NAME" h0 -- ping -c 100 -i 0.01 -W 20 h6 >pinged
    grep -q ' 100 received, 0% packet loss' pinged
    eventually are_over 24
    [ "$(fault --list --json - | jq -c .faults)" = '[]' ]
    hxmesh down --name "$NAME" --quiet
    nothing_left
}

# bats test_tags=all
@test "circuits: a job of 12 servers, and programs of Open MPI, while circuits change" {
    command -v mpicc >/dev/null || skip "there is no Open MPI here"
    [ -e "${HXMESH%/*}/libhxmesh-fi.so" ] || skip "the provider is not built: package libfabric-dev"
    HXMESH=$HXMESH run "$BATS_TEST_DIRNAME/../../examples/circuits/live.sh" "" here
    [[ "$output" != *"/dev/net/tun"* && "$output" != *"user namespaces"* ]] || skip "${lines[-1]}"
    [ "$status" -eq 0 ]
    [[ "$output" == *" 0 lost, 0 repeated, 0 messages failed"* ]]
    [[ "$output" == *"12 ranks on 12 hosts: all right"*"12 ranks on 12 hosts: all right"* ]]
    [[ "$output" == *"job.pcapng: good"*"programs.pcapng: good"* ]]
    [[ "$output" == *" links closed so far, 0 faults"* ]]
}
