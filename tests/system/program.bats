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
exchange() { timeout --kill-after=5 100 "$EXCHANGE" "$NAME" "$@" 3>&-; }

@test "program: two exchange messages of 0 B to 64 MiB, in order, every byte checked" {
    serve "2x2 Hx2Mesh" --workers 2
    exchange a0,0 1 100000000 15 &
    exchange 15 1 100000000 0 >"$BATS_TEST_TMPDIR/out"
    wait $!
    grep -q '^15: 17 messages from each of 1$' "$BATS_TEST_TMPDIR/out"
    end_serving
    holds '.bytes_corrupted == 0 and .messages_failed == 0'
}

@test "program: everybody with everybody and with itself, in any other fabric too" {
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

@test "program: a worker is killed meanwhile, and nothing is lost, doubled or out of order" {
    serve "2x2 Hx2Mesh" --workers 2
    exchange 0 40 300000 15 &
    local other=$!
    for _ in 1 2 3; do
        sleep 0.1
        worker=$(workers_of "$PID" | shuf -n 1)
        [ -z "$worker" ] || kill -KILL "$worker"
    done &
    local killer=$!
    exchange 15 40 300000 0
    wait "$other"
    wait "$killer"
    end_serving
}

@test "program: one is killed, and its host and its peers go on with the next one" {
    serve "2x2 Hx2Mesh" --workers 2
    exchange 0 1000 300000 15 2>/dev/null &
    local first=$!
    exchange 15 1000 300000 0 2>"$BATS_TEST_TMPDIR/error" &
    local second=$!
    eventually sent_something
    pkill -KILL --full "^$EXCHANGE $NAME 0 "
    wait "$first" || true
    exchange 0 1 1000 0
    exchange 0 1 300000 15 2>/dev/null &
    local third=$!
    wait "$second" && return 1
    grep -q 'Connection reset' "$BATS_TEST_TMPDIR/error"
    eventually pkill -KILL --full "^$EXCHANGE $NAME 0 "
    wait "$third" || true
    exchange 0 1 300000 15 &
    third=$!
    exchange 15 1 300000 0
    wait "$third"
    end_serving
}

sent_something() {
    "$HXMESH" top "$NAME" --count 1 --interval 100ms --json - | is_so '.packets_delivered > 100'
}

@test "program: what finds no way goes again when there is one" {
    serve "fat-tree hosts=4 radix=8" --workers 2
    exchange 0 400 300000 1 &
    local other=$!
    exchange 1 400 300000 0 &
    local second=$!
    eventually sent_something
    hxmesh fault --name "$NAME" "leaf0/0 down for 3s"
    wait "$other"
    wait "$second"
    end_serving
    holds '.drops.unreachable > 0 and .bytes_corrupted == 0'
}

@test "program: a host is held by one at a time, and opening says why it cannot be" {
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

@test "program: what a killed fabric left is found by hxmesh clean" {
    serve "2x2 Hx2Mesh" --workers 1
    kill -KILL "$PID"
    finish
    hxmesh clean >"$BATS_TEST_TMPDIR/clean"
    [ "$(grep -c "^removed /dev/shm/hxmesh-$NAME" "$BATS_TEST_TMPDIR/clean")" -eq 17 ]
    [ -z "$(compgen -G "/dev/shm/hxmesh-$NAME*")" ]
}
