#!/usr/bin/env bash
# Saturation of the diameter-two networks by adaptive routing, uniform and worst case.
# seconds: 26
. docs/figures/diameter2.bash
head_of "" "n=1, c=1" "n=4, c=1" "n=1, c=2" "n=4, c=2"
while IFS=: read -r title spec threshold; do
    cells=()
    for how in n=1,c=1 n=4,c=1 n=1,c=2 n=4,c=2; do
        how=ugal:$how$threshold
        cells+=("$(at_full_load "$spec" "$how" uniform) / $(at_full_load "$spec" "$how" worst-case)")
    done
    row "$title" "${cells[@]}"
done <<'LINES'
SF-A, `slim-fly q=5 p=3`:slim-fly q=5 p=3:
SF-ATh:slim-fly q=5 p=3:,t=0.1
MLFM-A, `mlfm h=6`:mlfm h=6:
MLFM-ATh:mlfm h=6:,t=0.1
OFT-A, `oft k=5`:oft k=5:
OFT-ATh:oft k=5:,t=0.1
LINES
