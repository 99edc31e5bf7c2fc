#!/usr/bin/env bash
# Estimates less runs of eight jobs on fabrics that inject equally.
# seconds: 1500
. docs/figures/common.bash
# compared FABRIC JOB OPTION...: of each fabric, the difference in per cent of the iteration, and of its network time.
compared() {
    hxmesh train "$@" --equal-injection --workers 1 --quiet --json - | jq -r '.fabrics[] |
        "\(100 * .estimate_difference) \(100 * (.estimate.network_seconds - .run.network_seconds) / .run.network_seconds)"' |
        awk '
            function signed(digits, number, text) {
                text = sprintf("%+.*f", digits, number)
                return text + 0 == 0 ? substr(text, 2) : text
            }
            { print signed(1, $1) ", " signed(0, $2) }'
}

# line RANKS MESH TORUS|- FILE OPTION...
line() {
    local cells compare=(--compare "fat-tree hosts=$1")
    [ "$3" = - ] || compare+=(--compare "$3")
    mapfile -t cells < <(compared "$2" "$4" "${@:5}" "${compare[@]}")
    row "\`$(basename "$4")${5:+ ${*:5}}\`" "$1" "${cells[0]}" "${cells[1]}" "${cells[2]:-}"
}
ln -s "$PWD/examples" "$HX_WORK/" && examples_of training mine.model.yaml && ln -s ../examples .
head_of job ranks HammingMesh "fat tree" torus
line 8 "4x2 Hx1Mesh" "torus 4x2" examples/schedules/data-parallel.schedule.yaml
line 16 "2x2 Hx2Mesh" "torus 4x4" examples/schedules/pipeline-data.schedule.yaml
line 16 "2x2 Hx2Mesh" "torus 4x4" mine.model.yaml
line 64 "4x4 Hx2Mesh" "torus 8x8" mine.model.yaml --set data=16
line 64 "4x4 Hx2Mesh" "torus 8x8" examples/models/mixtral-8x7b.model.yaml
line 128 "8x4 Hx2Mesh" - examples/models/gpt-13b.model.yaml
line 128 "8x4 Hx2Mesh" "torus 16x8" examples/models/dlrm.schedule.yaml
line 384 "12x8 Hx2Mesh" "torus 24x16" examples/models/gpt-3-sc22.schedule.yaml
