#!/usr/bin/env bash
# soak_faults.sh - long runs of faults on live fabrics: `make soak-kill`, `make soak-links`.
#
#     soak_faults.sh kill N       kills a worker with SIGKILL at N random times, on fabrics of several shapes in turn
#     soak_faults.sh links SPEC   cuts every link of a fabric, then each of its boards, for 300 ms, one after the other, under
#                                 full traffic, and prints the time until traffic was repaired: median and worst
#
# Exits with 1 and prints the report if anything was lost, corrupted or left behind. SEED seeds RANDOM.
set -euo pipefail

HXMESH=$(realpath "${HXMESH:-build/hxmesh}")
SEED=${SEED:-$$}
RANDOM=$SEED
AT_A_TIME=250 # kills of one run; a supervisor gives up after a thousand
SOUND='.packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and .messages_failed == 0'

directory=$(mktemp -d)
name=
run=
end() {
    [ -z "$run" ] || kill -KILL "$run" 2>/dev/null || true
    [ -z "$name" ] || rm -f "/dev/shm/hxmesh-$name"
    rm -rf "$directory"
}
trap end EXIT

fail() {
    echo "soak: seed $SEED: $*" >&2
    jq -c "del(.links, .faults)" "$directory/report" >&2 || true
    exit 1
}

# begin ARGUMENTS...: starts a fabric that runs until it is stopped.
begin() {
    name="soak-$$-$RANDOM"
    "$HXMESH" run "$@" --duration 24h --name "$name" --quiet --no-links --json "$directory/report" \
        >/dev/null 2>"$directory/stderr" &
    run=$!
    until "$HXMESH" fault --name "$name" --list >/dev/null 2>&1; do
        [ -e "/proc/$run" ] || fail "the run ended: $(cat "$directory/stderr")"
        sleep 0.05
    done
}

# finish: stops the fabric and checks its report.
finish() {
    local code=0
    kill -INT "$run"
    wait "$run" || code=$?
    run=
    [ "$code" -eq 130 ] || fail "exit code $code: $(tail -n 3 "$directory/stderr")"
    jq --exit-status "$SOUND" "$directory/report" >/dev/null || fail "not sound"
    [ ! -e "/dev/shm/hxmesh-$name" ] || fail "left behind: /dev/shm/hxmesh-$name"
}

# Dead workers that are not yet noticed do not count.
workers() { pgrep --parent "$run" --runstates D,R,S hxmesh-w; }

# kill_once WORKERS: kills one at a random time, up to 100 ms after all are there.
kill_once() {
    local list=()
    until [ "${#list[@]}" -eq "$1" ]; do
        [ -e "/proc/$run" ] || fail "the run ended: $(tail -n 3 "$directory/stderr")"
        sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
        mapfile -t list < <(workers)
    done
    kill -KILL "${list[RANDOM % $1]}" 2>/dev/null || kill_once "$1" # it has just died
}

soak_kill() {
    local shapes=("4x4 Hx2Mesh" "3x2 H2x4Mesh" "fat-tree hosts=64 radix=16" "torus 8x8" "dragonfly a=4 p=2 h=2 groups=5")
    local left=$1 round=0
    while [ "$left" -gt 0 ]; do
        local spec=${shapes[round % ${#shapes[@]}]} workers=$((2 + round % 3)) n=$((left < AT_A_TIME ? left : AT_A_TIME))
        begin "$spec" --traffic all-to-all-random --message 32KiB --workers "$workers"
        for ((i = 0; i < n; i++)); do
            kill_once "$workers"
        done
        finish
        jq -r --arg spec "$spec" '"\($spec), \(.host.workers) workers: \(.host.worker_deaths) killed, \(.messages) messages, " +
            "all acknowledged, \(.packets_repeated) packets repeated"' "$directory/report"
        left=$((left - n))
        round=$((round + 1))
    done
}

# links_of SPEC: the name of one end of each link; boards_of SPEC: the names of its boards.
links_of() { "$HXMESH" run "$1" --message 64 --shifts 1 --quiet --json - | jq -r '.links[] | select(.from < .to) | .from'; }
boards_of() {
    [[ "$1" =~ ^([0-9]+)x([0-9]+)\ H ]] || return 0
    local x y
    for ((y = 0; y < BASH_REMATCH[2]; y++)); do
        for ((x = 0; x < BASH_REMATCH[1]; x++)); do
            echo "board$x,$y"
        done
    done
}

# cut_place PLACE: cuts it for 300 ms, and waits until traffic is repaired.
cut_place() {
    "$HXMESH" fault --name "$name" "$1 down for 300ms"
    for ((i = 0; i < 600; i++)); do
        "$HXMESH" fault --name "$name" --list --json - >"$directory/list"
        ! jq --exit-status '.faults | last | .whole_after_ns' "$directory/list" >/dev/null || return 0
        sleep 0.1
    done
    fail "traffic was not repaired a minute after $1"
}

# median_and_worst links|boards: statistics of the records in $directory/list.
median_and_worst() {
    jq -r --arg what "$1" '[.faults[] | select((.fault | startswith("board")) == ($what == "boards"))] | "\(length) \($what): " +
        "repaired after \(map(.whole_after_ns / 1e9) | sort | .[length / 2 | floor]) s (median), " +
        "\(map(.whole_after_ns / 1e9) | max) s (worst), \(map(.lost) | add) packets lost on them"' "$directory/list"
}

soak_links() {
    begin "$1" --traffic all-to-all-random --message 32KiB
    local place
    for place in $(links_of "$1") $(boards_of "$1"); do
        cut_place "$place"
    done
    finish
    median_and_worst links
    [ -z "$(boards_of "$1")" ] || median_and_worst boards
}

case "${1:-}" in
kill) soak_kill "${2:-2000}" ;;
links) soak_links "${2:-4x4 Hx2Mesh}" ;;
*)
    echo "usage: soak_faults.sh kill N | links SPEC" >&2
    exit 2
    ;;
esac
