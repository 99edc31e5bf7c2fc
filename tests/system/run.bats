# asan
# run.bats - hxmesh run: whole fabrics, every traffic pattern, the report.

# shellcheck disable=SC2016 # what stands in quotes is for jq
load emulator_support

setup() { fresh_name; }
teardown() { leave_nothing; }

# Packets of all-to-all: N (N - 1) messages of ceil(BYTES / 8192) packets, COUNT times.
all_to_all_packets() { echo $(($1 * ($1 - 1) * $3 * (($2 + 8191) / 8192))); }

@test "run: the keys of the design" {
    report "4x4 Hx2Mesh" --workers 2
    holds '[.spec, .clock] == ["4x4 Hx2Mesh", "wall"] and .seed == 1 and .accelerators == 64'
    holds '[.packets_sent, .packets_delivered, .packets_lost, .bytes_corrupted, .messages, .packet_hops, .max_vc] |
        all(type == "number" and . >= 0 and . == floor)'
    holds '.share_of_injection > 0 and .share_of_injection <= 1 and .share_of_bound > .share_of_injection'
    holds '.latency_ns | .p50 > 0 and .p50 <= .p99 and .p99 <= .p999 and .p999 <= .max'
    # Of each data packet, also of those that came twice, but of no acknowledgement.
    holds '.acknowledgements > 0 and .measured_packets >= .packets_delivered and
        .measured_packets <= .packets_sent + .packets_repeated'
    holds '.drops | type == "object" and length > 0 and (del(.duplicate) | all(. == 0))'
    holds '.host | .workers == 2 and .wall_seconds > 0 and .packet_hops_per_second > 0 and .peak_memory_bytes > 0'
    holds 'has("virtual_seconds") | not'
}

@test "run: every directed cable is in the list of links once, by its name" {
    report "3x2 H2x4Mesh" --planes 2
    # A plane: 4 links out of each of 48 accelerators, back from 8 rows of 6 ports and 6 columns of 4.
    holds '.links | length == 2 * (48 * 4 + 8 * 6 + 6 * 4)'
    holds '[.links[] | .from] | unique | length == 2 * (48 * 4 + 8 * 6 + 6 * 4)'
    holds '([.links[] | [.from, .to]] | sort) == ([.links[] | [.to, .from]] | sort)'
    holds '.links | all((.from, .to) | test("^(a[0-9]+,[0-9]+/p[01]/[EWNS]|(row|col)[0-9]+/p[01]/[0-9]+)$"))'
    holds '.links | all(.packets >= 0 and .busy >= 0 and .busy <= 1)'
    holds '([.links[] | select(.packets > 0)] | length) > 0 and ([.links[].packets] | add) <= .packet_hops'
}

@test "run: packets are conserved at every switch" {
    report "4x4 Hx2Mesh" --traffic incast --message 64KiB --target 3,2
    holds "$WHOLE"
    # Networks forward all arrivals. Of 8 packets and 1 acknowledgement a message, 63 messages end at the target.
    # shellcheck disable=SC2016 # variables of jq
    holds '.packets_repeated > 0 or (
        [.links[] | (.from | sub("/[^/]*$"; "")) as $f | (.to | sub("/[^/]*$"; "")) as $t |
            {node: $f, sum: -.packets}, {node: $t, sum: .packets}] |
        group_by(.node) | map({key: .[0].node, value: (map(.sum) | add)}) | from_entries |
        ."a3,2/p0" == 63 * 7 and
        (del(."a3,2/p0") | to_entries |
            all(.value == (if .key | startswith("a") then -7 else 0 end)) and length == 63 + 16))'
}

@test "run: nothing is lost, for any shape, workers, planes" {
    while read -r workers_few planes_few accelerators shape; do # workers and planes of `make check`, and the fabric
        for workers in $(few "$workers_few" "1 2 4"); do
            for planes in $(few "$planes_few" "1 4"); do
                report "$shape" --workers "$workers" --planes "$planes" --message 20000 --count 2
                holds "$WHOLE and .max_vc == 2 and .host.workers == $workers and .planes == $planes and
                    .packets_sent == $(all_to_all_packets "$accelerators" 20000 2) and
                    .messages == $((accelerators * (accelerators - 1) * 2)) and
                    .bytes_delivered == .messages * 20000 and .acknowledgements >= .messages"
            done
        done
    done <<'END'
2 1 64 4x4 Hx2Mesh
1 4 48 3x2 H2x4Mesh
4 1 64 2x2 Hx4Mesh
2 4 15 5x3 Hx1Mesh
END
}

