#!/usr/bin/env bash
# Samples of a Slim Fly's all-to-all, per cent of injection. Common shifts: by a build without phases.
# seconds: 120
. docs/figures/common.bash
# line COMMON ALL SPEC MESSAGE: ALL is yes if the whole is run too.
line() {
    local whole='' bound
    bound=$(hxmesh info "$3" --json - | jq '.alltoall_bound' | percent 1)
    [ "$2" = no ] || whole=$(value .share_of_injection "$3" -m "$4" | percent 1)
    row "\`$3 -m $4\`" "$1" "$(value .share_of_injection "$3" -m "$4" --shifts 12 | percent 1)" "$whole" "${bound%.0}"
}
head_of "" "common shifts" phases "all others" bound
line 23.0 no "slim-fly q=13 p=9" 256KiB
line 32.0 yes "slim-fly q=9 p=6" 64KiB
line 48.8 yes "slim-fly q=5 p=4" 64KiB
line 20.9 no "slim-fly q=13 p=10" 64KiB
line 34.5 no "slim-fly q=8 p=6" 64KiB
