# Where a job of 16 ranks spends its time, on three fabrics.
# seconds: 4
job=$(mktemp --suffix .hxs)
trap 'rm -f "$job"' EXIT
hxmesh schedule examples/schedules/pipeline-data.schedule.yaml --write "$job" >/dev/null

# row NAME JSON: the critical path of a report.
row() {
    jq --raw-output --arg name "$1" '
        def ms: . * 1e5 | round / 100 | tostring + " ms";
        (.schedule[0] // .).critical_path |
        "| \($name) | \(.seconds | ms) | \(.computing | ms) | \(.messages | ms) | \(.collectives | ms) |"' <<<"$2"
}
# simulated OPTIONS: the report of a run.
simulated() {
    hxmesh run "$@" --clock virtual --traffic "$job" --quiet --json -
}
echo '| | end | computing | messages | collectives |'
echo '|---|---|---|---|---|'
row 'Hx1Mesh, 1 plane' "$(simulated '4x4 Hx1Mesh')"
row 'fat tree, 4 planes' "$(simulated 'fat-tree hosts=16 radix=8 taper=3' --planes 4)"
row 'fat tree, 1 plane' "$(simulated 'fat-tree hosts=16 radix=8 taper=3')"
