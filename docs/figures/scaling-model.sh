#!/usr/bin/env bash
# Times of runs on many machines, by the model.
# seconds: 1
. docs/figures/common.bash
head_of traffic accelerators machines "rank meets" "work, us" "messages, us" "latency, us" "s, 10 Gb/s" "s, 100 Gb/s"
paste -d ' ' <(mk/scaling-model.sh) <(mk/scaling-model.sh link=100) | tail -n +2 |
    while read -r traffic hosts machines meets work messages latency _ s bound _ _ _ _ _ _ _ _ faster other; do
        hosts=$(sed -E ':again; s/([0-9])([0-9]{3})(,|$)/\1,\2\3/; t again' <<<"$hosts")
        row "$traffic" "$hosts" "$machines" "$meets" "$work" "$messages" "$latency" "$s $bound" "$faster $other"
    done
