#!/usr/bin/env bash
# The critical path of a job of 16 ranks on three fabrics, as reports print it.
# seconds: 12
job=$(mktemp --suffix .hxs)
trap 'rm -f "$job"' EXIT
hxmesh schedule examples/schedules/pipeline-data.schedule.yaml --write "$job" >/dev/null

# row NAME OPTIONS: a run's line.
row() {
    local name=$1
    shift
    hxmesh run "$@" --clock virtual --traffic "$job" --quiet | awk -v name="$name" '
        /^  schedule  / { for (i = 1; i < NF; i++) if ($i == "in") end = $(i + 1) " " $(i + 2) }
        /computing .*messages .*collectives/ {
            gsub(/\([^)]*\)|,/, "")
            for (i = 1; i < NF; i++) at[$i] = $(i + 1) " " $(i + 2)
            printf "| %s | %s | %s | %s | %s |\n", name, end, at["computing"], at["messages"], at["collectives"]
        }'
}
echo '| | end | computing | messages | collectives |'
echo '|---|---|---|---|---|'
row 'Hx1Mesh, 1 plane' '4x4 Hx1Mesh'
row 'fat tree, 4 planes' 'fat-tree hosts=16 radix=8 taper=3' --planes 4
row 'fat tree, 1 plane' 'fat-tree hosts=16 radix=8 taper=3'
