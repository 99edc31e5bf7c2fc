#!/usr/bin/env bash
# A binomial broadcast by both orders of sends.
# seconds: 1
. docs/figures/common.bash
for how in "" " --sends shared"; do
    command="hxmesh run \"fat-tree hosts=16\" --clock virtual --link 8 -t examples/schedules/broadcast.goal$how"
    time=$(eval "$command --quiet --json -" | jq '.schedule[0].seconds * 1e3')
    printf '    %-103s  # %.4g ms\n' "$command" "$time"
done
