#!/usr/bin/env bash
# Times of iterations at 100 Gb/s, ms, on seven networks.
# seconds: 50
. docs/figures/common.bash
networks=(TopoOpt ideal "fat tree" "2:1 tree" expander OCS-reconfig SiP-ML)
head_of "ms, d = 4, 100 Gb/s" "${networks[@]}"
reproduced topoopt/fig11 | jq -r '.[] | select(.gbps == 100) | [.job, .network, .seconds * 1e3] | @tsv' |
    awk -F '\t' -v names="$(printf '%s|' "${networks[@]}")" '
        BEGIN { networks = split(names, network, "|") - 1 }
        !($1 in seen) { seen[$1] = 1; job[++jobs] = $1 }
        { ms[$1, $2] = $3 }
        END {
            for (i = 1; i <= jobs; i++) {
                printf "| %s |", job[i]
                for (k = 1; k <= networks; k++) printf " %.2f |", ms[job[i], network[k]]
                print ""
            }
        }'
