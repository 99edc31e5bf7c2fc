# asan
# virtual.bats - hxmesh run --clock virtual: the report is a function of spec and seed alone; early ends.

# shellcheck disable=SC2016 # what stands in quotes is for jq
load emulator_support

setup() {
    REPORT="$BATS_TEST_TMPDIR/report.json"
    PID=
}

# A failed test may leave a run behind.
teardown() {
    [ -z "$PID" ] || kill -KILL "$PID" 2>/dev/null || true
}

# simulate ARGUMENTS...: runs a fabric under the virtual clock; its report goes to $REPORT.
simulate() { hxmesh run "$@" --clock virtual --share-cores --quiet --json - >"$REPORT"; }

# The part of a report that does not depend on the machine.
of_fabric() { jq --compact-output 'del(.host)' "$REPORT"; }

# always_same ARGUMENTS...: the same report byte for byte, except `host`, by any number of workers and each time;
# nothing is lost. It goes to $SAME.
always_same() {
    local workers
    simulate "$@" --workers 1
    SAME=$(of_fabric)
    holds "$WHOLE and .packets_sent > 0 and .packet_hops > 0 and .virtual_seconds > 0"
    for workers in $(few "2 3" "1 2 3 4"); do
        simulate "$@" --workers "$workers"
        holds ".host.workers == $workers"
        if [ "$(of_fabric)" != "$SAME" ]; then
            echo "differs with $workers workers: $*"
            diff <(jq . <<<"$SAME") <(of_fabric | jq .) | head -n 20
            return 1
        fi
    done
}

@test "virtual: every pattern of a small fabric, for any number of workers" {
    for pattern in all-to-all all-to-all-random permutation bisection bit-reverse hotspot incast neighbour tornado \
        transpose; do
        always_same "2x2 Hx2Mesh" --traffic "$pattern" --message 10000
    done
    always_same "2x2 Hx2Mesh" --traffic permutation --duration 30us --message 1000
    always_same "9x2 Hx1Mesh" --radix 8 --taper 3 --planes 2 --message 2000
    for algorithm in ring torus; do
        always_same "2x2 Hx2Mesh" --traffic all-reduce --algorithm "$algorithm" --message 64KiB
        holds '.collective.done == 16'
    done
}

# bats test_tags=all
@test "virtual: every pattern, for any number of workers" {
    for pattern in all-to-all all-to-all-random permutation bisection neighbour tornado transpose; do
        always_same "3x3 Hx2Mesh" --traffic "$pattern" --message 40000
    done
    always_same "4x4 Hx2Mesh" --traffic bit-reverse --message 40000
    always_same "3x3 Hx2Mesh" --traffic hotspot --hotspot 0.5 --target 2,3 --target 0,0 --message 10000
    always_same "3x3 Hx2Mesh" --traffic incast --target 2,3 --message 20000 --count 2
    always_same "2x3 H3x2Mesh" --traffic all-to-all --shifts 7 --message 1MiB
}

@test "virtual: traffic of a file" {
    local file="$BATS_TEST_TMPDIR/flows.csv" first
    printf '%s\n' start,source,destination,bytes 0,0,1,8192 >"$file"
    simulate "4x4 Hx2Mesh" --traffic "$file"
    first=$(jq .virtual_seconds "$REPORT")
    # The same a millisecond later, with a message in between that is longer.
    printf '%s\n' start,source,destination,bytes 1ms,0,1,8192 500us,9,a5:5,1MiB 0,63,0,1 >"$file"
    always_same "4x4 Hx2Mesh" --traffic "$file" --verify
    holds '.complete and .messages == 3 and .packets_sent == 130 and (.virtual_seconds - 0.001 - $first | fabs) < 1e-11' \
        --argjson first "$first"
    # All-to-all as a matrix.
    awk 'BEGIN { for (i = 0; i < 16; i++) for (j = 0; j < 16; j++) printf "%d%s", i == j ? 0 : 4096, j < 15 ? "," : "\n" }' \
        >"$file"
    always_same "2x2 Hx2Mesh" --traffic "$file"
    holds '.complete and .messages == 16 * 15 and .bytes_delivered == 4096 * 16 * 15'
    # The whole duration is measured, although all messages arrived earlier.
    simulate "2x2 Hx2Mesh" --traffic "$file" --duration 100us
    holds '.complete and .virtual_seconds == 100e-6 and
           (.share_of_injection - 4096 * 15 / (2e11 * 100e-6) | fabs) < 1e-9'
}

