#!/usr/bin/env bash
# compare.sh - ASTRA-sim's micro-benchmarks over its congestion-aware network and over hxmesh, as a table.
#
#   examples/astra-sim/compare.sh CHECKOUT [NPUS...]
#
# Both are built (README.md). Cycles are ns: those of the last NPU.
set -euo pipefail

checkout=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
theirs=${THEIRS:-$checkout/build/astra_analytical/build/bin/AstraSim_Analytical_Congestion_Aware}
ours=${OURS:-$here/../../build/astra-hxmesh}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# run PROGRAM NPUS COLLECTIVE: "CYCLES SECONDS" of a job on $folder/network.yml.
run() {
    local begin=$EPOCHREALTIME
    "$1" --workload-configuration="$checkout/examples/workload/microbenchmarks/$3/$2npus_1MB/$3" \
        --system-configuration="$checkout/examples/system/native_collectives/Ring_4chunks.json" \
        --remote-memory-configuration="$checkout/examples/remote_memory/analytical/no_memory_expansion.json" \
        --network-configuration="$folder/network.yml" --logging-folder="$folder/log" >"$folder/out"
    local cycles
    cycles=$(sed -n 's/.* finished, \([0-9]*\) cycles.*/\1/p' "$folder/out" | sort -n | tail -n 1)
    echo "$cycles $(awk -v from="$begin" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.2f", to - from }')"
}

echo "| network | NPUs | collective | ASTRA-sim, cycles | hxmesh, cycles | difference | ASTRA-sim, s | hxmesh, s |"
echo "|---|---|---|---|---|---|---|---|"
[ $# -gt 0 ] || set -- 4 8 16
for network in Ring FullyConnected Switch; do
    for npus in "$@"; do
        printf 'topology: [%s]\nnpus_count: [%d]\nbandwidth: [50.0]\nlatency: [500.0]\n' \
            "$network" "$npus" >"$folder/network.yml"
        for collective in all_reduce all_gather reduce_scatter all_to_all; do
            read -r cycles seconds <<<"$(run "$theirs" "$npus" "$collective")"
            read -r our_cycles our_seconds <<<"$(run "$ours" "$npus" "$collective")"
            difference=$(awk -v a="$cycles" -v b="$our_cycles" 'BEGIN { printf "%+.1f %%", 100 * (b - a) / a }')
            echo "| $network | $npus | $collective | $cycles | $our_cycles | $difference | $seconds | $our_seconds |"
        done
    done
done
