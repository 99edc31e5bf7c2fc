#!/usr/bin/env bash
# What one dead link costs a collective.
# seconds: 9
. docs/figures/common.bash
# a_row NAME OPTION...: with one plane and with four.
a_row() {
    local planes name=$1
    for planes in 1 4; do
        report "8x8 Hx2Mesh" "${@:2}" --planes "$planes" --fault "a4,4/p0/E down" --compare-healthy | jq -r --arg name "$name" '
            def us: . * 1e7 | round / 10;
            def times: . * 100 | round / 100;
            .cost_of_faults | "| \($name) | \(.links_left.links) | \(.seconds.without | us) us | \(.seconds.with | us) us | " +
            "\(.seconds.ratio | times) | \(.links_left.least_ratio | times) |"'
    done
}
head_of "8x8 Hx2Mesh, \`a4,4/p0/E down\`" "links" "without" "with" "times" "at least, if links are full"
a_row "all-reduce of 16 MiB, \`--algorithm rings\`" -t all-reduce -m 16MiB --algorithm rings
a_row "all-reduce of 16 MiB, \`--algorithm torus\`" -t all-reduce -m 16MiB --algorithm torus
a_row "all-to-all of 64 KiB" -t all-to-all -m 64KiB