# bats test_tags=all
@test "virtual: for a duration and at a rate" {
    always_same "4x4 Hx2Mesh" --traffic uniform --duration 24us --warm-up 4us --rate 0.05 --message 1024
    holds '(.share_of_injection - 0.05 | fabs) < 0.0005 and .warm_up_seconds == 4e-6 and .virtual_seconds == 20e-6'
    always_same "4x4 Hx2Mesh" --traffic uniform --duration 20us --rate 0.7
    holds '.share_of_injection > 0.1 and .share_of_injection <= 0.7'
    always_same "4x4 Hx2Mesh" --traffic uniform --duration 20us --rate 0.01 --message 8192
    holds '.share_of_injection > 0 and .share_of_injection <= 0.02'
    always_same "2x2 Hx2Mesh" --traffic permutation --duration 30us --message 1000
}

@test "virtual: a rate is exact to the message" {
    local rate each
    for rate in 0.005 0.01 0.02 0.05; do
        simulate "4x4 Hx2Mesh" --traffic permutation --duration 100us --warm-up 0 --rate "$rate" --message 8192
        # From each of 64, a message of 8,192 bytes whenever 200 GB/s times the rate have carried the previous one.
        each=$(awk -v r="$rate" 'BEGIN { n = 100e-6 * 200e9 * r / 8192; print int(n) + 1 }')
        holds ".complete and .open_loop.marked_messages == 64 * $each and .packets_sent == .messages"
        holds '.open_loop.arrived_messages == .open_loop.marked_messages'
    done
}

@test "virtual: latency is of data packets, not of their acknowledgements" {
    printf 'start,source,destination,bytes\n0,0,1,8KiB\n' >"$BATS_TEST_TMPDIR/one.csv"
    simulate "fat-tree hosts=2 radix=4 levels=2" --traffic "$BATS_TEST_TMPDIR/one.csv"
    # One packet: all its figures are one time; the acknowledgement that came back took less.
    holds '.packets_delivered == 1 and .acknowledgements == 1 and .measured_packets == 1 and
           (.latency_ns | .mean == .max and (.max - .p50) / .max < 0.04)'
    simulate "2x2 Hx2Mesh" --message 20000
    holds '.measured_packets == .packets_delivered and .packets_delivered == 16 * 15 * 3'
}

@test "virtual: at a rate a message's age counts from its due time, including any wait" {
    # Links carry a quarter of worst-case's injection. Below that nothing waits long,
    simulate "mlfm h=4" --traffic worst-case --duration 100us --warm-up 20us --message 8192 --rate 0.2
    holds '.share_offered == 0.2 and (.share_of_injection - 0.2 | fabs) < 0.005 and .latency_ns.max < 3000'
    # at a rate for a number of messages all arrive, and the last one has waited until then: 100 are due in 16 us, and
    # take four times as long.
    simulate "mlfm h=4" --traffic worst-case --count 25 --message 8192 --rate 1e-6
    alone=$(jq .latency_ns.max "$REPORT")
    simulate "mlfm h=4" --traffic worst-case --count 25 --message 8192 --rate 0.999
    holds "(.latency_ns.max - $alone - 3 * 100 * 8192 / 50 | fabs) < 2000 and .network_latency_ns.max < .latency_ns.max"
    # A capture does not change it.
    jq -c .latency_ns "$REPORT" >"$BATS_TEST_TMPDIR/first"
    simulate "mlfm h=4" --traffic worst-case --count 25 --message 8192 --rate 0.999 \
        --capture "$BATS_TEST_TMPDIR/x.pcapng"
    [ "$(jq -c .latency_ns "$REPORT")" = "$(cat "$BATS_TEST_TMPDIR/first")" ]
}

# bats test_tags=all
@test "virtual: messages are due at random times" {
    always_same "2x2 Hx2Mesh" --traffic uniform --duration 400us --warm-up 0 --rate 0.05 --message 1024 --arrivals poisson
    holds '(.share_of_injection - 0.05 | fabs) < 0.0025 and .share_offered == 0.05 and .settings.arrivals == "poisson"'
    # A source at half of its injection rate is often busy: some messages wait for many packets, none with even
    # intervals.
    simulate "1x2 Hx1Mesh" --traffic permutation --duration 400us --rate 0.1 --message 8192
    even=$(jq .latency_ns.max "$REPORT")
    simulate "1x2 Hx1Mesh" --traffic permutation --duration 400us --rate 0.1 --message 8192 --arrivals poisson
    holds ".latency_ns.max > $even + 300 and .latency_ns.p50 <= $even + 100"
}

