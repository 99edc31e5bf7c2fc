#!/usr/bin/env bats
# fault.bats - hxmesh fault: faults of a running fabric cost only time.

# shellcheck disable=SC2030,SC2031 # what a test sets is meant for that test alone
load emulator_support

setup() { fresh_name; }
teardown() { end_started; }

fault() { hxmesh fault --name "$NAME" "$@"; }
# Number of faults so far that match a filter.
faults_that() { fault --list --json - | jq "[.faults[] | select($1)] | length"; }
are_whole() { [ "$(faults_that '.whole_after_ns != null and .over')" -eq "$1" ]; }
# await_whole N: waits until N faults are over, and traffic has recovered from them.
await_whole() { eventually are_whole "$1"; }

# All messages arrived once, with or without retransmissions.
SOUND='.packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and .messages_failed == 0'

@test "fault: a link that is cut and repaired costs the packets on it, and traffic recovers" {
    start "4x4 Hx2Mesh" --traffic all-to-all-random --duration 100s --workers 2
    await_traffic 1000
    # A single link may be empty when it is cut; of all these some is not.
    fault "a0,1/E down for 1s" "a2,1/p0/W down for 1s" "row2 down for 1s" "col3 down for 1s" "row5 down for 1s"
    await_whole 5
    fault --list >"$BATS_TEST_TMPDIR/list"
    grep -q '^  faults         5$' "$BATS_TEST_TMPDIR/list"
    grep -Eq ' a0,1/E down for 1s$' "$BATS_TEST_TMPDIR/list"
    end_long
    holds "$SOUND and (.faults | length) == 5 and .faults[0].fault == \"a0,1/E down for 1s\" and
        all(.faults[]; .at_ns > 0 and .whole_after_ns != null) and ([.faults[] | .hits + .lost] | add) > 0"
}

@test "fault: links that lose, corrupt, repeat, reorder and delay, and lose credit, deliver everything once" {
    start "4x4 Hx2Mesh" --traffic all-to-all-random --message 32KiB --duration 100s --workers 2
    await_traffic 1000
    fault "all loss=0.1% corrupt=0.1% duplicate=1% reorder=1% credit-loss=10% delay=1us for 1s"
    await_whole 1
    end_long
    holds "$SOUND and .faults[0].lost > 0 and .faults[0].corrupted > 0 and .faults[0].hits > 0 and .packets_repeated > 0 and .drops.checksum > 0 and
        .drops.duplicate > 0"
}

# bats test_tags=all
@test "fault: a fault that is ended by another name of its place is over" {
    start "4x4 Hx2Mesh" --traffic all-to-all-random --duration 100s --workers 2
    await_traffic 1000
    fault "a0,1/E loss=20%" "a2,1/p0/E down"
    fault "all up at 1s"
    await_whole 3
    end_long
    holds "$SOUND and .faults[0].lost > 0"
}

@test "fault: corrupted payload is not delivered as good without verification" {
    report "2x2 Hx2Mesh" --traffic all-to-all-random --duration 1s --workers 2 --no-verify --fault "all corrupt=0.1%"
    holds '.faults[0].corrupted > 0 and .drops.malformed > 0 and .drops.malformed <= .faults[0].corrupted and
        .drops.checksum == 0 and .packets_lost == 0 and .messages_failed == 0 and .buffers_missing == 0'
}

@test "fault: a board that goes down and up is unreachable in between; the others continue" {
    start "4x4 Hx2Mesh" --traffic all-to-all-random --duration 100s --workers 2
    await_traffic 1000
    fault "board1,2 down for 1s"
    await_whole 1
    end_long
    holds "$SOUND and .drops.unreachable > 0"
}

