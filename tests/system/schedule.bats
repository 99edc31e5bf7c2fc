# schedule.bats - hxmesh schedule: summary, check, conversion; the interpreter that other tests compare with.

load tools_support

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    cat >three.goal <<'END'
num_ranks 3

rank 0 {
l1: calc 100
l2: send 1000b to 1 tag 7
l3: send 24b to 2
l2 requires l1
l3 requires l2
}

rank 1 {
l1: recv 1000b from 0 tag 7
l2: calc 50
l2 requires l1
}

rank 2 {
l1: recv 24b from -1 tag -1
}
END
}

schedule() { "$HXMESH-schedule" "$@"; }

# oracle FILE OPTION...: begin and end of each operation, by the interpreter.
oracle() { python3 "$BATS_TEST_DIRNAME/schedule_oracle.py" "$@"; }

@test "schedule: the summary for people" {
    run --separate-stderr schedule three.goal
    [ "$status" -eq 0 ] && [ -z "$stderr" ]
    [ "$output" = "three.goal: 3 ranks
operations      6 written, 6 executed, 3 dependencies
  compute       2 written, 2 executed
  send          2 written, 2 executed
  receive       2 written, 2 executed
messages        2 between 2 pairs of ranks, 1 KiB, the longest of 1000 B
largest senders rank 0: 2 messages, 1 KiB
largest pairs   rank 0 to 1: 1 message, 1000 B
                rank 0 to 2: 1 message, 24 B
computing       150 ns over all ranks, at most 100 ns (rank 0)
depth           3 operations in a chain (rank 0)
longest chain   100 ns of computing (rank 0)
width           1 operation at one depth (rank 0)
matching        complete" ] || { echo "$output"; return 1; }
}

@test "schedule: the summary as JSON" {
    schedule three.goal --json - | json_holds '.ranks == 3 and .matched and .unmatched == null and
        .operations.written == 6 and .operations.send == {written: 2, executed: 2} and .operations.dependencies == 3 and
        .messages.bytes == 1024 and .messages.largest_pairs[0] == {from: 0, to: 1, messages: 1, bytes: 1000} and
        .compute_ps == 150000 and .depth == {operations: 3, rank: 0} and .groups.count == 0 and .left_out.count == 0'
}

@test "schedule: bytes of each pair as CSV" {
    [ "$(schedule three.goal --pairs -)" = $'from,to,messages,bytes\n0,1,1,1000\n0,2,1,24' ]
}

@test "schedule: a message without its counterpart ends with 1" {
    sed -i 's/tag 7$/tag 8/' three.goal
    sed -i 's/from 0 tag 8/from 0 tag 7/' three.goal
    run --separate-stderr schedule three.goal
    [ "$status" -eq 1 ]
    [ "$stderr" = "hxmesh: error: three.goal: rank 1: receive 'l1' of 1000 B from rank 0, tag 7, has no send (1 is missing, 2 in the whole schedule)" ] ||
        { echo "$stderr"; return 1; }
    [[ "$output" == *$'\nmatching        not complete' ]]
    run -1 --separate-stderr schedule three.goal --json -
    json_holds '.matched == false and (.unmatched | startswith("rank 1: receive"))' <<<"$output"
}

@test "schedule: repeats are counted, and groups call the same collectives" {
    cat >sum.yaml <<'END'
ranks: 4
program:
  - repeat: 10
    do:
      - {compute: 1 ms}
      - {collective: all-reduce, bytes: 64KiB}
END
    schedule sum.yaml --json - | json_holds '.operations.compute == {written: 4, executed: 40} and
        .collectives["all-reduce"] == 40 and .groups == {count: 1, smallest: 4, largest: 4} and
        .longest_chain == {ps: 10000000000, rank: 0} and .depth.operations == 20'
    printf '  - {collective: barrier, ranks: "rank > 0"}\n' >>sum.yaml
    run -1 --separate-stderr schedule sum.yaml --json -
    [ "$stderr" = "hxmesh: error: sum.yaml: rank 1: collective 11 of group 0 (4 ranks) is barrier of 0 B, at rank 0 it is missing (all members of a group call the same)" ] ||
        { echo "$stderr"; return 1; }
}

@test "schedule: hxmesh's own file has the same content, and gives GOAL again" {
    schedule three.goal --write three.hxs >/dev/null
    [ "$(schedule three.hxs | tail -n +2)" = "$(schedule three.goal | tail -n +2)" ]
    schedule three.hxs --write again.goal --as goal >/dev/null
    [ "$(schedule again.goal | tail -n +2)" = "$(schedule three.goal | tail -n +2)" ]
    schedule --formats | grep -q '^goal '
}

@test "schedule: options that do not fit are refused" {
    refused 2 "FILE: a schedule is wanted" schedule
    refused 2 "--as: says nothing without --write" schedule three.goal --as goal
    refused 2 "--as: no format 'gaol' is written (hxmesh schedule --formats lists them)" \
        schedule three.goal --write x --as gaol
    refused 3 "$PWD/none.goal: cannot be read: No such file or directory" schedule "$PWD/none.goal"
}

# holds LINE: times.csv has it.
holds() { grep -qxF "$1" times.csv || { echo "no $1 in:"; cat times.csv; return 1; }; }

@test "schedule: the interpreter knows the closed forms of LogGOPS" {
    local costs=(--latency 1000 --byte 10 --overhead 100 --overhead-byte 1)
    oracle three.goal "${costs[@]}" >times.csv
    # rank 0: calc, then o + 999 O; rank 1: arrival at L + 1000 G behind that, then the same overhead.
    holds 0,0,0,100000
    holds 0,1,100000,101099
    holds 0,2,101099,101222
    holds 1,0,0,113198
    holds 1,1,113198,163198
    # Rank 0's second message leaves behind the first, at 101,099 + 10,000; L + 24 G, and the overhead of 24 B.
    holds 2,0,0,112462
    # Rendezvous: request L, answer L, data L + 1000 G, acknowledgement L.
    oracle three.goal "${costs[@]}" --eager 999 >times.csv
    holds 0,1,100000,115099
    holds 1,0,0,115198
}

@test "schedule: random schedules match, and the interpreter ends them" {
    for ((seed = 1; seed <= $(few 2 10); seed++)); do
        python3 "$BATS_TEST_DIRNAME/schedule_random.py" "$seed" >random.goal
        schedule random.goal >/dev/null
        oracle random.goal --latency 1000000 --byte 20 --overhead 5000 --overhead-byte 1 --eager 5000 >/dev/null
    done
}

@test "schedule: --estimate agrees with an independent interpreter on random schedules" {
    run -0 python3 "$BATS_TEST_DIRNAME/schedule_compare.py" "$HXMESH-schedule" 1 60
    [ "$output" = "60 schedules, 0 differ" ]
}

# bats test_tags=all
@test "schedule: --estimate agrees with it on 1,000 random schedules" {
    run -0 python3 "$BATS_TEST_DIRNAME/schedule_compare.py" "$HXMESH-schedule" 1000 1000
    [ "$output" = "1000 schedules, 0 differ" ]
}

@test "schedule: a run past the times of the virtual clock ends and says what waits" {
    printf 'num_ranks 1\nrank 0 {\na: calc 32400000000000\nb: calc 32400000000000\nb requires a\n}\n' >long.goal
    run "$HXMESH" run "4x4 Hx2Mesh" --clock virtual -w 1 -t long.goal
    [ "$status" -eq 1 ]
    [[ $output == *"long.goal: the schedule is stuck with 0 of 1 ranks done"* ]]
}
