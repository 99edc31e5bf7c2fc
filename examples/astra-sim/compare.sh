#!/usr/bin/env bash
# compare.sh - ASTRA-sim's micro-benchmarks over its congestion-aware network and over hxmesh, as a table.
#
#   examples/astra-sim/compare.sh CHECKOUT [WORKLOADS SIZE] [NPUS...]
#
# Both are built (README.md). WORKLOADS: a folder of other micro-benchmarks of a SIZE, such as 64MB. Cycles are ns,
# those of the last NPU; seconds are of the processor. "No buffers": hosts and switches hold no packet on purpose.
set -euo pipefail

usage="usage: examples/astra-sim/compare.sh CHECKOUT [WORKLOADS SIZE] [NPUS...]"
checkout=${1:?$usage}
shift
workloads=$checkout/examples/workload/microbenchmarks
size=1MB
if [ -d "${1:-}" ]; then
    workloads=$1
    size=$2
    shift 2
fi
[ $# -gt 0 ] || set -- 4 8 16

here=$(cd "$(dirname "$0")" && pwd)
theirs=${THEIRS:-$checkout/build/astra_analytical/build/bin/AstraSim_Analytical_Congestion_Aware}
ours=${OURS:-$here/../../build/astra-hxmesh}
[ -x "$theirs" ] || { echo "compare.sh: $theirs is missing: $checkout/build/astra_analytical/build.sh" >&2; exit 4; }
[ -x "$ours" ] || { echo "compare.sh: $ours is missing: make -C examples/astra-sim ASTRA_SIM=$checkout" >&2; exit 4; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# run NPUS COLLECTIVE PROGRAM [ARGUMENT...]: "CYCLES SECONDS" of a job on $folder/network.yml.
run() {
    local npus=$1 collective=$2 program=$3 TIMEFORMAT='%U %S'
    shift 3
    { time "$program" \
        --workload-configuration="$workloads/$collective/${npus}npus_$size/$collective" \
        --system-configuration="$checkout/examples/system/native_collectives/Ring_4chunks.json" \
        --remote-memory-configuration="$checkout/examples/remote_memory/analytical/no_memory_expansion.json" \
        --network-configuration="$folder/network.yml" --logging-folder="$folder/log" "$@" \
        >"$folder/out"; } 2>"$folder/time"
    local cycles
    cycles=$(sed -n 's/.* finished, \([0-9]*\) cycles.*/\1/p' "$folder/out" | sort -n | tail -n 1)
    echo "$cycles $(awk 'END { printf "%.2f", $1 + $2 }' "$folder/time")"
}

# difference FROM TO: in per cent.
difference() { awk -v from="$1" -v to="$2" 'BEGIN { printf "%+.1f %%", 100 * (to - from) / from }'; }

echo "| network | NPUs | collective | ASTRA-sim, cycles | hxmesh | differs | no buffers | differs | ASTRA-sim, s | hxmesh, s |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for network in Ring FullyConnected Switch; do
    for npus in "$@"; do
        printf 'topology: [%s]\nnpus_count: [%d]\nbandwidth: [50.0]\nlatency: [500.0]\n' \
            "$network" "$npus" >"$folder/network.yml"
        for collective in all_reduce all_gather reduce_scatter all_to_all; do
            read -r cycles seconds <<<"$(run "$npus" "$collective" "$theirs")"
            read -r found taken <<<"$(run "$npus" "$collective" "$ours")"
            read -r bare _ <<<"$(run "$npus" "$collective" "$ours" -- --input-latency 0 --output-latency 0)"
            echo "| $network | $npus | $collective | $cycles | $found | $(difference "$cycles" "$found") |" \
                "$bare | $(difference "$cycles" "$bare") | $seconds | $taken |"
        done
    done
done