# bats test_tags=all
@test "fault: a stopped worker delays its packets and continues; a killed one starts again" {
    start "4x4 Hx2Mesh" --traffic all-to-all-random --duration 100s --workers 2
    await_workers 2
    await_traffic 1000
    local worker
    worker=$(pgrep --parent "$PID" hxmesh-w1)
    fault "worker1 stopped for 3s"
    eventually is_stopped "$worker"
    await_whole 1
    run ! is_stopped "$worker"
    fault "worker0 killed"
    await_whole 2
    end_long
    holds "$SOUND and .host.worker_deaths == 1 and .faults[1].fault == \"worker0 killed\" and
        .faults[1].lost == .drops.worker_lost"
}

@test "fault: a run ends although a worker is stopped" {
    start "2x2 Hx2Mesh" --duration 100s --workers 2
    await_workers 2
    await_traffic 100
    fault "worker1 stopped"
    eventually is_stopped "$(pgrep --parent "$PID" hxmesh-w1)"
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
    holds '.buffers_missing == 0'
    nothing_left
}

# shellcheck disable=SC2154 # stderr: set by run
@test "fault: the fabric of a wrong line refuses it in one line" {
    start "2x2 Hx2Mesh" --duration 100s --workers 2
    await_traffic 1
    run -3 --separate-stderr fault "a9,9/E down"
    [[ "$stderr" == "hxmesh: error: a9,9/E down: 'a9,9/E' is no place of this fabric"* ]]
    run -3 --separate-stderr fault "worker2 killed"
    [ "$stderr" = "hxmesh: error: worker2 killed: there is no worker2: this fabric has worker0 to worker1" ]
    run -2 --separate-stderr fault
    [[ "$stderr" == "hxmesh: error: FAULT: is missing: what is to go wrong?"* ]]
    run -2 --separate-stderr fault "worker0 killed" ""
    [ "$stderr" = "hxmesh: error: FAULT: '' says nothing: what is to go wrong? (such as 'a0,1/E down for 5s')" ]
    run -2 --separate-stderr fault "a0,1/E$(printf '%260s' down)"
    [[ "$stderr" == *"' is longer than 255 bytes: split it into several" ]]
    [ "$(fault --list)" = "no fault so far" ]
    fault "a0,1/E down at 1000s"
    [ "$(fault --list | tail -n 1)" = "  to come        1" ]
    end_long
    run -4 --separate-stderr fault "a0,1/E down"
    [[ "$stderr" == "hxmesh: error: $NAME: "* ]]
}

@test "fault: a wait for an answer can be interrupted" {
    start "2x2 Hx2Mesh" --duration 100s
    await_traffic 1
    local run=$PID running=$REPORT
    kill -STOP "$run"
    REPORT="$BATS_TEST_TMPDIR/list.json"
    begin fault --list
    eventually blocks_signals "$PID"
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
    kill -CONT "$run"
    PID=$run REPORT=$running
    end_long
}
# blocks_signals PROCESS: SIGINT, the second bit of the mask.
blocks_signals() { (($(sed -n 's/^SigBlk:\t/0x/p' "/proc/$1/status") & 2)); }

@test "fault: hxmesh top shows faults with their age, until they end" {
    broken() { hxmesh top "$NAME" --json - --once --interval 100ms | is_so "$1"; }
    start "2x2 Hx2Mesh" --traffic all-to-all-random --duration 100s --workers 2
    await_traffic 1000
    broken '.faults == [] and .faults_holding == 0'
    fault "a0,1/E down" "a1,1/N loss=1% for 60s" "worker1 stopped for 100ms"
    eventually broken '.faults_holding == 2 and (.faults | map(.fault)) == ["a1,1/N loss=1% for 60s", "a0,1/E down"] and
        all(.faults[]; .since_ns > 0)'
    fault "a0,1/E up"
    eventually broken '(.faults | map(.fault)) == ["a1,1/N loss=1% for 60s"]'
    end_long
}

