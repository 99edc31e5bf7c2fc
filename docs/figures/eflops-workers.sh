#!/usr/bin/env bash
# Algorithm bandwidth of 256 MiB by workers, Gb/s.
# seconds: 60
. docs/figures/eflops.bash
head_of "" 8 16 32 64
while IFS=: read -r title way; do
    cells=()
    for hosts in 8 16 32 64; do
        cells+=("$(us 16.6 $hosts "$way" 256MiB | awk '{ printf "%.2f\n", 268435456 * 8 / $1 / 1e3 }')")
    done
    row "$title" "${cells[@]}"
done <<'LINES'
ring:ring
halving, random:random
halving, linear:linear
HDRM:hdrm
LINES