@test "virtual: all-to-all nearly fills the cables, and no packet waits long" {
    simulate "8x8 Hx2Mesh" --message 64KiB --workers 2
    holds '.share_of_bound > 0.96 and .latency_ns.p99 < 3000 and .injection_rate < .alltoall_bound'
    simulate "4x4 Hx4Mesh" --message 64KiB --workers 2
    holds '.share_of_bound > 0.92 and .latency_ns.p99 < 6000'
}

# Each plane carries an equal part of every message, so it behaves as if alone with a part of every message.
@test "virtual: n planes carry n times as much, and packets wait no longer" {
    simulate "slim-fly q=3 p=2" --traffic all-to-all-random --message 128KiB
    one=$(jq .virtual_seconds "$REPORT")
    waits=$(jq .latency_ns.p99 "$REPORT")
    simulate "slim-fly q=3 p=2" --traffic all-to-all-random --message 256KiB --planes 2
    holds ".virtual_seconds < 1.02 * $one and .latency_ns.p99 < 1.5 * $waits"
}

@test "virtual: an injection rate is kept" {
    simulate "2x2 Hx2Mesh" --message 256KiB --injection-rate 0.1
    holds '.injection_rate == 0.1 and .share_of_injection > 0.098 and .share_of_injection <= 0.1'
    simulate "2x2 Hx2Mesh" --traffic permutation --message 256KiB
    holds '.injection_rate == 1'
}

# Rates for which all dimensions take the same time.
@test "virtual: a hierarchy keeps all dimensions busy" {
    simulate "Ring(4)_FC(4)_Switch(4) gbps=400,67,50" -t all-reduce --algorithm hierarchy -m 16MiB --workers 1
    holds '[.link_classes[] | select(.class != "host")] | length == 3 and map(.links) == [128, 192, 128] and
        (map(.busy) | min > 0.75) and all(.busiest <= 1)'
    hxmesh run "2x2 Hx2Mesh" --clock virtual --quiet >"$REPORT"
    grep -q "links busy  *trace .* %, row .* %, column .* %" "$REPORT"
}

# bats test_tags=all
@test "virtual: collectives" {
    for algorithm in tree ring rings torus; do
        always_same "2x2 Hx2Mesh" --traffic all-reduce --algorithm "$algorithm" --message 256KiB
        holds '.collective.done == 16'
    done
    always_same "3x2 H2x4Mesh" --traffic broadcast --target 1,2 --message 300000
    always_same "2x2 Hx2Mesh" --traffic reduce-scatter --message 100000 --verify
    always_same "2x2 Hx2Mesh" --traffic all-gather --message 100000 --verify --planes 2
}

# bats test_tags=all
@test "virtual: jobs and failed boards" {
    always_same examples/jobs.hxm.yaml
    always_same examples/jobs.hxm.yaml --traffic all-to-all-random --verify --message 20000
    always_same examples/jobs.hxm.yaml --traffic uniform --duration 10us
    cat >"$BATS_TEST_TMPDIR/jobs.hxm.yaml" <<'FILE'
fabric: 4x4 Hx2Mesh
jobs:
  - {tag: 7, rectangle: [[0, 0], [1, 1]]}
  - {tag: 9, boards: [[0, 2], [3, 2], [0, 3], [3, 3]]}
failed_boards: [[1, 2], [2, 2], [1, 3], [2, 3], [2, 1], [3, 1], [2, 0], [3, 0]]
traffic: {pattern: all-reduce, algorithm: torus, message: 256KiB}
FILE
    always_same "$BATS_TEST_TMPDIR/jobs.hxm.yaml"
    holds '.collective.done == 32'
    always_same "$BATS_TEST_TMPDIR/jobs.hxm.yaml" --algorithm rings
}

# Of the living boards 0,0 1,1 2,0 2,1 only 0,0 and 1,1 have no path: both corners between them have failed. Routes
# never change, so messages without a path fail at once, and all others continue.
@test "virtual: destinations without a path cost the others nothing" {
    printf 'fabric: 3x2 Hx1Mesh\nfailed_boards: [[1, 0], [0, 1]]\n' >"$BATS_TEST_TMPDIR/cut.hxm.yaml"
    for workers in 1 2; do
        run hxmesh run "$BATS_TEST_TMPDIR/cut.hxm.yaml" --clock virtual --count 60 --message 8KiB --share-cores --workers "$workers" \
            --quiet --json "$REPORT"
        [ "$status" -eq 1 ]
        holds '.messages == 600 and .messages_begun == 720 and .messages_failed == 120 and .packets_repeated == 0 and
            .drops.unreachable == 120 and .latency_ns.max < 10000 and .virtual_seconds < 0.001'
    done
}

