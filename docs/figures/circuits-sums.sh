#!/usr/bin/env bash
# A sum of gradients among 12 servers, of four sizes.
# seconds: 1
. docs/figures/common.bash
examples_of circuits
head_of vector "closed form, us" "packets, us" longer
for parameters in 1000 100000 1000000 10000000; do
    cat >sum.model.yaml <<END
model: Sum
values: {servers: 12}
samples: servers
accelerator: {flops: 1 TFLOPS}
parallelism: {data: servers}
bytes: {activations: 4, gradients: 4, parameters: 4}
layers:
  - {name: dense, parameters: $parameters, activations: 1, flops: 0}
END
    hxmesh topology sum.model.yaml --strategy placed --write sum --packets --quiet --json - |
        jq -r '[.fabrics[0].sums_seconds, .packets.sums_seconds] | @tsv' |
        awk -v bytes=$((4 * parameters)) '{
            printf "| %s | %.1f | %.1f | %.0f %% |\n", bytes < 1e6 ? bytes / 1e3 " KB" : bytes / 1e6 " MB", $1 * 1e6,
                $2 * 1e6, 100 * $2 / $1 - 100
        }'
done
