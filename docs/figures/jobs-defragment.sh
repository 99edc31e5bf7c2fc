#!/usr/bin/env bash
# Moving 148 accelerators of a fragmented fabric.
# seconds: 2
. docs/figures/common.bash
cd "$HX_WORK" || exit
head_of "state of an accelerator" moved "one plane" "four planes"
for state in 4MiB 16MiB; do
    moved=$(hxmesh allocate "$OLDPWD/examples/fragmented.hxm.yaml" 8x8 --defragment --state "$state" --moves moves.csv |
        sed -n 's/.*boards, \(.*\) at .*/\1/p')
    cells=()
    for planes in 1 4; do
        cells+=("$(value '.seconds * 1e3' "16x16 Hx2Mesh" --planes "$planes" --traffic moves.csv | rounded 3) ms")
    done
    row "${state/MiB/ MiB}" "$moved" "${cells[@]}"
done
