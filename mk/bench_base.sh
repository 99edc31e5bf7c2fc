#!/usr/bin/env bash
# bench_base.sh BASE TREE PAIRS [ROW] - compares the speed of a build (TREE) with that of another one (BASE), row by
# row, as a Markdown table. BASE and TREE are trees with a build of all programs. ROW: an extended regular expression.
#
# The virtual clock: turns.sh, where OPTIONS_OF_B adds options for TREE alone. Live and DPDK: whole runs, one of each
# tree after the other, and each pair in the other order. Ratios above one: TREE is faster. DPDK needs
# build/bench/dpdk/bench_dpdk in both (make bench-programs).
set -euo pipefail

[ $# -ge 3 ] || {
    echo "hxmesh: error: bench_base: usage: bench_base.sh BASE TREE PAIRS [ROW]" >&2
    exit 2
}
base=$1 tree=$2 pairs=$3 row=${4:-.}
here=$(dirname "$0")
virtual=(
    "64 accelerators, all-to-all|4x4 Hx2Mesh|-m 1MiB"
    "1,024, all-to-all of 256 KiB|16x16 Hx2Mesh|-m 256KiB --shifts 12"
    "1,024, all-to-all of 8 KiB|16x16 Hx2Mesh|-m 8KiB --shifts 120"
    "1,024, permutation of 2 MiB|16x16 Hx2Mesh|-t permutation -m 2MiB"
    "1,024, uniform at 10 %|16x16 Hx2Mesh|-t uniform --rate 0.1 -m 8KiB -n 0 -d 100us"
    "16,384, all-to-all of 64 KiB|64x64 Hx2Mesh|--shifts 2 -m 64KiB"
    "Slim Fly q=13, all-to-all of 64 KiB|slim-fly q=13 p=9|--shifts 6 -m 64KiB"
)

wanted() {
    grep -qE -- "$row" <<<"$1"
}

# Million packet hops a second of processor time in a live run.
live_rate() {
    "$1/build/hxmesh" run "4x4 Hx2Mesh" --workers 1 --no-verify --message 1MiB --duration 2s --quiet --json - |
        jq '.host.packet_hops_per_cpu_second / 1e6'
}

# Million packets a second of the DPDK node.
dpdk_rate() {
    local file
    file=$(mktemp)
    (cd "$1" && HXMESH=build/hxmesh build/bench/dpdk/bench_dpdk --json "$file") >/dev/null
    jq '.dpdk_packets_per_second / 1e6' "$file"
    rm "$file"
}

# alternate RATE NAME - runs RATE with each tree in turn; a line of the table.
alternate() {
    local rate=$1 name=$2 i a b
    wanted "$name" || return 0
    for ((i = 0; i < pairs; i++)); do
        if ((i % 2)); then
            b=$("$rate" "$tree")
            a=$("$rate" "$base")
        else
            a=$("$rate" "$base")
            b=$("$rate" "$tree")
        fi
        echo "$a $b"
    done | jq --raw-output --slurp --raw-input --arg name "$name" '
        def middle: sort | .[length / 2 | floor];
        def round2: . * 100 | round / 100;
        [split("\n")[] | select(. != "") | split(" ") | map(tonumber)] | map(.[1] / .[0]) as $ratio |
        "| \($name) | \(map(.[0]) | middle | round2) | \(map(.[1]) | middle | round2) | \($ratio | middle | round2) (\($ratio | min | round2) to \($ratio | max | round2)) |"'
}

for built in "$base" "$tree"; do
    [ -x "$built/build/hxmesh" ] || {
        echo "hxmesh: error: bench_base: $built: has no build/hxmesh (make all)" >&2
        exit 2
    }
done
# "AMD EPYC, family 26, model 2": many kinds of processor have the same name.
processor() {
    awk -F '\t*: ' '/^model name/ { name = $2 } /^cpu family/ { family = $2 } /^model\t/ { model = $2 } /^$/ { exit }
        END { print name ? name ", family " family ", model " model : "unknown" }' /proc/cpuinfo
}

echo "Processor: $(processor)"
echo
echo "| row | base, M/s and core | tree | tree / base |"
echo "|---|---|---|---|"
for line in "${virtual[@]}"; do
    IFS='|' read -r name spec options <<<"$line"
    wanted "$name" || continue
    # shellcheck disable=SC2086 # options are words
    rates=$("$here/turns.sh" "$base" "$tree" "$pairs" "$spec" $options)
    sed -E "s:^A ([0-9.]+) +B ([0-9.]+) +B / A (.*):| $name | \1 | \2 | \3 |:" <<<"$rates"
done
alternate live_rate "live 4x4 Hx2Mesh, not verified"
if [ -x "$base/build/bench/dpdk/bench_dpdk" ] && [ -x "$tree/build/bench/dpdk/bench_dpdk" ]; then
    alternate dpdk_rate "hxmesh-dpdk, net_ring, 64 B"
elif wanted "hxmesh-dpdk"; then
    echo "hxmesh-dpdk is not compared: a tree has no build/bench/dpdk/bench_dpdk (make bench-programs)" >&2
fi