@test "run: a fabric of one accelerator has no destinations" {
    report "1x1 Hx1Mesh"
    holds "$WHOLE and .accelerators == 1 and .packets_sent == 0 and .messages == 0 and .packet_hops == 0"
}

@test "run: a fabric of one board" {
    report "1x1 Hx4Mesh" --planes 2
    holds "$WHOLE and .accelerators == 16 and .packets_sent == $(all_to_all_packets 16 65536 1)"
}

@test "run: more workers than cores and than boards" {
    report "1x1 Hx2Mesh" --workers 7
    holds "$WHOLE and .host.workers == 7 and .packets_sent == $(all_to_all_packets 4 65536 1)"
    report "2x2 Hx2Mesh" --workers $((2 * $(nproc) + 1))
    holds "$WHOLE and .packets_sent == $(all_to_all_packets 16 65536 1)"
}

@test "run: a worker for each core that the command may use" {
    report "2x2 Hx2Mesh" --message 8KiB
    holds ".host.workers == $(nproc)"
    taskset --cpu-list "$(first_core)" "$HXMESH" run "2x2 Hx2Mesh" --message 8KiB --name "$NAME" --quiet --json - >"$REPORT"
    holds '.host.workers == 1'
}

@test "run: workers are visible processes" {
    start "4x4 Hx2Mesh" --duration 20s --workers 3
    await_workers 3
    [ "$(workers_of "$PID" | wc -l)" -eq "$(pgrep --parent "$PID" | wc -l)" ]
    [ "$(ps --ppid "$PID" -o comm= | sort | xargs)" = "hxmesh-w0 hxmesh-w1 hxmesh-w2" ]
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
}

@test "run: closed forms of the patterns" {
    # 24 accelerators of 4 columns and 6 rows: pattern and messages.
    while read -r pattern messages; do
        report "2x2 H2x3Mesh" --traffic "$pattern" --message 10000 --count 3
        holds "$WHOLE and .traffic == \"$pattern\" and .messages == 3 * $messages and .packets_sent == 6 * $messages"
    done <<'END'
all-to-all 24*23
all-to-all-random 24*23
uniform 24*23
permutation 24
bisection 24
neighbour 24*4
incast 23
tornado 24
transpose 22
hotspot 24*23
END
    # The odd one has no partner in a bisection; a torus of one row has no neighbours above and below.
    report "5x3 Hx1Mesh" --traffic bisection
    holds "$WHOLE and .messages == 14"
    report "3x1 H2x1Mesh" --traffic neighbour
    holds "$WHOLE and .messages == 6 * 2"
}

@test "run: traffic of a file starts at the file's times" {
    local file="$BATS_TEST_TMPDIR/flows.csv"
    cat >"$file" <<'END'
start,source,destination,bytes
0,0,a7:7,1MiB
80ms,0,"3,1",10000
20ms,5,0,8192
END
    report "4x4 Hx2Mesh" --traffic "$file"
    holds "$WHOLE"' and .traffic == $file and .flows == {"messages": 3, "left_out": 0} and .messages == 3 and
           .packets_sent == 128 + 2 + 1 and .bytes_delivered == 1048576 + 10000 + 8192 and
           (.host.wall_seconds | . >= 0.08 and . < 5)' --arg file "$file"
    # Only messages that begin in time; the traffic file may be named in a fabric's file, relative to it.
    sed 's/^80ms/20s/' "$file" >"$BATS_TEST_TMPDIR/late.csv"
    printf '%s\n' 'fabric: 4x4 Hx2Mesh' 'traffic: {pattern: ./late.csv, duration: 2s}' >"$BATS_TEST_TMPDIR/lab.hxm.yaml"
    report "$BATS_TEST_TMPDIR/lab.hxm.yaml"
    holds "$WHOLE and .flows.messages == 3 and .messages == 2"
    # The whole duration is measured, although all messages arrived earlier.
    report "4x4 Hx2Mesh" --traffic "$file" --duration 2s
    holds "$WHOLE and .messages == 3 and .seconds == 2 and .host.wall_seconds < 2"
    holds '.share_of_injection * 1e9 | round == (1066768 / (64 * 2e11 * 2) * 1e9 | round)'
    report "4x4 Hx2Mesh" --traffic "$file" --duration 3s --warm-up 2s
    holds "$WHOLE and .messages == 3 and .seconds == 1 and .share_of_injection == 0"
    printf '%s\n' 'fabric: 4x4 Hx2Mesh' 'traffic: flows.csv' >"$BATS_TEST_TMPDIR/lab.hxm.yaml"
    report "$BATS_TEST_TMPDIR/lab.hxm.yaml"
    holds "$WHOLE"' and .traffic == $file and .messages == 3' --arg file "$file"
    run ! hxmesh run "4x4 Hx2Mesh" --traffic "$file" --rate 0.5
    [[ "$output" = "hxmesh: error: --rate: is for --traffic all-to-all, "*" or worst-case, not FILE.csv (its messages go when it is their time)" ]]
    run ! hxmesh run "2x2 Hx2Mesh" --traffic "$file"
    [ "$output" = "hxmesh: error: $file:2:5: a7,7 is outside the 2x2 Hx2Mesh (gx 0 .. 3, gy 0 .. 3)" ]
    run ! hxmesh run "4x4 Hx2Mesh" --traffic tornedo
    [ "$output" = "hxmesh: error: --traffic: unknown word 'tornedo' (did you mean 'tornado'?)" ]
}