# Two accelerators on one board send to each other over one of an accelerator's four links, and fill it.
@test "virtual: shares are of the given link rate" {
    for gbps in 100 200 800; do
        simulate "1x1 H2x1Mesh" --traffic permutation --message 2MiB --link "$gbps"
        # shellcheck disable=SC2016 # for jq
        holds '.share_of_injection > 0.245 and .share_of_injection <= 0.25 and .link_gbps == $gbps and
            (.share_of_injection as $share | .receive_share | all(. / $share > 0.99 and . / $share < 1.01)) and
            ([.links[].busy] | max > 0.98 and max <= 1)' --argjson gbps "$gbps"
        simulate "2x2 Hx2Mesh" --traffic all-reduce --algorithm ring --message 4MiB --link "$gbps"
        # A ring has two of an accelerator's four links. 15/16 of the vector pass each accelerator twice.
        holds '.collective | .share > 0.46875 and .share <= 0.5 and .vector_share > 0.5 and .vector_share <= 8 / 15'
    done
    run hxmesh run "1x1 H2x1Mesh" --clock virtual --link 800
    [[ "$output" == *"of injection (4 x 800 Gb/s a plane)"* ]]
}

# says_again ARGUMENTS...: a simulated run, and then the command of its report, which gives the same.
says_again() {
    simulate "$@"
    SAME=$(of_fabric)
    local again
    again=$(jq --raw-output .host.again "$REPORT")
    [[ $again == "hxmesh run "* ]]
    # shellcheck disable=SC2153 # fresh_name sets it
    eval "$again --name $NAME --quiet --json -" >"$REPORT"
    [ "$(of_fabric)" = "$SAME" ]
    [ "$(jq --raw-output .host.again "$REPORT")" = "$again" ]
}

# Messages of 64 packets. Payload that arrives is compared in the last run.
# bats test_tags=all
@test "virtual: trains change neither counts nor, by more than a twentieth, the time" {
    local single
    simulate "4x4 Hx2Mesh" --shifts 8 --message 512KiB
    single=$(jq --compact-output '[.packets_sent, .packets_delivered, .bytes_delivered, .packets_repeated]' "$REPORT")
    local -r seconds=$(jq .virtual_seconds "$REPORT")
    always_same "4x4 Hx2Mesh" --shifts 8 --message 512KiB --train 4
    [ "$(jq --compact-output '[.packets_sent, .packets_delivered, .bytes_delivered, .packets_repeated]' "$REPORT")" = "$single" ]
    holds '.settings.train == 4 and .virtual_seconds / $single > 0.95 and .virtual_seconds / $single < 1.05' \
        --argjson single "$seconds"
    simulate "4x4 Hx2Mesh" --shifts 8 --message 512KiB --train 4 --verify
    [ "$(of_fabric | jq --compact-output 'del(.verify, .settings.verify)')" = "$(jq --compact-output 'del(.verify, .settings.verify)' <<<"$SAME")" ]
    says_again "2x2 Hx2Mesh" --message 512KiB --train 2
}

@test "virtual: a report has the command to repeat it" {
    says_again "3x2 H2x4Mesh" --traffic hotspot --target 1,1 --target 4,0 --count 3 --message 5000 --rate 0.7 --seed 99 \
        --planes 2 --cable 33ns --link 200 --select adaptive --injection-rate 0.5
    holds '.schema == 5 and .settings.target == [[1, 1], [4, 0]] and .settings.cable == "33ns" and
        .settings["injection-rate"] == 0.5 and .settings.verify == false and
        (.settings | has("credits") or has("algorithm") | not)'
    says_again "2x2 Hx2Mesh" --verify --message 1500 --duration 20us --warm-up 5us --rate 0.333333333
    says_again "2x2 Hx1Mesh" --traffic all-reduce --algorithm ring --message 100KiB
    says_again "mlfm h=2" --message 2KiB
    holds '.settings | has("radix") or has("taper") | not'
    printf 'start,source,destination,bytes\n0,0,1,8KiB\n1us,1,0,1MiB\n' >"$BATS_TEST_TMPDIR/it's mine.csv"
    says_again "1x1 Hx2Mesh" --traffic "$BATS_TEST_TMPDIR/it's mine.csv"
    # Failed boards and jobs are in a file, which is named.
    cp examples/jobs.hxm.yaml "$BATS_TEST_TMPDIR/my jobs.hxm.yaml"
    says_again "$BATS_TEST_TMPDIR/my jobs.hxm.yaml" --message 2KiB --traffic incast --target 2,2
    holds '(.jobs | length) == 3'
}

