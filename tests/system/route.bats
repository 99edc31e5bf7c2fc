# asan
# route.bats - hxmesh route: one pair and all pairs.

load tools_support

@test "route: one pair as JSON" {
    answer=$(route "4x4 Hx2Mesh" --from 0,0 --to 5,3 --json -)
    [ "$(jq -c . <<<"$answer")" = \
        '{"at":[0,0],"to":[5,3],"ports":["W","N"],"ports_after_north":["W","N"],"distance":4}' ]
}

@test "route: north waits for hops on the board" {
    # 1,2 has a hop west to do on its board, so north is not offered; 2,2 may leave to the east right here.
    route "1x1 Hx4Mesh" --from 1,2 --to 0,1 --json - | judge '.ports == ["W"] and .ports_after_north == []'
    route "3x3 Hx3Mesh" --from 2,2 --to 3,1 --json - | judge '.ports == ["E", "N"] and .ports_after_north == ["E", "N"]'
    route "3x3 Hx3Mesh" --from 1,2 --to 1,1 --json - | judge '.ports == ["N"] and .distance == 1'
    # Leaving the board is no hop on it: the N exit of a northern edge accelerator waits for nothing.
    route "4x4 Hx2Mesh" --from 0,0 --to 1,7 --json - | judge '.ports == ["E", "N"] and .ports_after_north == ["N"]'
}

@test "route: a wrap is taken where it is shorter" {
    route "1x1 Hx4Mesh" --from 0,0 --to 3,0 --json - | judge '.ports == ["W"] and .distance == 2'
    route "1x1 Hx4Mesh" --from 0,0 --to 2,0 --json - | judge '.ports == ["E"] and .distance == 2'
    route "1x1 H5x1Mesh" --from 0,0 --to 3,0 --json - | judge '.ports == ["E", "W"] and .distance == 3'
}

@test "route: over a two-level tree" {
    route "4x4 Hx2Mesh" --radix 4 --from 0,0 --to 6,0 --json - | judge '.distance == 4'
    run route "4x4 Hx2Mesh" --radix 4 --from 0,0 --to 6,0
    [ "$status" -eq 0 ]
    [[ "$output" == *"row0/p0/leaf0       1  row0/p0/leaf0/up0 to row0/p0/leaf0/up1"* ]]
    [[ "$output" == *"row0/p0/spine1"* ]]
}

@test "route: the table of one pair" {
    run route "4x4 Hx2Mesh" --from 0,0 --to 5,3
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "a0,0 to a5,3: 4 cables, 2 minimal paths, VC 0 to 2" ]
    [[ "$output" == *"a0,0/p0             0  a0,0/p0/W (leaves the board) a0,0/p0/N (leaves the board)"* ]]
    [[ "$output" == *"a5,3/p0             2  a5,3/p0/local (delivered)"* ]]
    [ "$(route "4x4 Hx2Mesh" --from a0,0 --to a5,3)" = "$output" ]
}

@test "route: to itself" {
    route "2x2 Hx2Mesh" --from 1,1 --to 1,1 --json - | judge '.ports == [] and .distance == 0'
}

@test "route: all pairs, in order, with just the keys of the design" {
    route "3x2 H2x4Mesh" --all --json - >"$BATS_TEST_TMPDIR/all.json"
    judge '
        length == 48 * 47 and
        all(.[]; keys_unsorted == ["at", "to", "ports", "ports_after_north", "distance"] and .at != .to) and
        ([.[] | .at[1] * 6 + .at[0]] | . == sort) and
        ([.[] | (.at[1] * 6 + .at[0]) * 48 + .to[1] * 6 + .to[0]] | . == sort and . == unique) and
        all(.[]; .ports != [] and .ports_after_north - .ports == [] and .distance > 0)' <"$BATS_TEST_TMPDIR/all.json"
    # Distances are the same both ways.
    judge '([.[] | [.at, .to, .distance]] | sort) == ([.[] | [.to, .at, .distance]] | sort)' \
        <"$BATS_TEST_TMPDIR/all.json"
}

@test "route: one pair agrees with all pairs" {
    route "2x3 H3x2Mesh" --all --json - >"$BATS_TEST_TMPDIR/all.json"
    for pair in "0,0 5,5" "2,1 3,4" "4,3 1,0"; do
        read -r from to <<<"$pair"
        one=$(route "2x3 H3x2Mesh" --from "$from" --to "$to" --json - | jq -c .)
        [ "$one" = "$(jq -c ".[] | select(.at == [$from] and .to == [$to])" "$BATS_TEST_TMPDIR/all.json")" ]
    done
}

@test "route: a thousand accelerators, streamed" {
    [ "$(route "16x16 Hx2Mesh" --all --json - | wc -l)" -eq $((1024 * 1023 + 2)) ]
}

@test "route: all pairs as a table" {
    run route "2x1 Hx1Mesh" --all
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 3 ]
    [[ "${lines[1]}" =~ ^0,0\ +1,0\ +EW\ +EW\ +2$ ]]
}

@test "route: a failed board and another job are unreachable, ways round are found" {
    # Board 2,1 has failed: from board 3,1 to board 2,0 only the other order of dimensions is left.
    route examples/jobs.hxm.yaml --from 6,2 --to 4,0 --json - | judge '.ports == ["N"]'
    run route examples/jobs.hxm.yaml --from 6,2 --to 4,2 --json -
    [ "$status" -eq 1 ]
    judge '.ports == [] and .distance == null and .why == "a4,2 is on a failed board"' <<<"$output"
    route examples/jobs.hxm.yaml --from 0,0 --to 3,3 --json - | judge '.ports == ["W", "N"]'
    run route examples/jobs.hxm.yaml --from 0,0 --to 4,4
    [ "$status" -eq 1 ]
    [ "$output" = "a0,0 to a4,4: unreachable: a0,0 is of job 7 and a4,4 of job 9 (0: boards that no job names)" ]
    # Two boards of a job that meet only over what is not theirs.
    printf '%s\n' "fabric: 2x2 Hx1Mesh" "failed_boards: [[1, 0]]" "jobs: [{tag: 3, boards: [[0, 0], [1, 1]]}]" \
        >"$BATS_TEST_TMPDIR/cut.hxm.yaml"
    run route "$BATS_TEST_TMPDIR/cut.hxm.yaml" --from 0,0 --to 1,1
    [ "$status" -eq 1 ]
    [[ "$output" == *"unreachable: every path lands on board 1,0, which has failed, or on board 0,1, which is of no job" ]]
}