# A machine of 96 cores, by sched_getaffinity().
# bats test_tags=all
@test "run: no more workers start than a fabric can have, with any number of cores" {
    cat >"$BATS_TEST_TMPDIR/cores.c" <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    (void)pid;
    memset(set, 0, bytes);
    for (int core = 0; core < 96; core++)
        CPU_SET_S(core, bytes, set);
    return 0;
}
END
    gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/cores.so" "$BATS_TEST_TMPDIR/cores.c"
    for clock in wall virtual; do
        # The sanitizer must be loaded first.
        LD_PRELOAD="$(ldd "$HXMESH" | awk '/libasan/ { print $3 }') $BATS_TEST_TMPDIR/cores.so" \
            report "8x8 Hx1Mesh" --message 1KiB --clock "$clock"
        holds "$WHOLE and .host.workers == 64"
    done
}

@test "run: a warm-up is not measured" {
    report "2x2 Hx2Mesh" --traffic uniform --rate 0.00005 --message 8192 --duration 2900ms --warm-up 900ms
    holds "$WHOLE"' and .warm_up_seconds == 0.9 and (.share_of_injection | . > 0.00003 and . < 0.00007)'
    holds '[.links[].busy] | add / length | . > 0 and . < 0.0004'
    run ! hxmesh run "2x2 Hx2Mesh" --warm-up 1s
    [ "$output" = "hxmesh: error: --warm-up: needs a --duration, of which it is a part" ]
    run ! hxmesh run "2x2 Hx2Mesh" --warm-up 1s --duration 1s
    [ "$output" = "hxmesh: error: --warm-up: is to be shorter than --duration" ]
}

# bats test_tags=all
@test "run: every pattern for a time" {
    for pattern in all-to-all all-to-all-random uniform permutation bisection neighbour incast; do
        report "3x2 Hx2Mesh" --traffic "$pattern" --duration 300ms --planes 2
        holds "$WHOLE and .traffic == \"$pattern\" and .packets_sent > 24 and .host.wall_seconds >= 0.3"
    done
}

@test "run: sizes of messages" {
    for bytes in 1 8192 8193 1048576; do
        report "2x1 Hx2Mesh" --message "$bytes"
        holds "$WHOLE and .message_bytes == $bytes and .packets_sent == $(all_to_all_packets 8 "$bytes" 1)"
        holds ".bytes_delivered == 56 * $bytes"
    done
    report "2x1 Hx2Mesh" --message 1MiB
    holds '.message_bytes == 1048576'
}

@test "run: two-level trees" {
    report "4x4 Hx2Mesh" --radix 4 --message 10000
    holds "$WHOLE and .packets_sent == $(all_to_all_packets 64 10000 1)"
    report "4x4 Hx2Mesh" --radix 6 --taper 2 --message 10000
    holds "$WHOLE and .packets_sent == $(all_to_all_packets 64 10000 1)"
}

@test "run: the smallest credits deliver everything too" {
    report "3x2 Hx2Mesh" --credits 32 --traffic all-to-all-random
    holds "$WHOLE and .packets_sent == $(all_to_all_packets 24 65536 1)"
}

