#!/usr/bin/env bash
# Links between the halves of diameter-two networks, beside METIS 5.1.
# seconds: 2
. docs/figures/common.bash
# halves SPEC: links, and the share of what half the hosts inject.
halves() { hxmesh info "$1" --json - | jq -r '"\(.bisection) \(.bisection_share)"'; }
head_of "" "\`hxmesh info\`" METIS
while IFS=: read -r spec shown metis; do
    read -r links share <<<"$(halves "$spec")"
    row "\`$spec\`" "$(thousands "${links%.0}")$([ "$shown" != share ] || printf ' (%.3f)' "$share")" "$metis"
done <<'LINES'
slim-fly q=5:share:65
slim-fly q=7:share:175
slim-fly q=13 p=9:share:1,105
slim-fly q=13 p=10:share:1,105
mlfm h=6:share:72
mlfm h=15:share:959, of 1,815 and 1,785 hosts
oft k=5:share:68, of 110 and 100 hosts
oft k=12:share:1,184
hyperx 9x9 p=9:no:200
dragonfly a=8 p=4 h=4 groups=33:share:272
kautz degree=4 length=3 p=4:no:76
LINES
