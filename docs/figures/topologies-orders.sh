#!/usr/bin/env bash
# Orders of dimensions: permutations, all-to-all, uniform traffic. The other orders: by builds that had them.
# seconds: 150
. docs/figures/common.bash
# line TITLE ORDER VCS SPEC SEEDS PERMUTATION ALL_TO_ALL: bytes of a message; of 16 KiB all-to-all is in us.
line() {
    local all
    all=$(value "if $7 < 32768 then .seconds * 1e6 else .share_of_injection * 100 end" "$4" -m "$7" | rounded 1)
    [ "$7" -ge 32768 ] || all+=" us"
    row "$1" "**$2**" "$3" "$(over_seeds "$5" '.seconds * 1e6' "$4" -t permutation -m "$6" | rounded 0)" "$all" \
        "$(value .share_of_injection "$4" -t uniform -n 0 -d 100us --warm-up 40us -m 64KiB | percent 1)"
}
head_of "" order VCs "permutation, us" all-to-all uniform
row "\`torus 8x8x4\`, 4 MiB, seeds 1 to 3" dimension 2 357 16.1 14.7
line "" any 4 "torus 8x8x4" 3 4MiB 65536
row "\`torus 8x8x8\`" dimension 2 98 "178.4 us" 14.9
line "" any 4 "torus 8x8x8" 5 1MiB 16384
row "\`torus 6x5x7\`" dimension 2 81 "62.8 us" 15.2
line "" any 4 "torus 6x5x7" 5 1MiB 16384
row "\`torus 4x4x4x4\`, 4 MiB, seeds 1 to 3" dimension 2 236 24.0 23.3
line "" "two and two" 3 "torus 4x4x4x4" 3 4MiB 65536
row "" "three, then the last" 4 212 24.0 21.9
row "\`torus 5x5x4x4\`" dimension 2 84 "83.5 us" 19.6
line "" "two and two" 3 "torus 5x5x4x4" 5 1MiB 16384
row "" "three, then the last" 4 65 "83.7 us" 20.3
row "\`hyperx 3x3x3x3\`, 4 MiB, seeds 1 to 3" dimension 1 359 97.9 95.3
line "" any 4 "hyperx 3x3x3x3" 3 4MiB 65536
line "\`mesh 8x8x4\`, 4 MiB, seeds 1 to 3" dimension 1 "mesh 8x8x4" 3 4MiB 65536
row "" "any, down first" 1 598 3.0 4.2
