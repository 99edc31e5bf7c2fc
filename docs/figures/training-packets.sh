#!/usr/bin/env bash
# Models packet by packet and by the estimate.
# seconds: 900
. docs/figures/common.bash
head_of "packet by packet" simulated estimate
while IFS=: read -r title spec model algorithm; do
    hxmesh train "$spec" "examples/models/$model.model.yaml" ${algorithm:+--algorithm "$algorithm"} --quiet --json - |
        jq -r '.fabrics[0] | [.run.iteration_seconds, .estimate.iteration_seconds] | map(. * 1e3) | @tsv' |
        awk -v title="$title" '{ printf "| %s | %.4g ms | %.4g ms |\n", title, $1, $2 }'
done <<'LINES'
`mixtral-8x7b`, 8x8 Hx1Mesh:8x8 Hx1Mesh:mixtral-8x7b:
`gpt-13b`, 8x4 Hx2Mesh, `--algorithm ring`:8x4 Hx2Mesh:gpt-13b:ring
`llama3-8b`, 32x32 Hx2Mesh:32x32 Hx2Mesh:llama3-8b:
LINES
