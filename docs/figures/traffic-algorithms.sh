#!/usr/bin/env bash
# All-reduces by three algorithms side by side, without the lines that say how and when.
# seconds: 1
. docs/figures/common.bash
hxmesh sweep "4x4 Hx2Mesh" --clock virtual -t all-reduce --algorithm tree,rings,torus -m 1KiB,16KiB,1MiB,16MiB \
    --quiet | sed '1,/^$/d' | fenced
