#!/usr/bin/env bash
# Models with and without --fast-forward: packets that are simulated, and iterations.
# seconds: 300
. docs/figures/common.bash
head_of "\`--fast-forward 1%\`" "packets simulated" "all packets" "fast-forward" difference
while IFS=: read -r title spec model algorithm; do
    both=()
    for option in 0 1%; do
        both+=("$(hxmesh run "$spec" --clock virtual --traffic "examples/models/$model.model.yaml" --place fold \
            ${algorithm:+--algorithm "$algorithm"} --workers 1 --no-links --fast-forward $option --quiet --json - |
            jq -r '[.fast_forward.simulated_share // 1, .schedule[0].seconds * 1e3] | @tsv')")
    done
    printf '%s\t%s\n' "${both[@]}" | awk -v title="$title" \
        '{ printf "| %s | %.0f %% | %.4g ms | %.4g ms | %.2f %% |\n", title, 100 * $3, $2, $4, 100 * ($4 / $2 - 1) }'
done <<'LINES'
`gpt-13b`, 8x4 Hx2Mesh, `--algorithm ring`:8x4 Hx2Mesh:gpt-13b:ring
`mixtral-8x7b`, 8x8 Hx1Mesh:8x8 Hx1Mesh:mixtral-8x7b:
LINES
