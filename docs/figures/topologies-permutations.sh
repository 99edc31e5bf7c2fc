#!/usr/bin/env bash
# A permutation in fat trees, per cent of injection.
# seconds: 12
. docs/figures/common.bash
# share SEEDS OPTION...: mean of the seeds of $spec.
share() {
    over_seeds "$1" .share_of_injection "$spec" -t permutation -m 1MiB -n 0 -d 200us --warm-up 100us "${@:2}" | percent 1
}

# line SEEDS SPEC LEVELS WAYS
line() {
    local spec=$2 shallow=
    [[ $spec = *levels=3 ]] || shallow=$(share "$1" --buffer 128KiB)
    [[ $spec = *levels=3 ]] && title="the same with \`levels=3\`, one pod" || title="\`$spec\`"
    row "$title" "$3" "$4" "$(share "$1")" "$shallow"
}
head_of spec levels "routes from the top to a leaf" "default buffers" "\`--buffer 128KiB\` (16 packets)"
line 3 "fat-tree hosts=64 radix=16" 2 2
line 3 "fat-tree hosts=64 radix=16 levels=3" 3 "1, from the middle"
line 3 "fat-tree hosts=128 radix=16" 2 1
line 3 "fat-tree hosts=32 radix=8" 2 1
line 3 "fat-tree hosts=64 radix=8" 3 "2, of 4 pods"
line 3 "fat-tree hosts=128 radix=8" 3 "1, of 8 pods"
line 1 "fat-tree hosts=1024 radix=16" 3 "1, of 16 pods"
