#!/usr/bin/env bash
# Mean boards in use, and traffic over the upper level, of 1,000 mixes by seven rules.
# seconds: 13
. docs/figures/common.bash
# line TITLE OPTION...: with traffic of the fabric that has an upper level.
line() {
    local spec cells=() cell
    for spec in "16x16 Hx2Mesh" "8x8 Hx4Mesh" "64x64 Hx2Mesh" "32x32 Hx4Mesh"; do
        hxmesh allocate "$spec" --mixes 1000 "${@:2}" --json - >"$HX_WORK/mixes.json"
        cell=$(jq .utilization.mean "$HX_WORK/mixes.json" | percent 1)
        [[ $spec != 64x64* ]] ||
            cell+=" ($(jq '.upper_all_to_all.mean, .upper_all_reduce.mean' "$HX_WORK/mixes.json" |
                awk '{ printf "%s%.*f", (NR > 1 ? ", " : ""), (100 * $1 < 1 ? 1 : 0), 100 * $1 }'))"
        cells+=("$cell")
    done
    row "$1" "${cells[@]}"
}
head_of rules "16x16 Hx2Mesh" "8x8 Hx4Mesh" "64x64 Hx2Mesh" "32x32 Hx4Mesh"
line "greedy alone (\`--no-transpose --aspect 1 --search 0\`)" --no-transpose --aspect 1 --search 0
line "and transposed (\`--aspect 1 --search 0\`)" --aspect 1 --search 0
line "and other shapes (\`--search 0\`)" --search 0
line "and a search (default)"
line "and \`--locality all-to-all\`" --locality all-to-all
line "\`--sort\`" --sort
line "\`--sort --locality all-to-all\`" --sort --locality all-to-all
