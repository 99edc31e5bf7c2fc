#!/usr/bin/env bats
# model.bats - spin finds no error in the models of tests/model, and finds one as soon as one of their rules is broken.

# searched SIZE [MODEL]: each run finds what it must find.
searched() {
    run "$BATS_TEST_DIRNAME/../../mk/model.sh" "$BATS_TEST_TMPDIR" "$@"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *": proven ("[1-9]* && $output == *"BREAK_"* ]]
}

@test "the model of sessions, and each model with a rule broken" {
    searched least
}

# bats test_tags=all
@test "credits, sessions and restarts of a cable: no overrun, no stale grant, and recovery from every state" {
    searched quick session
}

# bats test_tags=all
@test "the redo record, killed before every store under a weak memory: no buffer lost or doubled" {
    searched quick redo
}

# bats test_tags=all
@test "a search without enough depth proves nothing" {
    HX_MODEL_DEPTH=1000 run "$BATS_TEST_DIRNAME/../../mk/model.sh" "$BATS_TEST_TMPDIR" quick redo
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"not ok 1 - redo KILLS=1: proven"* && $output == *"depth limit"* ]]
}
