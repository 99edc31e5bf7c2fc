#!/usr/bin/env bash
# All-to-all of fat trees with ports that do not divide evenly, per cent of the uplinks' bound.
# seconds: 56
. docs/figures/common.bash
shares=()
while read -r hosts down up; do
    shares+=("$(value .share_of_bound "fat-tree hosts=$hosts radix=32 down=$down up=$up" --shifts 200 -n 0 -d 60us \
        --warm-up 30us | percent 1)")
done <<<$'2048 21 11\n2048 25 7\n2001 17 15\n2000 16 16'
head_of hosts 2,048 2,048 2,001 2,000
row "\`down=\` \`up=\`" "21, 11" "25, 7" "17, 15" "16, 16 (the last pod reaches only some top switches)"
row "" "${shares[@]}"
