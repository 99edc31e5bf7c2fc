#!/usr/bin/env bash
# Hierarchical all-reduces in networks of dimensions: us, and how busy links were.
# seconds: 90
. docs/figures/common.bash
# line SPEC NPUS SIZE...: of the sizes up to 64 MiB. What takes minutes is left out.
line() {
    local size cells=() busy=
    for size in 1MiB 4MiB 16MiB 64MiB; do
        case "$1-$size" in Ring\(2\)*-64MiB) cells+=(-) && continue ;; esac
        report "$1" -t all-reduce --algorithm hierarchy -m "$size" |
            jq '{seconds, link_classes}' >"$HX_WORK/hierarchy.json"
        cells+=("$(jq '.seconds * 1e6' "$HX_WORK/hierarchy.json" | rounded 1 | sed -E 's/([0-9])([0-9]{3}\.)/\1,\2/')")
        [ "$size" != 16MiB ] || busy=$(jq '.link_classes[] | select(.class != "host").busy' "$HX_WORK/hierarchy.json" | percent 1 | paste -sd ,)
    done
    row "\`$1\`" "$2" "${cells[@]}" "${busy//,/, }"
}
head_of spec NPUs "1 MiB" "4 MiB" "16 MiB" "64 MiB" "busy at 16 MiB, by dimension"
line "Ring(8)_Switch(64)" 512
line "Ring(8)_FC(8)_Switch(16)" 1,024
line "Ring(2)_FC(8)_Ring(8)_Switch(8)" 1,024
line "Ring(4)_FC(4)_Switch(4) gbps=400,67,50" 64
