#!/usr/bin/env bash
# All-reduces of 1,024 accelerators by five algorithms.
# seconds: 48
. docs/figures/common.bash
# lines SPEC: a line for each size. What takes minutes is left out.
lines() {
    local size algorithm cells title="\`$1\`"
    for size in 32 2KiB 16KiB 128KiB 1MiB 8MiB; do
        cells=()
        for algorithm in torus halving doubling swing swing-doubling; do
            case $algorithm-$size in
            halving-8MiB | swing-doubling-8MiB | doubling-*MiB | doubling-128KiB) cells+=(-) ;;
            *) cells+=("$(time_in us "$1" -t all-reduce --algorithm "$algorithm" -m "$size")") ;;
            esac
        done
        row "$title" "$(sed -E 's/^([0-9]+)$/\1 B/; s/([KM])/ \1/' <<<"$size")" "${cells[@]}" \
            "$(awk 'function better(a, b) { return a == "-" || b != "-" && b < a ? b : a }
                { printf "%.1f\n", better(better($1, $2), $3) / better($4, $5) }' <<<"${cells[*]}")"
        title=
    done
}
head_of spec message torus halving doubling swing swing-doubling "best other / best swing"
lines "torus 32x32"
lines "16x16 Hx2Mesh"
lines "8x8 Hx4Mesh"
