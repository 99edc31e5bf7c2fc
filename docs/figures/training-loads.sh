#!/usr/bin/env bash
# Mixtral with one expert that has more tokens than the others, packet by packet and by the estimate.
# seconds: 400
. docs/figures/common.bash
head_of "load of the first expert" "of the fullest rank" simulated estimate "experts' all-to-all exposed"
for hot in 1 2 4; do
    hxmesh train "8x8 Hx1Mesh" examples/models/mixtral-8x7b.model.yaml --set hot=$hot --quiet --json - |
        jq -r '[.expert_load, (.fabrics[0] | .run.iteration_seconds * 1e3, .estimate.iteration_seconds * 1e3,
                (.purposes[] | select(.purpose == "expert").exposed_seconds * 1e3))] | @tsv' |
        awk -v hot=$hot '{ printf "| %d | %.3g | %.4g ms | %.4g ms | %.4g ms |\n", hot, $1, $2, $3, $4 }'
done
