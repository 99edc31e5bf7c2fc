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

@test "check: a Dragonfly is good, whose paths take any link between two groups" {
    run --separate-stderr check "dragonfly a=4 p=1 h=4 groups=5"
    [ "$status" -eq 0 ]
    [[ "$output" == *"good"* && "$output" == *"by the topology's rule: over any link between the two groups"* ]]
    check "dragonfly a=4 p=1 h=4 groups=5" --json - | judge '(.minimal | not) and .paths == "over any link between the two groups"'
    check "torus 3x3" --json - | judge '.minimal and .paths == null'
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

@test "check: pairs of a job that are cut off are no good, with an example and why" {
    printf '%s\n' "fabric: 4x4 Hx2Mesh" "jobs: [{tag: 7, boards: [[0, 0], [1, 1]]}]" >"$BATS_TEST_TMPDIR/cut.hxm.yaml"
    run check "$BATS_TEST_TMPDIR/cut.hxm.yaml"
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == *": BAD" ]]
    [[ "$output" == *"unreachable   64 of "* ]]
    # Of the job and of the boards without one 32 each.
    [[ "$output" == *"a0,2 to a2,0: every path lands on board 1,1, which is of job 7, or on board 0,0, which is of job 7"* ]]
    run check "$BATS_TEST_TMPDIR/cut.hxm.yaml" --json -
    [ "$status" -eq 1 ]
    judge '.acyclic and .unreachable == 64 and (.cut_off.why | test("^every path lands on board"))' <<<"$output"
    # So it is with boards that have failed; pairs of different jobs are meant to be apart.
    printf '%s\n' "fabric: 2x2 Hx1Mesh" "failed_boards: [[1, 0], [0, 1]]" >"$BATS_TEST_TMPDIR/cut.hxm.yaml"
    run check "$BATS_TEST_TMPDIR/cut.hxm.yaml"
    [ "$status" -eq 1 ]
    [[ "$output" == *"every path lands on board 0,1, which has failed, or on board 1,0, which has failed"* ||
        "$output" == *"every path lands on board 1,0, which has failed, or on board 0,1, which has failed"* ]]
    # A run of it ends, and sends its user here.
    run "$HXMESH" run "$BATS_TEST_TMPDIR/cut.hxm.yaml" --message 1 --count 1 --quiet --name "check-$$"
    [ "$status" -eq 1 ]
    [[ "$output" == *"NOT COMPLETE (\`hxmesh check\` says which pairs are cut off, and why)"* ]]
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

@test "check: tables of before and of after any single link's failure may stand side by side" {
    local spec links
    while read -r links spec; do
        check "$spec" --transitions --json - | judge "
            .transitions == {links: $links, cyclic: 0, unreachable: 0} and .acyclic and .unreachable == 0"
    done <<'END'
192 4x4 Hx2Mesh
132 3x2 H2x4Mesh
32 fat-tree hosts=32 radix=8
90 dragonfly a=4 p=2 h=2
32 torus 4x4
30 kautz degree=3 length=2 p=2
END
    # Round a failure a detour would need VCs of its own.
    run -3 check "mlfm h=4 routing=valiant" --transitions
    [[ $output == *"--transitions: "*"leave out routing="* ]]
}
