# schedule_run.bats - hxmesh run with a schedule, under both clocks: it runs, is stuck, is refused, loses a worker.

load emulator_support

setup() {
    fresh_folder
    printf 'num_ranks 2\nrank 0 {\nl1: calc 20000\nl2: send 8b to 1\nl2 requires l1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n' >two.goal
}
teardown() { leave_nothing; }

# tree RANKS [BYTES]: a GOAL broadcast along a binomial tree, 4 KiB a message unless it is given.
tree() {
    awk -v ranks="$1" -v bytes="${2:-4096}" 'BEGIN {
        print "num_ranks " ranks
        for (rank = 0; rank < ranks; rank++) {
            print "rank " rank " {"
            for (bit = 1; bit <= rank; bit *= 2);
            if (rank) print "r: recv " bytes "b from " rank - bit / 2 " tag 0"
            for (n = 0; rank + bit < ranks; bit *= 2) {
                n++
                print "s" n ": send " bytes "b to " rank + bit " tag 0"
                if (rank) print "s" n " requires r"
            }
            print "}"
        }
    }'
}

# refused CODE MESSAGE ARGUMENTS...: a run ends so, with one line.
# shellcheck disable=SC2154 # stderr: set by run
refused() {
    run --separate-stderr hxmesh run "${@:3}" --name "$NAME" --quiet --json -
    [[ "$status" -eq "$1" && "$stderr" = "hxmesh: error: $2" && -z "$output" ]] || { echo "$status $stderr"; return 1; }
}

# microseconds ARGUMENTS...: simulated time of a run, in us, rounded.
microseconds() {
    report "$@" --clock virtual
    jq '.schedule[0].seconds * 1e6 | round' "$REPORT"
}

@test "schedule run: a GOAL tree, under both clocks" {
    tree 16 >tree.goal
    for clock in wall virtual; do
        report "2x2 Hx2Mesh" --clock "$clock" -t tree.goal --workers 2 --verify
        holds "$ARRIVED"' and .traffic == "tree.goal" and (.schedule | length == 1) and (.schedule[0] |
            .ranks == 16 and .ranks_done == 16 and .operations == 30 and .messages == 15 and .bytes == 15 * 4096 and
            .blocked == [] and .critical_path.whole and .seconds > 0)'
    done
}

