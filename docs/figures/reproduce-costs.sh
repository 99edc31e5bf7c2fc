#!/usr/bin/env bash
# Costs of the clusters of table II, M$.
# seconds: 4
. docs/figures/common.bash
# cost SPEC
cost() { hxmesh info "$1" --json - | jq '.cost_usd / 1e6' | rounded 2; }
head_of spec paper here spec paper here
while IFS=: read -r left paper title right other; do
    more=("" "" "")
    [ -z "$right" ] || more=("$title" "$other" "$(cost "$right")")
    row "\`$left\`" "$paper" "$(cost "$left")" "${more[@]}"
done <<'LINES'
16x16 Hx2Mesh:5.4:`fat-tree`, 16,384 hosts:fat-tree hosts=16384:680
8x8 Hx4Mesh:2.7:the same, 42 and 22:fat-tree hosts=16384 down=42 up=22:419
32x32 Hx1Mesh:10.8:the same, 51 and 13:fat-tree hosts=16384 down=51 up=13:271
64x64 Hx2Mesh:224:`dragonfly`, 16,320 hosts:dragonfly a=32 p=17 h=16 groups=30:429
32x32 Hx4Mesh:43.3:`torus 128x128 board=2x2`:torus 128x128 board=2x2:39.5
128x128 Hx1Mesh:448:::
LINES
