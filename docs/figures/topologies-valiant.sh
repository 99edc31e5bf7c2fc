#!/usr/bin/env bash
# What Valiant carries, share of injection.
# seconds: 2
. docs/figures/common.bash
head_of "" uniform "worst case"
for spec in "dragonfly a=4 p=2 h=2 groups=9" "slim-fly q=5 p=3" "hyperx 6x6 p=3"; do
    cells=()
    for traffic in uniform worst-case; do
        cells+=("$(value .share_of_injection "$spec" --routing valiant -t "$traffic" -m 64KiB -n 0 -d 60us \
            --warm-up 20us | rounded 2)")
    done
    row "\`$spec\`" "${cells[@]}"
done