@test "virtual: a job without messages has no latency" {
    local csv="$BATS_TEST_TMPDIR/run.csv"
    printf '%s\n' 'fabric: 3x1 Hx1Mesh' 'jobs: [{tag: 3, boards: [[0, 0]]}]' 'clock: virtual' >"$BATS_TEST_TMPDIR/one.hxm.yaml"
    hxmesh run "$BATS_TEST_TMPDIR/one.hxm.yaml" --quiet --csv "$csv" --json - >"$REPORT"
    holds '.jobs[] | select(.job == 3) | .latency_ns == {"mean": null, "p50": null, "p99": null, "p999": null, "max": null}'
    run hxmesh run "$BATS_TEST_TMPDIR/one.hxm.yaml" --quiet --csv "$csv"
    [[ "$output" == *"  job 3 "*", p50 -, p99 -, "* ]]
    # Latency columns are empty in the line of this job.
    head -n 1 "$csv" | grep -q ',latency_max_ns,network_latency_mean_ns,network_latency_p50_ns,network_latency_p99_ns,measured_packets,'
    grep -qE ',3,1,0,0,0,.*,0,,,,,,,,,0,' "$csv"
}

# alone SPEC FROM TO BYTES START OPTION...: the report of one message.
alone() {
    printf 'start,source,destination,bytes\n%s,%s,%s,%s\n' "$5" "$2" "$3" "$4" >"$BATS_TEST_TMPDIR/alone.csv"
    hxmesh run "$1" --clock virtual --traffic "$BATS_TEST_TMPDIR/alone.csv" -w 1 --quiet --json - "${@:6}" >"$REPORT"
}

# By hand (hal/virtual/timing.h), 8 KiB. Over the link of 10 Gb/s: 146.4 ns to its switch, 40 there, 204.8 + 60 for its
# first block, 6,348.8 for the rest; then the last byte takes 40 + 60 + 40 ns more. Without latencies: 158.72 ns from
# the first block's end on the cable to the last one's, 5.12 for that block, and blocks inside hosts that forward.
@test "virtual: a message takes the time of its slowest link" {
    local none=(--cable 0 --trace 0 --input 0 --output 0) graph="$BATS_TEST_TMPDIR/narrow.csv"
    printf '%s\n' a,s,400 s,t,10 t,b,400 >"$graph"
    alone "graph $graph" 0 1 8KiB 0
    holds '.virtual_seconds == 6.94e-06'
    alone "FC(32)" 0 1 8KiB 0 "${none[@]}"
    holds '.virtual_seconds == 1.64335e-07'
    alone "FC(8)" 0 1 8KiB 0 "${none[@]}"
    holds '.virtual_seconds > 1.6384e-07 and .virtual_seconds < 1.68e-07'
    alone "torus 4x4x4" 0 1 8KiB 0 "${none[@]}"
    holds '.virtual_seconds > 1.6384e-07 and .virtual_seconds < 1.68e-07'
    alone "4x4 Hx2Mesh" 0 1 8KiB 0 "${none[@]}"
    holds '.virtual_seconds == 1.6512e-07'
    alone "FC(2)_FC(2) gbps=400,10" 0 2 8KiB 0
    holds '.virtual_seconds > 6.5536e-06'
}

@test "virtual: latency does not depend on when a message begins" {
    alone "fat-tree hosts=16" 0 1 1MiB 0
    local early
    early=$(jq -c '[.latency_ns, .network_latency_ns]' "$REPORT")
    alone "fat-tree hosts=16" 0 1 1MiB 5us
    [ "$(jq -c '[.latency_ns, .network_latency_ns]' "$REPORT")" = "$early" ]
    holds '.latency_ns.max < 500'
}

