#!/usr/bin/env bats
# program.bats - programs as hosts of a running fabric (include/hxmesh/program.h): `hxmesh serve` and its library.
# asan

# shellcheck disable=SC2030,SC2031 # what a test sets is meant for that test alone
load emulator_support
load program_support

EXCHANGE=${HXMESH%/*}/tests/system/exchange

setup() { fresh_name; }
teardown() { end_started; }

# exchange HOST ROUNDS MOST PEER...: exchanges messages of all sizes up to MOST bytes with programs at other hosts.
exchange() { timeout --kill-after=5 600 "$EXCHANGE" "$NAME" "$@" 3>&-; }

# exchange_both A B ROUNDS: two programs that exchange messages in the background: $other and $second.
exchange_both() {
    exchange "$1" "$3" 300000 "$2" &
    other=$!
    exchange "$2" "$3" 300000 "$1" &
    second=$!
}

# bats test_tags=all
@test "program: two exchange messages of 0 B to 64 MiB, in order, every byte checked" {
    serve "2x2 Hx2Mesh" --workers 2
    exchange a0,0 1 100000000 15 &
    exchange 15 1 100000000 0 >"$BATS_TEST_TMPDIR/out"
    wait $!
    grep -q '^15: 17 messages from each of 1$' "$BATS_TEST_TMPDIR/out"
    end_serving
    holds '.bytes_corrupted == 0 and .messages_failed == 0'
}

@test "program: without room to send, waiting alone makes some" {
    serve "2x2 Hx2Mesh" --workers 2
    exchange 15 drain 0 >"$BATS_TEST_TMPDIR/out" &
    run -0 exchange 0 flood 15
    [ "${lines[1]}" = "2000 sent" ]
    wait $!
    grep -qx '2000 came' "$BATS_TEST_TMPDIR/out"
    end_serving
}

@test "program: programs' messages are good in a capture, and no report says that they were checked, or how to repeat the run" {
    serve "2x2 Hx2Mesh" --workers 2
    exchange_both 0 15 40
    hxmesh capture --name "$NAME" -w "$BATS_TEST_TMPDIR/run.pcapng" --snaplen 64 --count 2000 -q
    wait "$other"
    wait "$second"
    end_serving
    run -0 hxmesh verify "$BATS_TEST_TMPDIR/run.pcapng"
    [[ "$output" == *": good"* ]]
    holds '.traffic == "programs" and (.verify | not) and .host.again == null and .bytes_delivered > 0 and
           (has("message_bytes") or has("share_offered") or (.settings | has("traffic")) | not)'
}

@test "program: all hosts with each other and with themselves, in any other fabric too" {
    serve "fat-tree hosts=4 radix=8" --workers 2
    local others=()
    for host in 1 2 3; do
        exchange "$host" 3 300000 0 1 2 3 &
        others+=($!)
    done
    exchange 0 3 300000 3 2 1 0
    wait "${others[@]}"
    end_serving
}

@test "program: a worker is killed in between, and nothing is lost, doubled or out of order" {
    serve "2x2 Hx2Mesh" --workers 2
    exchange 0 40 300000 15 &
    local other=$!
    for _ in 1 2 3; do
        sleep 0.1
        worker=$(workers_of "$PID" | shuf -n 1)
        [ -z "$worker" ] || kill -KILL "$worker" || true # it may have been killed earlier, and be waited for
    done &
    local killer=$!
    exchange 15 40 300000 0
    wait "$other"
    wait "$killer"
    end_serving
}

# Programs at 0 and 15 exchange messages, and the one at 0 is killed; the other is process $SECOND, with its error in
# the file error.
kill_one_of_two() {
    exchange 0 1000 300000 15 2>/dev/null &
    local first=$!
    exchange 15 1000 300000 0 2>"$BATS_TEST_TMPDIR/error" &
    SECOND=$!
    eventually sent_something
    pkill -KILL --full "^$EXCHANGE $NAME 0 "
    wait "$first" || true
}

# The second one ends because the first is gone: by messages in flight, or by its absence alone.
second_misses_first() {
    ! wait "$SECOND" || return 1
    grep -q 'Connection reset by peer (from 0\|gone (from 0' "$BATS_TEST_TMPDIR/error"
}

@test "program: one is killed, and its host and its peers continue with the next one" {
    serve "2x2 Hx2Mesh" --workers 2
    kill_one_of_two
    exchange 0 1 1000 0
    exchange 0 1 300000 15 2>/dev/null &
    local third=$!
    second_misses_first
    # It waits for a missing program, or has met the second and got the notice of its end.
    pkill -KILL --full "^$EXCHANGE $NAME 0 " || true
    wait "$third" || true
    exchange 0 1 300000 15 &
    third=$!
    exchange 15 1 300000 0
    wait "$third"
    end_serving
}

@test "program: one is killed, and its peers are notified although none takes its place" {
    serve "2x2 Hx2Mesh" --workers 2
    kill_one_of_two
    second_misses_first
    end_serving
}

# It opens its host as soon as the attach socket exists, before the start of the run and of its clock.
@test "program: one that attached before the fabric's start is missed when it is killed" {
    (until exchange 0 1000 300000 15 2>/dev/null; do :; done) &
    local first=$!
    serve "2x2 Hx2Mesh" --workers 2
    exchange 15 1000 300000 0 2>"$BATS_TEST_TMPDIR/error" &
    SECOND=$!
    eventually sent_something
    kill -KILL "$first"
    pkill -KILL --full "^$EXCHANGE $NAME 0 "
    wait "$first" || true
    second_misses_first
    end_serving
}

sent_something() {
    "$HXMESH" top "$NAME" --count 1 --interval 100ms --json - | is_so '.packets_delivered > 100'
}

# It greeted 15 before any program was there, so its greeting waits for the next one.
@test "program: a later one gets no notice of one that had left earlier" {
    serve "2x2 Hx2Mesh" --workers 1
    exchange 0 1 1000 15 2>/dev/null &
    local gone=$!
    eventually greeted_somebody
    pkill -KILL --full "^$EXCHANGE $NAME 0 "
    wait "$gone" || true
    exchange 15 1 1000 0 >"$BATS_TEST_TMPDIR/later" &
    local later=$!
    eventually grep -q open "$BATS_TEST_TMPDIR/later"
    exchange 0 1 1000 15
    wait "$later"
    end_serving
}

greeted_somebody() {
    "$HXMESH" top "$NAME" --count 1 --interval 100ms --json - | is_so '.packets_delivered > 0'
}

# bats test_tags=all
@test "program: messages without a path are sent again once a path exists" {
    serve "fat-tree hosts=4 radix=8" --workers 2
    exchange_both 0 1 400
    eventually sent_something
    hxmesh fault --name "$NAME" "leaf0/0 down for 3s"
    wait "$other"
    wait "$second"
    end_serving
    holds '.messages_failed > 0 and .bytes_corrupted == 0' # those were sent again: both have all messages
}

@test "program: a host belongs to one program at a time, and opening reports why it fails" {
    serve "2x2 Hx2Mesh" --workers 1
    exchange 3 1 1000 4 >"$BATS_TEST_TMPDIR/holder" &
    local holder=$!
    eventually grep -q open "$BATS_TEST_TMPDIR/holder"
    run exchange 3 1 1000 4
    [ "$output" = "exchange: 3 of $NAME: Device or resource busy" ]
    pkill -KILL --full "^$EXCHANGE $NAME 3 "
    wait "$holder" || true
    run exchange a9,9 1 1000 1
    [ "$output" = "exchange: a9,9 of $NAME: No such file or directory" ]
    end_serving
    run exchange 0 1 1000 1
    [ "$output" = "exchange: 0 of $NAME: No such file or directory" ]
}

@test "program: a worker sleeps while programs that hold its hosts have nothing to send" {
    serve "2x2 Hx2Mesh" --workers 1
    exchange 3 1 1000 4 >"$BATS_TEST_TMPDIR/holder" & # no program is at 4
    local holder=$!
    eventually grep -q open "$BATS_TEST_TMPDIR/holder"
    sleeps_long "$(workers_of "$PID")"
    pkill -KILL --full "^$EXCHANGE $NAME 3 "
    wait "$holder" || true
    end_serving
}

# cut_short PROCESS: tries to shrink all memory of hxmesh that it has open; prints the number of descriptors, and fails
# if one can shrink.
cut_short() {
    local fd tried=0
    for fd in "/proc/$1/fd/"*; do
        [[ $(readlink "$fd") == *hxmesh* ]] || continue
        tried=$((tried + 1))
        ! truncate --size 0 "$fd" 2>/dev/null || return 1
    done
    echo "$tried"
}

# bats test_tags=all
@test "program: memory that it shares with its worker cannot shrink, and its worker lives" {
    serve "2x2 Hx2Mesh" --workers 2
    exchange_both 0 15 200
    eventually sent_something
    run -0 cut_short "$(pgrep --full "^$EXCHANGE $NAME 15 ")"
    [ "$output" -ge 1 ]
    wait "$second"
    wait "$other"
    [ "$(hxmesh top "$NAME" --json - --count 1 --interval 100ms | jq '[.workers[].deaths] | add')" -eq 0 ]
    end_serving
}

# alone COMMANDS: runs shell commands with a small private /dev/shm; $hxmesh and $exchange are the programs there,
# `serve NAME` serves four hosts, and `try NAME` opens one of a fabric and prints the result.
alone() {
    unshare --mount mount -t tmpfs tmpfs /dev/shm 2>/dev/null ||
        skip "this user may not give a process a /dev/shm of its own (unshare --mount)"
    # shellcheck disable=SC2016 # for the inner shell
    run --separate-stderr timeout 300 unshare --mount bash -c 'mount -t tmpfs -o size=64m tmpfs /dev/shm || exit 99
        hxmesh=$1 exchange=$2
        cd "$3" || exit 99
        serve() {
            "$hxmesh" serve "1x1 Hx2Mesh" --name "$1" --workers 1 >"$1" &
            until [ -s "$1" ]; do sleep 0.02; done
        }
        try() { "$exchange" "$1" 0 1 1 0 2>&1; }
        '"$1" - "$HXMESH" "$EXCHANGE" "$BATS_TEST_TMPDIR" 3>&-
    # shellcheck disable=SC2154 # bats sets it
    echo "status $status; stdout: $output; stderr: $(head -n 5 <<<"$stderr")"
}

# shellcheck disable=SC2016 # for the inner shell
@test "program: a /dev/shm without room for a byte does not affect them" {
    alone 'serve one
        fabric=$!
        ! head -c 100M /dev/zero >/dev/shm/fill 2>/dev/null || exit 98
        "$exchange" one 0 2 5000000 3 >/dev/null &
        "$exchange" one 3 2 5000000 0 && wait $! && kill -INT "$fabric" && wait "$fabric"'
    [ "$status" -eq 0 ]
    [ "$output" = $'open\n3: 34 messages from each of 1' ]
}

# shellcheck disable=SC2016 # for the inner shell
@test "program: without a name the running fabric is found, with any other objects in /dev/shm" {
    alone 'serve dead
        kill -KILL $!
        wait $! 2>/dev/null
        touch /dev/shm/hxmesh-file.door /dev/shm/hxmesh-.door
        mkfifo /dev/shm/hxmesh-fifo.door
        "$hxmesh" run "1x1 Hx2Mesh" --name run --duration 60s --quiet >run 2>&1 &
        run=$!
        until [ -s /dev/shm/hxmesh-run ]; do sleep 0.02; done
        try ""
        serve one
        one=$!
        try ""
        try dead
        try run
        try file
        serve two
        try ""
        kill "$run" "$one" $!
        wait'
    [ "$output" = "exchange: 0 of any: No such file or directory
open
0: 17 messages from each of 1
exchange: 0 of dead: No such file or directory
exchange: 0 of run: No such file or directory
exchange: 0 of file: No such file or directory
exchange: 0 of any: Name not unique on network" ]
}

@test "program: hxmesh clean finds objects of a killed fabric" {
    serve "2x2 Hx2Mesh" --workers 1
    mapfile -t workers < <(workers_of "$PID")
    kill -KILL "$PID"
    finish
    eventually all_gone "${workers[@]}"
    hxmesh clean >"$BATS_TEST_TMPDIR/clean"
    [ "$(grep -c "^removed /dev/shm/hxmesh-$NAME" "$BATS_TEST_TMPDIR/clean")" -eq 2 ]
    [ -z "$(compgen -G "/dev/shm/hxmesh-$NAME*")" ]
}
