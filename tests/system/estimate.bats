# estimate.bats - estimates of hxmesh train against runs packet by packet, and against lower bounds found without them;
# the choice of an algorithm against runs of all.

load tools_support

setup() { cd "$BATS_TEST_TMPDIR" || return; }

# seconds FABRIC JOB: of the estimate.
seconds() {
    "$HXMESH" train "$@" --estimate --json - | jq .fabrics[0].estimate.iteration_seconds
}

@test "estimate: random small jobs are near their runs, and not below their bounds" {
    run -0 python3 "$BATS_TEST_DIRNAME/estimate_random.py" "$HXMESH" 24 --seed 1000 --within 0.75
    [[ $output = *" of 24 within 5 %, 0 below the bound, 0 runs below it" ]]
}

# bats test_tags=all
@test "estimate: of 300 random small jobs nine in ten are within 5 % of their runs, none below its bound" {
    run -0 python3 "$BATS_TEST_DIRNAME/estimate_random.py" "$HXMESH" 300
    [[ $output = *" of 300 within 5 %, 0 below the bound, 0 runs below it" ]]
}

@test "estimate: the algorithm best is within a tenth of the fastest of all, random fabrics and collectives" {
    run -0 python3 "$BATS_TEST_DIRNAME/collective_sample.py" "$HXMESH" --cases 6 --seed 6 --least 0.8
    [[ ${lines[-1]} = *" of 6 within 1 %, "[56]" within 10 %, "* ]]
}

# bats test_tags=all
@test "estimate: the algorithm best is within a tenth of the fastest of all, 300 random fabrics and collectives" {
    run -0 python3 "$BATS_TEST_DIRNAME/collective_sample.py" "$HXMESH" --least 0.97
    [[ ${lines[-1]} = *" of 300 within 1 %, "* ]]
}

@test "estimate: a gather takes what its receiver's link takes" {
    {
        echo "num_ranks 8"
        echo "rank 0 {"
        for rank in 1 2 3 4 5 6 7; do echo "l$rank: recv 1048576b from $rank"; done
        echo "}"
        for rank in 1 2 3 4 5 6 7; do printf 'rank %d {\nl1: send 1048576b to 0\n}\n' "$rank"; done
    } >gather.goal
    # 7 MiB at 400 Gb/s: 146.8 us
    jq -en "$(seconds "fat-tree hosts=8 radix=16" gather.goal) | . > 146.8e-6 and . < 148e-6"
    jq -en "$("$HXMESH" schedule gather.goal --estimate --json - | jq .estimate.seconds) | . > 146.8e-6 and . < 148e-6"
}

@test "estimate: groups that run beside each other share links" {
    cat >siblings.schedule.yaml <<'END'
ranks: 16
groups: {far: {size: 4, stride: 4}}
program:
  - {collective: all-reduce, bytes: 4MiB, group: far, algorithm: halving}
END
    "$HXMESH" train "fat-tree hosts=16 radix=8 taper=2" siblings.schedule.yaml --workers 1 --quiet --json - >both.json
    jq -e '.fabrics[0].estimate_difference | fabs < 0.05' both.json
    # each host sends 6 MiB out of its leaf, which has half as many links up
    jq -e '.fabrics[0].estimate.iteration_seconds > 6 * 1048576 * 2 / 50e9' both.json
}