# Names once, a line of the run and one of each job; lines of other runs are added under the same names.
@test "virtual: figures as CSV, and of each job" {
    local csv="$BATS_TEST_TMPDIR/run.csv"
    hxmesh run examples/jobs.hxm.yaml --clock virtual --message 8KiB --quiet --csv "$csv" --json - >"$REPORT"
    holds '([.jobs[] | [.job, .accelerators, .messages, .packets_lost]] | sort) ==
        [[7, 16, 240, 0], [9, 16, 240, 0], [11, 16, 240, 0]] and
        ((.jobs | map(.share_of_injection * .accelerators) | add) / 64 / .share_of_injection - 1 | fabs) < 1e-6 and
        .fabric.failed_boards == [[2, 1]] and ([.fabric.jobs[].boards | length] | add) == 12'
    [ "$(wc -l <"$csv")" -eq 5 ]
    # Each line has the same number of columns; the command is the last one.
    [ "$(cut -d , -f 1-45 "$csv" | awk -F , '{print NF}' | sort -u)" = 45 ]
    hxmesh run "2x2 Hx2Mesh" --clock virtual --traffic all-reduce --csv - | tail -n 1 >>"$csv"
    [ "$(tail -n 1 "$csv" | cut -d , -f 3,5,7)" = "2x2 Hx2Mesh,virtual,all-reduce" ]
    [ "$(head -n 1 "$csv" | cut -d , -f 3,5,7)" = "fabric,clock,traffic" ]
    refused "--json: stdout has what --csv writes: name a file for one of them" --csv - --json -
    refused "--json: '$BATS_TEST_TMPDIR/x' is the file of --csv too: one would overwrite the other" --json "$BATS_TEST_TMPDIR/x" \
        --csv "$BATS_TEST_TMPDIR/./x"
}

# bats test_tags=all
@test "virtual: planes and two-level trees" {
    always_same "2x2 Hx2Mesh" --planes 4
    always_same "3x2 H2x4Mesh" --planes 2 --traffic all-to-all-random --select adaptive --verify --message 30000
    always_same "9x1 H1x2Mesh" --radix 8 --message 20000
    always_same "9x2 Hx1Mesh" --radix 8 --taper 3 --planes 4 --traffic all-to-all-random --message 20000
}

@test "virtual: no more workers than cores, unless they may share them" {
    local -a run=(taskset --cpu-list "$(first_core)" "$HXMESH" run "2x2 Hx2Mesh" --clock virtual --workers 3)
    "${run[@]}" --json - >"$REPORT"
    holds '.host.workers == 1'
    "${run[@]}" --share-cores --json - >"$REPORT"
    holds '.host.workers == 3'
    "${run[@]}" --quiet | grep -q ', 1 worker (one a core, 3 were asked for), virtual clock$'
    "${run[@]}" --quiet --share-cores | grep -q ', 3 workers, virtual clock$'
    hxmesh run "2x2 Hx2Mesh" --clock virtual --workers 1 --quiet | grep -q ', 1 worker, virtual clock$'
}

# One worker prefetches nothing of the first fabric, prefetches the second but hands over at once, and defers handovers
# of the third (build.c). Several workers always act as with the third.
# bats test_tags=all
@test "virtual: fabrics of any cache level" {
    for spec in "8x8 Hx2Mesh" "16x16 Hx2Mesh" "24x24 Hx2Mesh"; do
        always_same "$spec" --shifts 1 --message 20000
    done
    always_same "16x16 Hx2Mesh" --traffic permutation --message 20000 # packets that wait
}

# bats test_tags=all
@test "virtual: buffers of one packet, slow and fast links" {
    always_same "3x2 Hx2Mesh" --buffer 24KiB --select adaptive
    always_same "3x2 Hx2Mesh" --buffer 48KiB --traffic uniform --duration 20us --message 5000
    always_same "2x2 Hx2Mesh" --timing authors --message 200000
    always_same "slim-fly q=3" --timing sc15 --message 20000
    always_same "3x2 Hx2Mesh" --link 333 --crossbar 777 --cable 13ns --trace 3ns --input-latency 7ns --output-latency 11ns
    always_same "2x2 Hx2Mesh" --cable 0 --trace 0 --input-latency 0 --output-latency 0 --buffer 24KiB
}

@test "virtual: every byte, on request" {
    for workers in 1 3; do
        simulate "3x2 Hx2Mesh" --verify --workers "$workers" --message 30001
        holds "$WHOLE and .verify and .bytes_delivered == 24 * 23 * 30001 and .packets_sent == 24 * 23 * 4"
    done
    checked=$(of_fabric | jq --compact-output 'del(.verify, .settings.verify)')
    simulate "3x2 Hx2Mesh" --message 30001
    holds '.verify == false'
    [ "$(of_fabric | jq --compact-output 'del(.verify, .settings.verify)')" = "$checked" ]
}