@test "run: a lower rate sends less" {
    report "2x2 Hx2Mesh" --duration 300ms
    full=$(jq .packets_sent "$REPORT")
    # 2 MB/s each for 300 ms: ten messages of 64 KiB begin. A slow machine may send fewer, or end later; virtual.bats
    # has the exact number.
    report "2x2 Hx2Mesh" --duration 300ms --rate 0.00001
    holds "$WHOLE and .packets_sent > 0 and .packets_sent < $full and .messages <= 16 * 40"
}

@test "run: the same seed sends the same" {
    report "3x2 Hx2Mesh" --traffic uniform --seed 7 --message 30000
    first=$(jq -c '[.seed, .packets_sent, .messages, .bytes_delivered]' "$REPORT")
    report "3x2 Hx2Mesh" --traffic uniform --seed 7 --message 30000 --workers 1
    [ "$first" = "$(jq -c '[.seed, .packets_sent, .messages, .bytes_delivered]' "$REPORT")" ]
    holds '.seed == 7'
}

@test "run: without verification" {
    report "2x2 Hx2Mesh" --no-verify
    holds "$WHOLE and .verify == false and .packets_sent == $(all_to_all_packets 16 65536 1)"
    report "2x2 Hx2Mesh"
    holds "$WHOLE and .verify == true and .host.verify_seconds > 0"
}

@test "run: settings of a file, and options that override them" {
    cat >"$BATS_TEST_TMPDIR/lab.hxm.yaml" <<'END'
fabric: 3x2 Hx2Mesh
name: laboratory
planes: 2
traffic:
  pattern: incast
  message: 10000
  count: 4
  seed: 11
  verify: false
workers: 3
END
    report "$BATS_TEST_TMPDIR/lab.hxm.yaml"
    holds "$WHOLE"' and .spec == "3x2 Hx2Mesh" and .planes == 2 and .traffic == "incast" and .seed == 11 and
        .verify == false and .host.workers == 3 and .messages == 23 * 4 and .packets_sent == 23 * 4 * 2'
    report "$BATS_TEST_TMPDIR/lab.hxm.yaml" --planes 1 --traffic permutation --message 8192 --count 2 --seed 5 \
        --verify --workers 1
    holds "$WHOLE"' and .planes == 1 and .traffic == "permutation" and .seed == 5 and .verify == true and
        .host.workers == 1 and .messages == 24 * 2 and .packets_sent == 24 * 2'
}

@test "run: jobs stay separate" {
    cat >"$BATS_TEST_TMPDIR/jobs.hxm.yaml" <<'END'
fabric: 4x2 Hx2Mesh
jobs:
  - tag: 7
    rectangle: [[0, 0], [1, 1]]
  - tag: 9
    rectangle: [[2, 0], [3, 1]]
END
    report "$BATS_TEST_TMPDIR/jobs.hxm.yaml"
    holds "$WHOLE and .messages == 2 * 16 * 15 and (.drops | del(.duplicate) | all(. == 0))"
}

@test "run: a failed board is left out" {
    cat >"$BATS_TEST_TMPDIR/failed.hxm.yaml" <<'END'
fabric: 3x3 Hx2Mesh
failed_boards: [[1, 1]]
END
    report "$BATS_TEST_TMPDIR/failed.hxm.yaml" --workers 2
    holds "$WHOLE and .messages == 32 * 31 and (.drops | del(.duplicate) | all(. == 0))"
    holds '[.links[] | select((.from, .to) | test("^a[23],[23]/")) | .packets] | add == 0'
}

@test "run: the example of jobs delivers everything" {
    run hxmesh run examples/jobs.hxm.yaml --name "$NAME" --quiet --json "$REPORT"
    [ "$status" -eq 0 ]
    ways=$("$HXMESH-route" examples/jobs.hxm.yaml --all --json - | jq '[.[] | select(.distance != null)] | length')
    # 12 * 11 of these pairs are of accelerators without a job, which are idle.
    holds ".messages == $ways - 12 * 11 and .bytes_corrupted == 0 and .buffers_missing == 0 and .drops.foreign_job == 0"
    # On a busy machine an acknowledgement may be late, and a retransmission may arrive twice.
    holds '.drops | del(.duplicate) | all(. == 0)'
}