@test "fault: captures of runs with faults are good: cut links, impaired links, or a killed worker" {
    local capture="$BATS_TEST_TMPDIR/run.pcapng" case
    for case in "torus 4x4|a1,1/p0/N down for 300ms; s9/0 flaps every 100ms" "2x2 Hx2Mesh|worker1 killed at 300ms" \
        "2x2 Hx2Mesh|all loss=0.5% corrupt=0.5% duplicate=1% reorder=1% credit-loss=10% delay=1us for 300ms"; do
        report "${case%|*}" --traffic all-to-all-random --message 32KiB --duration 600ms --workers 2 --fault "${case#*|}" \
            --capture "$capture" --snaplen 96
        run -0 hxmesh verify "$capture"
        [[ $output == *": good"*"reported in the capture"* ]]
    done
}

@test "fault: a run has its faults from the start, by lines or at random by the seed" {
    report "4x4 Hx2Mesh" --traffic all-to-all-random --duration 1500ms --workers 2 \
        --fault "a0,1/E down at 200ms for 300ms; worker1 killed at 600ms"
    holds "$SOUND and .complete and [.faults[].at_ns] == [200000000, 600000000] and .host.worker_deaths == 1 and
        .settings.fault == [\"a0,1/E down at 200ms for 300ms; worker1 killed at 600ms\"]"
    report "4x4 Hx2Mesh" --traffic all-to-all-random --duration 1500ms --faults random --mtbf 200ms --mttr 100ms --seed 3
    holds "$SOUND and (.faults | length) > 2"
    run -2 --separate-stderr hxmesh run "2x2 Hx2Mesh" --faults random
    [[ "$stderr" == *"--faults: random on the wall clock needs --mtbf and --mttr"* ]]
}

# A retransmitted packet may take another detour, and pass the same cable on another VC than its copies.
# bats test_tags=all
@test "fault: captures of links that repeat packets are good with detours" {
    local capture="$BATS_TEST_TMPDIR/run.pcapng" seed
    for seed in 1 2 3 4; do
        run -0 hxmesh run "slim-fly q=3 p=1" --traffic tornado --message 22686 --count 2 --seed "$seed" --routing ugal --workers 2 \
            --fault "all loss=0.2% corrupt=0.2% duplicate=10% reorder=2% credit-loss=10% for 200ms" --quiet --capture "$capture"
        run -0 hxmesh verify "$capture"
    done
}

@test "fault: a collective survives a link that is cut, and one that loses" {
    report "4x4 Hx2Mesh" --traffic all-reduce --message 4MiB --fault "a1,0/E down at 1ms for 100ms; a2,2/W loss=2% for 300ms"
    holds "$SOUND and .complete and .collective.done == 64"
}

# bats test_tags=all
@test "fault: a collective that loses a member ends, and is reported as incomplete" {
    start "4x4 Hx2Mesh" --traffic all-reduce --message 16MiB --workers 2 --fault "a1,1 down at 20ms"
    finish
    [ "$CODE" -eq 1 ]
    grep -q '^hxmesh: error: .*all-reduce ended with [0-9]* of 64 accelerators done' "$BATS_TEST_TMPDIR/stderr"
    holds '(.complete | not) and .collective.done < 64 and .messages_failed > 0 and .bytes_corrupted == 0 and
        .buffers_missing == 0 and .faults[0].lost > 0'
    nothing_left
}

# goes_round SPEC PORT: PORT is cut for good under full traffic, and all traffic continues by other paths.
goes_round() {
    start "$1" --traffic all-to-all-random --duration 100s --workers 2 --fault "all up"
    await_traffic 1000
    fault "$2 down"
    eventually is_whole "$2 down"
    await_traffic $(($(delivered) + 5000))
    end_long
    holds "$SOUND and .faults[0] == (.faults[0] + {fault: \"all up\", lost: 0, hits: 0})" # the cost of the other fault is not counted here
}
is_whole() { [ "$(faults_that ".fault == \"$1\" and .whole_after_ns != null")" -eq 1 ]; }

# bats test_tags=all
@test "fault: switches of other fabrics search paths around a link that is cut for good" {
    goes_round "fat-tree hosts=32 radix=8" leaf1/5
    fresh_name
    goes_round "torus 4x4" a1,1/p0/N
    fresh_name
    goes_round "mlfm h=4" local0,0/6 # the only minimal path of its pairs
}

# shellcheck disable=SC2154 # stderr: set by run
@test "fault: a fabric without prepared searches reports it, and does what it can" {
    start "torus 4x4" --duration 100s --workers 2
    await_traffic 1
    run -0 --separate-stderr fault "a0,1/E loss=1% for 1ms"
    [ -z "$stderr" ]
    run -0 --separate-stderr fault "a0,1/E down for 100ms"
    [ "$stderr" = "hxmesh: warning: a0,1/E down for 100ms: no switch of this fabric reroutes around it (to prepare that, start the fabric with --fault 'all up')" ]
    await_whole 2
    end_long
}

# shellcheck disable=SC2154 # stderr: set by run
# bats test_tags=all
@test "fault: senders to a host with its only link cut learn that no path exists, and continue when it is back" {
    run -1 hxmesh run "fat-tree hosts=16 radix=8" --workers 2 --name "$NAME" --quiet --json "$REPORT" --fault "leaf1/0 down"
    # Each of their 8 packets is reported twice at most, while each of 50 probes in vain would be reported too.
    # faults_virtual.bats measures the time, by a clock that other load does not slow down.
    holds '.messages_failed == 30 and .messages == 16 * 15 - 30 and .buffers_missing == 0 and
        .drops.unreachable + .drops.no_route <= 30 * 8 * 2'
    fresh_name
    start "fat-tree hosts=16 radix=8" --traffic all-to-all-random --duration 100s --workers 2
    await_traffic 1000
    run -0 --separate-stderr fault "leaf1/0 down for 3s"
    [ -z "$stderr" ] # no path leads around it
    await_whole 1
    await_traffic $(($(delivered) + 1000))
    end_long
    holds '.messages_failed > 0 and .drops.unreachable > 0'
}

@test "fault: around a dead accelerator all others reach each other, and senders to it get errors" {
    run -1 timeout 600 "$HXMESH" run "2x2 Hx2Mesh" --message 1KiB --count 1 --workers 2 --name "$NAME" --quiet --json "$REPORT" \
        --fault "a2,1 down"
    holds '.messages_begun == 16 * 15 and .messages == 15 * 14 and .messages_failed == 30 and .buffers_missing == 0'
}

@test "fault: exactly the pairs that living links join deliver" {
    run -0 "$BATS_TEST_DIRNAME/faults_reach.py" "$HXMESH" --live --cases 2 --fabric "4x4 Hx2Mesh"
    run -0 "$BATS_TEST_DIRNAME/faults_reach.py" "$HXMESH" --live --cases 2 --fabric "6x3 Hx1Mesh" --times 30 --message 4096
}

# Three messages a second and host, so hardly any is in flight when the fault begins: later ones wait for its end.
# bats test_tags=all
@test "fault: messages that wait for a host that is down count as hit" {
    run -0 hxmesh run "1x1 Hx2Mesh" --traffic all-to-all-random --message 64KiB --rate 0.000001 --duration 3s --workers 1 --name "$NAME" \
        --quiet --json "$REPORT" --fault "a0,0 down at 500ms for 1500ms"
    holds '.messages > 4 and .messages == .messages_begun and .faults[0].hits > 0 and .faults[0].whole_after_ns > 1400000000'
}

@test "fault: a fabric of a graph is known in any folder, even if the graph's file changed or is gone" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' "host h0" "host h1" "switch s" "h0,s" "h1,s" >star.csv
    start "graph star.csv" --traffic uniform --message 4KiB --duration 100s --workers 1
    await_traffic 100
    cd /
    echo "h0,h1" >"$BATS_TEST_TMPDIR/star.csv"
    fault "a0,0/E loss=1% for 10ms"
    await_whole 1
    end_long
    holds "$SOUND"
}
