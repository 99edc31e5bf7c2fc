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

# wait_for SENDERS DELAY: rank 0 computes for DELAY ns and sends a packet over a slow link; others fill the fast one.
wait_for() {
    local rank
    printf 'num_ranks 7\nrank 0 {\nl0: calc %d\nl1: send 8192b to 5\nl1 requires l0\n}\n' "$2"
    for rank in 1 2 3 4; do
        echo "rank $rank {"
        ((rank > $1)) || echo "l1: send 65536b to 6"
        echo "}"
    done
    printf 'rank 5 {\nl1: recv 8192b from 0\n}\nrank 6 {\n'
    for ((rank = 1; rank <= $1; rank++)); do echo "l$rank: recv 65536b from $rank"; done
    echo "}"
}

@test "estimate: a packet from a slow link that waits for a fast one is not held again" {
    local delay
    printf '%s\n' 'host a' 'host '{b..g} 'switch s' 'switch t' a,s,10,10 {b..e},s,400,10 s,t,400,10 t,{f,g},400,10 >slow.csv
    wait_for 0 0 >alone.goal
    "$HXMESH" run "graph slow.csv" --clock virtual -t alone.goal --quiet --json - >alone.json
    # 8 KiB at 10 Gb/s, and what is before and behind. While its last byte comes in, the fast link has room for it.
    jq -e '.schedule[0].seconds | . > 6.5536e-6 and . < 7e-6' alone.json
    for delay in 1000 3000; do
        wait_for 4 "$delay" >wait.goal
        jq -en "($(seconds "graph slow.csv" wait.goal) - $delay * 1e-9 - $(jq '.schedule[0].seconds' alone.json)) | fabs < 2e-9"
    done
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