@test "schedule run: a deadlock ends with 1 and names its operations, under both clocks" {
    printf 'num_ranks 3\nrank 0 {\nl1: recv 8b from 1 tag 5\nl2: send 8b to 1 tag 5\nl2 requires l1\n}\nrank 1 {\n%s}\nrank 2 {\n}\n' \
        $'l1: recv 8b from 0 tag 5\nl2: send 8b to 0 tag 5\nl2 requires l1\n' >stuck.goal
    for clock in wall virtual; do
        run -1 --separate-stderr hxmesh run "1x1 Hx2Mesh" --clock "$clock" -t stuck.goal --name "$NAME" --quiet
        [ "$stderr" = "hxmesh: error: stuck.goal: the schedule is stuck with 1 of 3 ranks done: these operations wait for ever
hxmesh: error: stuck.goal: rank 0: receive l1 from rank 1, tag 5, 8 B
hxmesh: error: stuck.goal: rank 1: receive l1 from rank 0, tag 5, 8 B" ] || { echo "$stderr"; return 1; }
    done
}

@test "schedule run: schedules and placements that cannot run are refused in one line" {
    sed 's/recv 8b from 0/recv 8b from 0 tag 3/' two.goal >unmatched.goal
    refused 3 "unmatched.goal: rank 1: receive 'l1' of 8 B from rank 0, tag 3, has no send (1 is missing, 2 in the whole schedule)" \
        "1x1 Hx2Mesh" --clock virtual -t unmatched.goal
    tree 5 >tree.goal
    refused 3 "tree.goal: has 5 ranks, but only 4 accelerators are there" "1x1 Hx2Mesh" --clock virtual -t tree.goal
    refused 2 "--place: 2x3 has 6 places for 2 ranks" "1x1 Hx2Mesh" --clock virtual -t two.goal --place 2x3
    echo 9 >hosts
    refused 3 "hosts:1:1: '9' is no host: a number, gx:gy or agx:gy is expected" \
        "1x1 Hx2Mesh" --clock virtual -t two.goal --place hosts
    for option in "--eager 1KiB" "--overhead 1us" "--overhead-byte 2" "--compute-scale 2" "--sends shared" "--jitter 0.1" "--straggler 1=2"; do
        # shellcheck disable=SC2086 # an option and its value
        refused 2 "${option% *}: is for --traffic SCHEDULE, not uniform" "1x1 Hx2Mesh" -t uniform $option
    done
}

@test "schedule run: jitter and stragglers slow a synchronous job" {
    cat >job.model.yaml <<'MODEL'
model: data
samples: 16
iterations: 400
accelerator: {flops: 1 TFLOPS}
parallelism: {data: 16}
layers: [{name: a, parameters: 1, activations: 1, forward: 500 us, backward: 500 us}]
MODEL
    # Mean of the longest of 16 sums of two lognormal times of a mean of 1/2 ms and a deviation of 5 %.
    expected=$(python3 -c '
import math, random
random.seed(5)
s = math.sqrt(math.log(1 + 0.05 ** 2))
draw = lambda: 0.5 * math.exp(random.gauss(-s * s / 2, s))
print(sum(max(draw() + draw() for _ in range(16)) for _ in range(20000)) / 20000)')
    for workers in 1 2; do
        report "2x2 Hx2Mesh" -t job.model.yaml --clock virtual --jitter 0.05 --workers "$workers"
        # shellcheck disable=SC2016 # for jq
        holds '(.schedule[0].seconds / 400 * 1000 / $expected - 1 | fabs < 0.004) and
            (.schedule[0].computing_seconds.mean / 0.4 - 1 | fabs < 0.002)' --argjson expected "$expected"
        jq .schedule[0].seconds "$REPORT" >>seconds
    done
    [ "$(sort -u seconds | wc -l)" -eq 1 ]
    report "2x2 Hx2Mesh" -t job.model.yaml --clock virtual --jitter 0.05 --seed 2
    jq .schedule[0].seconds "$REPORT" >>seconds
    [ "$(sort -u seconds | wc -l)" -eq 2 ]
    report "2x2 Hx2Mesh" -t job.model.yaml --clock virtual --straggler 3=1.3 --straggler 5=1.1
    holds '(.schedule[0].ideal_seconds / 400 - 0.0013 | fabs < 1e-9) and
        (.schedule[0].computing_seconds.mean / 400 - 0.001 * (14 + 1.3 + 1.1) / 16 | fabs < 1e-9)'
    hxmesh train "2x2 Hx2Mesh" job.model.yaml --straggler 3=1.3 --jitter 0.1 --quiet --workers 1 --json "$REPORT" >/dev/null
    holds '.fabrics[0] | .estimate_difference | fabs < 0.001'
    refused 2 "--straggler: '16=2': 16 is outside 0 .. 15" "2x2 Hx2Mesh" --clock virtual -t job.model.yaml --straggler 16=2
    refused 2 "--straggler: '1:2' is no RANK=FACTOR (for example 3=1.2)" \
        "2x2 Hx2Mesh" --clock virtual -t job.model.yaml --straggler 1:2
}

@test "schedule run: overhead, scale and rendezvous count in its time" {
    plain=$(microseconds "1x1 Hx2Mesh" -t two.goal)
    [ "$plain" -eq 20 ]
    [ "$(microseconds "1x1 Hx2Mesh" -t two.goal --compute-scale 3)" -eq 60 ]
    [ "$(microseconds "1x1 Hx2Mesh" -t two.goal --overhead 10us)" -eq 40 ] # once at each end
    [ "$(microseconds "1x1 Hx2Mesh" -t two.goal --overhead-byte 1000000)" -eq 34 ] # 7 further bytes, twice
    report "1x1 Hx2Mesh" -t two.goal --clock virtual
    eager=$(jq '.schedule[0].seconds' "$REPORT")
    report "1x1 Hx2Mesh" -t two.goal --clock virtual --eager 0
    # shellcheck disable=SC2016 # for jq
    holds '.schedule[0].seconds > $eager' --argjson eager "$eager" # a request and an answer go before
}

# binary RANKS BYTES: a GOAL broadcast along a tree in which each rank sends to two.
binary() {
    awk -v ranks="$1" -v bytes="$2" 'BEGIN {
        print "num_ranks " ranks
        for (rank = 0; rank < ranks; rank++) {
            print "rank " rank " {"
            if (rank) print "r: recv " bytes "b from " int((rank - 1) / 2)
            for (n = 1; n <= 2 && 2 * rank + n < ranks; n++) {
                print "s" n ": send " bytes "b to " 2 * rank + n
                if (rank) print "s" n " requires r"
            }
            print "}"
        }
    }'
}

# A link of 8 Gb/s: 1 MiB takes 1,048.6 us. The longest waits are 4 and 6 messages, as LogGOPSim says with L, o, g = 0
# and G = 1; latencies and the last packets' way through the switches add some us.
@test "schedule run: sends of a GOAL leave one after the other, unless they share the link" {
    tree 16 1048576 >tree.goal
    binary 16 1048576 >binary.goal
    hxmesh schedule tree.goal --write tree.hxs >/dev/null
    for planes in 1 2; do
        slow=("fat-tree hosts=16" --planes "$planes" --link "$((8 / planes))" --workers 1)
        for file in tree.goal tree.hxs; do
            [[ "$(microseconds "${slow[@]}" -t "$file")" -ge 4194 && "$(microseconds "${slow[@]}" -t "$file")" -le 4210 ]]
            holds '.schedule[0].sends == "in-order"'
        done
        time=$(microseconds "${slow[@]}" -t binary.goal)
        [[ "$time" -ge 6291 && "$time" -le 6310 ]]
        [ "$(microseconds "${slow[@]}" -t tree.goal --sends shared)" -gt 8000 ]
        holds '.schedule[0].sends == "shared"'
    done
    report "2x2 Hx2Mesh" -t tree.goal --workers 2 --verify
    holds "$ARRIVED"' and .schedule[0].sends == "in-order" and .schedule[0].ranks_done == 16'
}

# Doubling among 8: three steps, of which each waits for the sum of a whole vector at 1 GB/s, 65.5 us. Messages of a
# step travel beside sums of those before.
@test "schedule run: sums take time at --sum-rate, of a schedule and of a collective as traffic" {
    printf '%s\n' 'ranks: 8' 'program: [{collective: all-reduce, bytes: 64KiB, algorithm: doubling}]' >sum.schedule.yaml
    plain=$(microseconds "fat-tree hosts=8" -t sum.schedule.yaml)
    summed=$(microseconds "fat-tree hosts=8" -t sum.schedule.yaml --sum-rate 1)
    [[ "$summed" -ge 197 && "$summed" -le "$((197 + plain))" ]]
    for rate in 0 1; do
        report "fat-tree hosts=8" --clock virtual -t all-reduce -m 64KiB --algorithm doubling --sum-rate "$rate" --verify
        holds '.bytes_corrupted == 0'
        jq .seconds "$REPORT" >"seconds.$rate"
    done
    jq -e -n '$b[0] > 196.6e-6 and $b[0] < $a[0] + 196.7e-6' --slurpfile a seconds.0 --slurpfile b seconds.1
    report "2x2 Hx2Mesh" -t sum.schedule.yaml --sum-rate 1 --workers 2
    holds "$ARRIVED"' and .schedule[0].ranks_done == 8 and .schedule[0].seconds >= 190e-6'
}

@test "schedule run: what the reader left out and decided is said, in text and JSON" {
    printf '%s\n' 'HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 2 all_gpus: 4 pp_comm: 99' 1 \
        'x -1 1000 ALLGATHER 64 1 NONE 0 1 NONE 0 1' >layers.txt
    what='transfers of 99 bytes between 2 pipeline stages, of 4 ranks'
    note='bytes of ALLGATHER are those of the whole vector (SimAI)'
    hxmesh run "1x1 Hx2Mesh" --clock virtual -t layers.txt --quiet >run.txt
    hxmesh train "1x1 Hx2Mesh" layers.txt --quiet >train.txt
    hxmesh train "1x1 Hx2Mesh" layers.txt --quiet --compare "torus 2x2" >two.txt
    for text in run.txt train.txt two.txt; do
        [ "$(grep -c "left out  *4 operations: $what\$" "$text")" -eq 1 ]
        [ "$(grep -c "note  *$note\$" "$text")" -eq 1 ]
    done
    hxmesh run "1x1 Hx2Mesh" --clock virtual -t layers.txt --quiet --json - | jq '.schedule[0]' >run.json
    hxmesh train "1x1 Hx2Mesh" layers.txt --quiet --json train.json >/dev/null
    for json in run.json train.json; do
        jq -e --arg what "$what" --arg note "$note" \
            '.left_out == {count: 4, what: $what} and .annotations == $note' "$json"
    done
}

@test "schedule run: two jobs with schedules and one with a pattern" {
    tree 8 >tree.goal
    printf '%s\n' 'fabric: 2x2 Hx2Mesh' 'jobs:' '  - {name: a, size: 2, traffic: tree.goal}' \
        '  - {name: b, size: 1, traffic: two.goal}' '  - {name: c, size: 1, traffic: permutation, message: 8KiB}' >jobs.hxm.yaml
    for clock in wall virtual; do
        report jobs.hxm.yaml --clock "$clock"
        holds "$ARRIVED"' and ([.schedule[] | [.ranks, .ranks_done, .messages]] | sort == [[2, 2, 1], [8, 8, 7]]) and
            ([.jobs[] | select(.name == "c") | .bytes_delivered] == [4 * 8192])'
    done
}

# A schedule's state is in its workers: without one it cannot go on.
@test "schedule run: a killed worker ends it with one line" {
    {
        printf 'num_ranks 16\nrank 0 {\nl1: calc 60000000000\nl2: send 8b to 15\nl2 requires l1\n}\n'
        printf 'rank %d {\n}\n' {1..14}
        printf 'rank 15 {\nl1: recv 8b from 0\n}\n'
    } >long.goal
    start "2x2 Hx2Mesh" -t long.goal --workers 2
    await_workers 2
    kill -KILL "$(workers_of "$PID" | head -n 1)"
    finish
    [ "$CODE" -eq 1 ]
    line=$(grep 'hxmesh: error' "$BATS_TEST_TMPDIR/stderr")
    [[ "$line" =~ ^'hxmesh: error: long.goal: the schedule ended with '[0-9]+' of 16 ranks done: a worker died or a message was given up'$ ]] ||
        { echo "$line"; return 1; }
    nothing_left
}

@test "schedule run: what repeats is left out, and the report is the same" {
    cat >layers.yaml <<'EOF'
ranks: 8
groups: {four: {size: 4}}
program:
  - repeat: 40
    do:
      - {compute: 50 us}
      - {collective: all-reduce, bytes: 64KiB, group: four, algorithm: ring}
EOF
    for how in run cut; do
        hxmesh run "2x2 Hx2Mesh" --clock virtual -t layers.yaml --repeats $how --json $how.json --timeline $how.trace \
            --quiet --name "$NAME" >/dev/null
    done
    jq -e '.repeats | .cuts == 1 and .iterations > 30 and .skipped_seconds > 0.0015' cut.json
    cmp run.trace cut.trace
    diff <(jq -S 'del(.host, .run)' run.json) <(jq -S 'del(.host, .run, .repeats)' cut.json)
    refused 2 "--repeats: cut is not for a run with --verify: it checks each byte" \
        "2x2 Hx2Mesh" --clock virtual -t layers.yaml --repeats cut --verify
    refused 2 "--repeats: cut is for a schedule (--traffic FILE)" "2x2 Hx2Mesh" --clock virtual --repeats cut
}
