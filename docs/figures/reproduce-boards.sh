#!/usr/bin/env bash
# Boards in use by rules of allocation: means, in brackets the first percentile.
# seconds: 12
. docs/figures/common.bash
head_of "boards in use, %" "16x16 Hx2Mesh" "8x8 Hx4Mesh" "64x64 Hx2Mesh" "32x32 Hx4Mesh"
while IFS=: read -r title rule; do
    mapfile -t cells < <(reproduced hammingmesh/fig8 | jq -r --arg rule "$rule" '
        .[] | select(.rule == $rule).utilization | [.mean, .p1] | @tsv' |
        awk '{ printf "%.1f (%.1f)\n", 100 * $1, 100 * $2 }')
    row "$title" "${cells[@]}"
done <<'LINES'
greedy:greedy
and transposed:+ transpose
and other shapes:+ aspect
and sorted:+ aspect, sorted
LINES
