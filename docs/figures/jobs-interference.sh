#!/usr/bin/env bash
# Slowdown of jobs on four fabrics.
# seconds: 135
. docs/figures/common.bash
head_of "" placed mean worst "packets over shared links" "over others' hosts"
reproduced jobs/interference | jq -r '.[] | [.fabric, .place, .slowdown_mean, .slowdown_max,
    .packets_over_shared_links, .foreign_packets] | @tsv' | awk -F '\t' '
    BEGIN {
        title["8x8"] = "8x8 Hx2Mesh"; title["torus"] = "torus 8x8x4"
        title["fat-tree"] = "fat tree, two hosts per uplink"
        title["dragonfly"] = "Dragonfly (a=8 p=4 h=4 groups=8)"
    }
    function show() { if (place) printf "| %s | %s | %s |\n", name, place, figures }
    {
        same = $1 == fabric
        next_figures = sprintf("%.3f | %.3f | %.1f %% | %.1f %%", $3, $4, 100 * $5, 100 * $6)
        sub(/^group$/, "by group", $2); gsub(/ 0\.0 %/, " 0 %", next_figures)
        if (same && next_figures == figures) { place = place ", " $2; next }
        show(); split($1, word, " ")
        name = same ? "" : title[word[1]]; fabric = $1; place = $2; figures = next_figures
    }
    END { show() }'
