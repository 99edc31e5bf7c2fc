#!/usr/bin/env bash
# All-reduces of 256 MiB over the number of nodes, us. What takes a quarter of an hour is left out.
# seconds: 600
. docs/figures/eflops.bash
head_of "256 MiB" 64 256 1,024
while IFS=: read -r title way; do
    cells=()
    for hosts in 64 256 1024; do
        case $way-$hosts in
        tree*-1024 | *random-1024 | *linear-1024) cells+=(-) ;;
        *) cells+=("$(us 6.5 $hosts "$way" 256MiB | awk '{ printf "%d,%03d\n", $1 / 1000, $1 % 1000 }')") ;;
        esac
    done
    row "$title" "${cells[@]}"
done <<'LINES'
fat tree, ring:tree ring
fat tree, halving:tree halving
BiGraph, ring:bigraph ring
BiGraph, halving, random:bigraph random
BiGraph, halving, linear:bigraph linear
BiGraph, HDRM:bigraph hdrm
LINES
