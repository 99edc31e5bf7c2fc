#!/usr/bin/env bash
# turns.sh A B PAIRS SPEC ARGUMENT... - compares the speed of two builds under the virtual clock, to about a hundredth,
# even on machines with varying speed. A and B are trees with a build of hxmesh-virtual.
#
# Both run at once on one core and take turns of 40 ms, while the other is stopped. So disturbances meet both, and a
# turn is long enough to fill the caches. Prints the medians of packet hops a second of processor time, in millions, and
# of B / A. OPTIONS_OF_B: further arguments for B alone.
set -euo pipefail

[ $# -ge 4 ] || {
    echo "hxmesh: error: turns: usage: turns.sh A B PAIRS SPEC ARGUMENT..." >&2
    exit 2
}
first=$1 second=$2 pairs=$3
shift 3
read -ra of_second <<<"${OPTIONS_OF_B:-}"
for tree in "$first" "$second"; do
    [ -x "$tree/build/hxmesh-virtual" ] || {
        echo "hxmesh: error: turns: $tree: has no build/hxmesh-virtual (make all)" >&2
        exit 2
    }
done
out=$(mktemp -d)
groups=()

end() {
    local group
    for group in "${groups[@]}"; do
        kill -KILL -- "-$group" 2>/dev/null || true
    done
    rm -rf "$out"
}
trap end EXIT

# Starts a program as leader of its own process group, which has its number.
start() {
    local tree=$1 json=$2
    shift 2
    setsid taskset -c 0 "$tree/build/hxmesh-virtual" "$@" --clock virtual --workers 1 --quiet --json "$json" >"$json.log" 2>&1 &
    groups+=($!)
}

# Lets them take turns until one has ended; then the other runs on alone.
take_turns() {
    local now=0
    while kill -0 "${groups[0]}" 2>/dev/null && kill -0 "${groups[1]}" 2>/dev/null; do
        sleep 0.04
        kill -STOP -- "-${groups[now]}" 2>/dev/null || true
        now=$((1 - now))
        kill -CONT -- "-${groups[now]}" 2>/dev/null || true
    done
    kill -CONT -- "-${groups[0]}" 2>/dev/null || true
    kill -CONT -- "-${groups[1]}" 2>/dev/null || true
    wait || true
}

rate() {
    jq '.host.packet_hops_per_cpu_second / 1e6' "$1"
}

for ((i = 0; i < pairs; i++)); do
    groups=()
    if ((i % 2)); then
        start "$second" "$out/b" "$@" "${of_second[@]}"
        start "$first" "$out/a" "$@"
    else
        start "$first" "$out/a" "$@"
        start "$second" "$out/b" "$@" "${of_second[@]}"
    fi
    kill -STOP -- "-${groups[1]}" 2>/dev/null || true
    take_turns
    if [ ! -s "$out/a" ] || [ ! -s "$out/b" ]; then
        cat "$out"/*.log >&2
        exit 1
    fi
    echo "$(rate "$out/a") $(rate "$out/b")" >>"$out/rates"
    rm "$out/a" "$out/b"
done
groups=()
jq --raw-output --slurp --raw-input '
    def middle: sort | .[length / 2 | floor];
    [split("\n")[] | select(. != "") | split(" ") | map(tonumber)] |
    map(.[1] / .[0]) as $ratio |
    def round2: . * 100 | round / 100;
    def round3: . * 1000 | round / 1000;
    "A \(map(.[0]) | middle | round2)  B \(map(.[1]) | middle | round2)  B / A \($ratio | middle | round3) (\($ratio | min | round3) to \($ratio | max | round3))"' "$out/rates"
