# failures.bats - hxmesh check --failures: routes around sets of dead links.

load tools_support

# agrees FAILED SPEC [OPTION ...]: the check of all sets says what an independent count says.
agrees() { python3 tests/system/failures_oracle.py "$HXMESH" "$@"; }

@test "failures: single links, as counted in another way" {
    agrees 1 "2x2 Hx2Mesh"
    agrees 1 "2x2 H1x2Mesh" --radix 4
    agrees 1 "torus 3x3"
    agrees 1 "fat-tree hosts=8 radix=4"
}

@test "failures: sets of links, as counted in another way" {
    agrees 2 "2x2 Hx1Mesh" # some pairs need the escape VC
    agrees 2 "graph examples/graph/cube.csv"
}

# bats test_tags=all
@test "failures: more fabrics and sets, as counted in another way" {
    local failed spec
    while read -r failed spec; do
        # shellcheck disable=SC2086 # options
        agrees "$failed" "${spec%% --*}" ${spec#"${spec%% --*}"}
    done <<'END'
1 3x3 Hx1Mesh
1 4x3 Hx1Mesh --radix 8
1 4x2 H2x1Mesh --radix 4
1 3x2 H1x2Mesh
1 2x1 Hx3Mesh
1 2x2 H3x2Mesh
1 torus 4x4
1 mesh 3x3
1 fat-tree hosts=16 radix=4
1 hyperx 3x3 p=1
1 dragonfly a=2 p=2 h=1
1 slim-fly q=3 p=1
1 bigraph m=2 n=4
1 kautz degree=2 length=2 p=1
1 graph examples/graph/cube.csv
4 1x1 Hx2Mesh
3 2x1 Hx1Mesh
2 2x1 H1x2Mesh
2 torus 3x3
2 hyperx 3x3 p=1
2 fat-tree hosts=8 radix=4
END
}

@test "failures: every set, or drawn ones of a seed" {
    check "4x4 Hx2Mesh" --failures 1 --json - | json_holds '.failures |
        .all and .links == 192 and .sets == 192 and .failed == 1 and .cyclic == 0 and (.mixed_cyclic | not) and
        .no_path == {pairs: 0, sets: 0, first: null, why: null} and .vcs == 3 and
        .escape == {pairs: 0, sets: 0, most: 0}'
    check "4x4 Hx2Mesh" --failures 4 --samples 5 --seed 3 --json - >"$BATS_TEST_TMPDIR/one"
    check "4x4 Hx2Mesh" --failures 4 --samples 5 --seed 3 --json - >"$BATS_TEST_TMPDIR/same"
    check "4x4 Hx2Mesh" --failures 4 --samples 5 --seed 4 --json - >"$BATS_TEST_TMPDIR/other"
    cmp "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/same"
    json_holds '.failures | (.all | not) and .sets == 5 and (.longest.without | length) == 4' <"$BATS_TEST_TMPDIR/one"
    run ! cmp -s "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/other"
}

@test "failures: jobs and failed boards keep to their boards" {
    check examples/jobs.hxm.yaml --failures 1 --json - | json_holds '.failures |
        .cyclic == 0 and .no_path.pairs == 0 and .dead_ends.pairs == 0 and
        .pairs + .cut_off.pairs == .sets * (3 * 16 * 15 + 12 * 11)'
}

@test "failures: a joined pair without a path fails the check, and is named" {
    run --separate-stderr check "mesh 20x3" --failures 16
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == *": BAD" ]]
    [[ "$output" == *"no path       "*" pairs that living links join, in "*" sets, as a"*" to a"*" without "*", "* ]]
    [[ "$output" == *"since       each path that is left goes up again"* ]]
    run -1 check "mesh 20x3" --failures 16 --json -
    json_holds '.failures.no_path | .pairs > 0 and .sets > 0 and (.first.without | length) == 16 and
        (.first.from | length) == 2' <<<"$output"
}

@test "failures: the table, and wrong numbers" {
    run --separate-stderr check "2x2 Hx2Mesh" --failures 1
    [ "$status" -eq 0 ]
    [[ "$output" == *"failures      all 48 sets of 1 of 48 links of a plane"* ]]
    [[ "$output" == *"none possible in any set; none while nodes have routes of different sets"* ]]
    run --separate-stderr check "2x2 Hx2Mesh" --failures 2 --samples 9
    [[ "$output" == *"failures      9 sets of 2 of 48 links of a plane, drawn by seed 1"* ]]
    refused 3 "--failures: 1x1 Hx1Mesh has only 4 links that may fail" check "1x1 Hx1Mesh" --failures 5
    run -2 check "2x2 Hx2Mesh" --failures 0
    refused 2 "--seed: is for --failures" check "2x2 Hx2Mesh" --seed 3
    run -3 check "mlfm h=4 routing=valiant" --failures 1
    [[ $output == *"--failures: "*"leave out routing="* ]]
}