@test "run: the report as a file" {
    run --separate-stderr hxmesh run "2x2 Hx2Mesh" --name "$NAME" --json "$REPORT"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ "$output" == *"240 of 240 delivered"* ]]
    holds "$WHOLE and .schema == 5 and .settings.credits == 512 and (.settings | has(\"link\") | not) and
        (.host.date | fromdate > 1700000000) and (.jobs | not) and
        .host.command == \"hxmesh run '2x2 Hx2Mesh' --name $NAME --json $REPORT\""
}

# The live clock measures each job by itself; virtual.bats checks the virtual one.
@test "run: figures of each job" {
    report examples/jobs.hxm.yaml --message 8KiB --csv "$BATS_TEST_TMPDIR/run.csv"
    holds "$WHOLE"' and ([.jobs[].job] | sort) == [7, 9, 11] and ([.jobs[].accelerators] | add) == 48 and
        ([.jobs[].packets_sent] | add) == .packets_sent and ([.jobs[].bytes_delivered] | add) == .bytes_delivered and
        ([.jobs[].messages_begun] | add) == .messages_begun and ([.jobs[].latency_ns.max] | max) == .latency_ns.max and
        (.jobs | all(.packets_lost == 0 and .share_of_injection > 0))'
    [ "$(wc -l <"$BATS_TEST_TMPDIR/run.csv")" -eq 5 ]
}

@test "run: stdout has only JSON, without --quiet too" {
    hxmesh run "2x2 Hx2Mesh" --name "$NAME" --duration 300ms --json - >"$REPORT" 2>"$BATS_TEST_TMPDIR/stderr"
    [ "$(jq --slurp length "$REPORT")" -eq 1 ]
    holds "$WHOLE"
}

@test "run: the report as a table" {
    run --separate-stderr hxmesh run "4x4 Hx2Mesh" --name "$NAME" --planes 2
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ "${lines[0]}" == "4x4 Hx2Mesh: 64 accelerators, 2 planes, "* ]]
    [[ "$output" == *"4032 of 4032 delivered, 0 given up, all acknowledged"* ]]
    [[ "$output" == *"32256 sent, 32256 delivered, 0 lost"* ]]
    [[ "$output" == *"every byte checked, 0 corrupted"* ]]
    [[ "$output" == *"VCs used       0 to 2"* ]]
    [[ "$output" == *"  drops         "* ]]
    [[ "$output" == *"hottest links"*" -> "* ]]
    [[ "$output" == *"packets sent by each accelerator's switches"* ]]
    # Eight rows of eight numbers.
    [ "$(grep -cE '^ +([0-9] +){7}[0-9] *$' <<<"$output")" -eq 8 ]
    # Not a terminal: no colours.
    [[ "$output" != *$'\e'* ]]
    run hxmesh run "2x2 Hx2Mesh" --name "$NAME" --no-verify
    [[ "$output" == *"not checked"* ]]
}

@test "run: --color, and NO_COLOR on a terminal" {
    on_terminal() { script --quiet --return --command "$HXMESH run '2x2 Hx2Mesh' --name $NAME --quiet" /dev/null; }
    command -v script >/dev/null || skip "script(1) of bsdutils is not installed"
    TERM=xterm NO_COLOR=1 run on_terminal </dev/null
    [ "$status" -eq 0 ]
    [[ "$output" == *"0 lost"* ]]
    [[ "$output" != *$'\e'* ]]
    TERM=dumb run env --unset=NO_COLOR script --quiet --return \
        --command "$HXMESH run '2x2 Hx2Mesh' --name $NAME" /dev/null </dev/null
    [ "$status" -eq 0 ]
    [[ "$output" != *$'\e'* ]]
    TERM=dumb NO_COLOR=1 run hxmesh run "2x2 Hx2Mesh" --name "$NAME" --color always
    [[ "$output" == *$'\e['* ]]
    TERM=xterm run env --unset=NO_COLOR script --quiet --return \
        --command "$HXMESH run '2x2 Hx2Mesh' --name $NAME --quiet" /dev/null </dev/null
    [ "$status" -eq 0 ]
    [[ "$output" == *$'\e['* ]]
    TERM=xterm run env --unset=NO_COLOR script --quiet --return \
        --command "$HXMESH run '2x2 Hx2Mesh' --name $NAME --quiet --color never" /dev/null </dev/null
    [[ "$output" != *$'\e'* ]]
}
