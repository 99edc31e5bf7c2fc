# asan
# check.bats - hxmesh check: the proof that a fabric cannot deadlock.

load tools_support

@test "check: JSON has the keys of the design, and all is well" {
    check "4x4 Hx2Mesh" --json - | judge '
        .acyclic and .vcs == 3 and .unreachable == 0 and .diameter == 4 and .channels > 0 and .dependencies > 0 and
        .dead_ends == 0 and .minimal and .cycle == [] and .pairs == 64 * 63'
}

@test "check: many shapes are good" {
    for spec in "1x1 Hx1Mesh" "1x1 Hx4Mesh" "2x2 Hx4Mesh" "5x3 Hx1Mesh" "3x2 H2x4Mesh" "2x3 H5x3Mesh"; do
        check "$spec" --json - | judge '.acyclic and .unreachable == 0 and .dead_ends == 0 and .minimal and .vcs <= 3'
    done
    for options in "--radix 4" "--radix 6" "--radix 5 --taper 2" "--radix 8 --taper 3"; do
        # shellcheck disable=SC2086
        check "3x4 Hx2Mesh" $options --json - | judge '.acyclic and .unreachable == 0 and .diameter >= 4'
    done
}

@test "check: agrees with info on the diameter" {
    for spec in "16x16 Hx2Mesh" "8x8 Hx4Mesh" "5x2 H3x1Mesh"; do
        [ "$(check "$spec" --json - | jq .diameter)" = "$("$HXMESH-info" "$spec" --json - | jq .diameter)" ]
    done
}

@test "check: failed boards and jobs" {
    run --separate-stderr check examples/jobs.hxm.yaml --json -
    [ "$status" -eq 0 ]
    # Three jobs of 4 boards of 4 accelerators, and 3 working boards that no job names.
    judge '.acyclic and .dead_ends == 0 and .minimal and .pairs == 3 * 16 * 15 + 12 * 11 and .unreachable == 0 and
        .isolated == 3 * 16 * (2 * 16 + 12) + 12 * 48' <<<"$output"
}

@test "check: the table" {
    run check "2x2 Hx2Mesh"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "2x2 Hx2Mesh: good" ]
    [[ "$output" == *"none possible"* ]]
    [[ "$output" == *"0 of 240 pairs"* ]]
}

@test "check: nothing on stderr with --quiet" {
    run --separate-stderr check "16x16 Hx2Mesh" --quiet --json -
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}