@test "virtual: nothing is lost or invented in any step" {
    for workers in 1 2 3; do
        simulate "3x2 Hx2Mesh" --check-steps --workers "$workers" --select adaptive --planes 2 --buffer 48KiB
        holds "$WHOLE"
    done
    simulate examples/jobs.hxm.yaml --check-steps --workers 2 --traffic uniform --duration 3us
    simulate "2x2 Hx2Mesh" --check-steps --traffic all-reduce --timing authors --link 333 --message 1000000
}

@test "virtual: the watchdog ignores fabrics that move or rest" {
    simulate "3x3 Hx2Mesh" --watchdog 1ns --buffer 24KiB --workers 2
    holds "$WHOLE"
    simulate "2x2 Hx2Mesh" --watchdog 1ns --traffic uniform --duration 20ms --rate 0.00001 --message 100
    holds "$WHOLE"
    simulate "2x2 Hx2Mesh" --watchdog 0
    holds "$WHOLE"
    for fault in rate=1% delay=1ms reorder=100% credit-loss=90% loss=5%; do
        simulate "Switch(4)" --watchdog 1ns --traffic incast --message 256KiB --fault "all $fault"
        holds .complete
    done
}

@test "virtual: another seed gives another run" {
    for arguments in "--traffic permutation" "--traffic uniform --duration 20us" "--traffic all-to-all-random"; do
        # shellcheck disable=SC2086 # several words
        simulate "4x4 Hx2Mesh" $arguments --seed 1
        first=$(of_fabric | jq --compact-output 'del(.seed)')
        # shellcheck disable=SC2086
        simulate "4x4 Hx2Mesh" $arguments --seed 2
        holds "$WHOLE and .seed == 2"
        [ "$(of_fabric | jq --compact-output 'del(.seed)')" != "$first" ]
    done
}

@test "virtual: the keys of the design" {
    simulate "4x4 Hx2Mesh" --workers 2
    holds '[.spec, .clock] == ["4x4 Hx2Mesh", "virtual"] and .seed == 1 and .accelerators == 64 and .virtual_seconds > 0'
    holds '.share_of_injection > 0 and .share_of_injection <= .alltoall_bound and .share_of_bound <= 1'
    holds '.latency_ns | .p50 > 0 and .p50 <= .p99 and .p99 <= .p999 and .p999 <= .max'
    holds '.links | length == 64 * 4 + 16 * 8 and all(.busy >= 0 and .busy <= 1)'
    # Each packet and acknowledgement ends by one hop into its endpoint; the other hops are those of the links.
    holds '([.links[].packets] | add) == .packet_hops - .packets_delivered - .acknowledgements'
}

# begin_virtual ARGUMENTS...: starts a run that takes very long as process $PID, and waits until it simulates.
begin_virtual() {
    env --default-signal=INT,TERM,HUP,QUIT "$HXMESH" run "4x4 Hx2Mesh" --clock virtual --share-cores --quiet --json - --duration 10s "$@" \
        >"$REPORT" 2>"$BATS_TEST_TMPDIR/stderr" 3>&- &
    PID=$!
}
virtual_workers_of() { pgrep --parent "$1" hxmesh-v; }
has_virtual_workers() { [ "$(virtual_workers_of "$PID" | wc -l)" -eq "$1" ]; }

@test "virtual: Ctrl-C ends it with a report, at any time" {
    for workers in 1 3; do
        for after in 0 0.1 0.5; do
            begin_virtual --workers "$workers"
            eventually has_virtual_workers "$workers"
            mapfile -t pids < <(virtual_workers_of "$PID")
            sleep "$after"
            kill -INT "$PID"
            finish
            [ "$CODE" -eq 130 ]
            [ ! -s "$BATS_TEST_TMPDIR/stderr" ]
            holds '.interrupted and (.complete | not) and .bytes_corrupted == 0 and .messages_failed == 0'
            all_gone "${pids[@]}"
        done
        holds '.virtual_seconds > 0 and .packets_delivered > 0 and .share_of_injection > 0'
    done
}

@test "virtual: Ctrl-C twice, and other signals" {
    # Both at once are one request: the report is complete.
    begin_virtual --workers 2
    eventually has_virtual_workers 2
    await_traffic
    kill -INT "$PID"
    kill -INT "$PID" 2>/dev/null || true
    finish
    [ "$CODE" -eq 130 ]
    holds '.interrupted and .packets_sent >= .packets_delivered and .packets_delivered > 0'
    # A worker that does not answer makes the report incomplete, so none is written.
    begin_virtual --workers 2
    eventually has_virtual_workers 2
    mapfile -t pids < <(virtual_workers_of "$PID")
    kill -STOP "${pids[1]}"
    kill -INT "$PID"
    sleep 1.5 # within a second they would be one request
    kill -INT "$PID"
    eventually all_gone "${pids[0]}"
    kill -CONT "${pids[1]}"
    finish
    [ "$CODE" -eq 130 ]
    [ ! -s "$REPORT" ]
    grep -q "no report" "$BATS_TEST_TMPDIR/stderr"
    for signal in TERM HUP QUIT; do
        begin_virtual --workers 2
        eventually has_virtual_workers 2
        kill "-$signal" "$PID"
        finish
        [ "$CODE" -eq 130 ]
        holds .interrupted
    done
}

