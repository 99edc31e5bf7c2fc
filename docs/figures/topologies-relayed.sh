#!/usr/bin/env bash
# Microseconds with detours by explicit messages.
# seconds: 20
. docs/figures/common.bash
# us N EIGHTHS HOW PATTERN SEEDS: mean of the seeds.
us() {
    local seed
    for ((seed = 1; seed <= $5; seed++)); do
        examples/detours/relayed.sh "$1" "$2" "$3" "$4" "$seed" >"$HX_WORK/relayed.csv"
        value ".seconds * 1e6" "$1x$1 Hx2Mesh" --traffic "$HX_WORK/relayed.csv"
    done | mean | rounded 1
}

# line TITLE EIGHTHS HOW
line() {
    row "$1" "$(us 4 "$2" "$3" permutation 10)" "$(us 8 "$2" "$3" permutation 10)" "$(us 4 "$2" "$3" neighbours 1)" \
        "$(us 8 "$2" "$3" neighbours 1)"
}
head_of eighths "permutation, 4x4 Hx2Mesh" 8x8 "neighbours, 4x4" 8x8
line 0 0 line
line "1, one extra crossing (\`line\`)" 1 line
line 4 4 line
line 8 8 line
line "1, any board (\`any\`)" 1 any
line 4 4 any
line 8 8 any
