# asan
# info.bats - hxmesh info: the figures of a fabric, as JSON and as a table.

load tools_support

@test "info: JSON has the keys of the design" {
    info "4x4 Hx2Mesh" --json - | judge '
        has("accelerators") and has("planes") and has("switches") and (.cables | has("dac") and has("aoc")) and
        has("cost_usd") and has("diameter") and has("bisection") and has("alltoall_bound")'
}

@test "info: the paper's clusters" {
    info "16x16 Hx2Mesh" --json - | judge '
        .accelerators == 1024 and .switches == 128 and .cables == {dac: 4096, aoc: 4096} and .cost_usd == 5411840 and
        .diameter == 4 and .bisection == 512 and .bisection_share == 0.25 and
        (.alltoall_bound - 4/15 | fabs < 1e-8)'
    info "8x8 Hx4Mesh" --json - | judge '.cost_usd == 2705920 and .diameter == 8 and (.alltoall_bound - 1/7 | fabs < 1e-8)'
    info "32x32 Hx1Mesh" --json - | judge '.cost_usd == 10823680 and .diameter == 4'
    info "64x64 Hx2Mesh" --json - | judge '.cost_usd == 224116736 and .accelerators == 16384 and .diameter == 8'
    info "32x32 Hx4Mesh" --json - | judge '.cost_usd == 43294720 and .diameter == 8'
}

@test "info: cost is that of four planes whatever is emulated" {
    one=$(info "4x4 Hx2Mesh" --json -)
    four=$(info "4x4 Hx2Mesh" --planes 4 --json -)
    [ "$(jq .planes <<<"$one")" = 1 ]
    [ "$(jq .planes <<<"$four")" = 4 ]
    [ "$(jq .cost_planes <<<"$one")" = 4 ]
    [ "$(jq 'del(.planes)' <<<"$one")" = "$(jq 'del(.planes)' <<<"$four")" ]
}

@test "info: radix and taper change the networks" {
    info "4x4 Hx2Mesh" --radix 4 --json - | judge '.row_network == {ports: 8, leaves: 4, spines: 2} and .diameter == 8'
    info "6x1 Hx1Mesh" --radix 6 --taper 2 --json - | judge '.row_network == {ports: 12, leaves: 3, spines: 1}'
}

@test "info: the table says the same" {
    run info "16x16 Hx2Mesh"
    [ "$status" -eq 0 ]
    [[ "$output" == *"1024 (32 x 32), on 16 x 16 boards of 2 x 2"* ]]
    [[ "$output" == *"5.41 M\$, for 4 planes"* ]]
    [[ "$output" == *"26.67 % of injection"* ]]
}

@test "info: a single accelerator" {
    info "1x1 Hx1Mesh" --json - | judge '.accelerators == 1 and .diameter == 0 and .bisection == 0 and .alltoall_bound == 1'
}

@test "info: --json writes a file" {
    info "2x2 Hx2Mesh" --json "$BATS_TEST_TMPDIR/info.json"
    judge '.accelerators == 16' <"$BATS_TEST_TMPDIR/info.json"
}

@test "info: the examples are good" {
    info examples/lab.hxm.yaml --json - | judge '.name == "lab" and .planes == 2'
    info examples/jobs.hxm.yaml --json - | judge '.spec == "4x4 Hx2Mesh"'
}

@test "info: an option goes before the file" {
    info examples/lab.hxm.yaml --planes 3 --json - | judge '.planes == 3'
}