@test "virtual: a killed worker ends the run in one line" {
    for workers in 1 3; do
        begin_virtual --workers "$workers"
        eventually has_virtual_workers "$workers"
        mapfile -t pids < <(virtual_workers_of "$PID")
        await_traffic
        kill -KILL "${pids[$((workers - 1))]}"
        finish
        [ "$CODE" -eq 1 ]
        [ "$(wc -l <"$BATS_TEST_TMPDIR/stderr")" -eq 1 ]
        grep -q "^hxmesh: error: hxmesh run: worker ${pids[$((workers - 1))]} was killed by signal 9: simulated time" \
            "$BATS_TEST_TMPDIR/stderr"
        holds '(.complete | not) and .host.worker_deaths == 1'
        all_gone "${pids[@]}"
    done
}

# shellcheck disable=SC2030
@test "virtual: kill -9 of the supervisor ends its workers" {
    begin_virtual --workers 3
    eventually has_virtual_workers 3
    mapfile -t pids < <(virtual_workers_of "$PID")
    kill -KILL "$PID"
    wait "$PID" 2>/dev/null || true
    eventually all_gone "${pids[@]}"
}

# shellcheck disable=SC2154,SC2031 # stderr, stderr_lines, status, output: set by run
# refused TEXT ARGUMENTS...: a usage error, one line that contains the text.
refused() {
    local text=$1
    shift
    run --separate-stderr hxmesh run "2x2 Hx2Mesh" "$@"
    echo "$stderr"
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "hxmesh: error: "*"$text"* ]]
}

@test "virtual: options of one clock only" {
    for option in "--buffer 1MiB" "--link 400" "--crossbar 800" "--cable 20ns" "--trace 1ns" "--input-latency 40ns" \
        "--output-latency 40ns" "--timing authors" "--train 1"; do
        # shellcheck disable=SC2086 # an option and its value
        refused "--clock virtual" $option
    done
    refused "--watchdog: is for --clock virtual, not wall" --watchdog 1ms
    refused "--check-steps: is for --clock virtual, not wall" --check-steps
    refused "--share-cores: is for --clock virtual, not wall" --share-cores
    refused "--injection-rate: is for --clock virtual, not wall" --injection-rate 0.5
    refused "--select: is for --clock virtual, not wall" --select adaptive
    refused "0.0001 is below 0.001" --clock virtual --injection-rate 0.0001
    refused "--credits: is for --clock wall, not virtual (--buffer" --clock virtual --credits 64
    refused "--restart: is for --clock wall, not virtual" --clock virtual --no-restart
}

@test "virtual: impossible settings" {
    refused "300 Gb/s is less than a link's 400" --clock virtual --crossbar 300
    refused "800 Gb/s is less than a link's 1000" --clock virtual --link 1000
    refused "--cable: '4295us' is outside 0 ns .. 1 ms" --clock virtual --cable 4295us
    refused "outside 24 KiB .. 48 MiB" --clock virtual --buffer 24575
    refused "outside 24 KiB .. 48 MiB" --clock virtual --buffer 49MiB
    refused "--workers: 65 is outside 0 .. 64" --clock virtual --workers 65
    refused "did you mean 'paper'" --clock virtual --timing papier
    refused "--train: 3 packets are no train: 1, 2 or 4" --clock virtual --train 3
}

# shellcheck disable=SC2154 # bats sets stderr
@test "virtual: a fabric that does not fit is refused before anything is allocated" {
    run --separate-stderr hxmesh run "64x64 Hx4Mesh" --clock virtual --traffic uniform --planes 4
    [ "$status" -eq 4 ]
    [[ "$stderr" =~ ^"hxmesh: error: 64x64 Hx4Mesh: needs about "[0-9.]+" GiB of memory, there are "[0-9.]+" GiB (a smaller fabric or fewer --planes, or traffic with fewer partners, such as all-to-all with --shifts 32)"$ ]]
}
