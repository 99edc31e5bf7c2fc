#!/usr/bin/env bash
# An iteration of DLRM on circuits: closed form and packets.
# seconds: 100
. docs/figures/common.bash
job=$PWD/examples/models/dlrm-topoopt.model.yaml
examples_of circuits
head_of "DLRM, d = 4, 100 Gb/s, \`--strategy placed\`" "closed form" packets
for servers in 12 128; do
    hxmesh topology "$job" --servers $servers --strategy placed --write dlrm --packets --quiet --json - |
        jq -r '.fabrics[0], .packets | [.exchanges_seconds, .sums_seconds, .iteration_seconds] | map(. * 1e3) | @tsv' |
        awk '
            function three(ms) { return sprintf("%.*f", (ms < 10 ? 2 : ms < 100 ? 1 : 0), ms) }
            { print three($1) "; " three($2) "; " three($3) " ms" }' | {
        mapfile -t cells
        row "$servers servers: exchanges; sums; iteration" "${cells[@]}"
    }
done
