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
    run --separate-stderr check examples/two-jobs.hxm.yaml --json -
    [ "$status" -eq 0 ]
    # Three job groups of 4, 4 and 7 working boards of 4 accelerators. Tag 0's boards see each other over none or one
    # corner: unreachable is what the pairs with a failed or foreign board on both corners make.
    judge '.acyclic and .dead_ends == 0 and .minimal and .pairs == 16 * 15 * 2 + 28 * 27 and .unreachable > 0 and
        .isolated == 2 * (16 * 16 + 16 * 28 + 16 * 28)' <<<"$output"
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
