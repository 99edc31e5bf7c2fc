#!/usr/bin/env bash
# Exchanges on the diameter-two networks.
# seconds: 62
. docs/figures/diameter2.bash
# lines TITLE TRAFFIC SIZE
lines() {
    local spec how cells title=$1
    for spec in "slim-fly q=5 p=3" "slim-fly q=5 p=4" "mlfm h=6" "oft k=5"; do
        cells=()
        for how in minimal valiant ugal:n=1,c=1 ugal:n=1,c=2 ugal:n=4,c=2 ugal:n=4,c=2,t=0.1; do
            cells+=("$(exchange "$spec" "$how" "$2" "$3")")
        done
        row "$title\`$spec\`" "${cells[@]}"
        title=
    done
}
head_of "" minimal Valiant "UGAL-L, n=1, c=1" "n=1, c=2" "n=4, c=2" "with t=0.1"
lines "all-to-all, " all-to-all-random 240KiB
lines "neighbours, " neighbour-3d 512KiB
