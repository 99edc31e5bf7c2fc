# kill.bats - kill -9 of workers of a running fabric: nothing is lost, no buffer leaks, nothing is left behind.
# shellcheck disable=SC2030,SC2031 # what a test sets is meant for that test alone

load emulator_support

setup() { fresh_name; }
teardown() {
    end_started
}

# kill_workers N: kills N workers of $PID one by one, each when all of them are there.
kill_workers() {
    local n worker
    for ((n = 0; n < $1; n++)); do
        sleep "0.$((RANDOM % 2))$((RANDOM % 10))"
        await_workers "$WORKERS"
        worker=$(workers_of "$PID" | shuf -n 1)
        kill -KILL "$worker"
        eventually gone "$worker"
    done
}
gone() { [ ! -e "/proc/$1" ]; }

@test "kill: killed workers restart and nothing is lost" {
    for WORKERS in $(few 2 "2 4"); do
        start "4x4 Hx2Mesh" --traffic all-to-all-random --duration 8s --workers "$WORKERS"
        await_workers "$WORKERS"
        kill_workers 5
        finish
        [ "$CODE" -eq 0 ]
        holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and
            .messages_failed == 0 and .max_vc <= 2 and .host.worker_deaths == 5'
        [ "$(grep -c '^hxmesh: warning: worker .* was killed by signal 9; its nodes restart$' \
            "$BATS_TEST_TMPDIR/stderr")" -eq 5 ]
        nothing_left
    done
}

# An accelerator owes its rate from its start on: messages of its predecessor count for that one.
# bats test_tags=all
@test "kill: a restarted sender continues at its injection rate" {
    # 8 accelerators, 20 MB/s each.
    start "4x2 Hx1Mesh" --traffic all-to-all-random --message 8KiB --rate 0.0001 --duration 8s --workers 2
    await_workers 2
    await_traffic 20000 # an eighth of its traffic
    kill -KILL "$(workers_of "$PID" | head -n 1)"
    finish
    [ "$CODE" -eq 0 ]
    holds '.complete and .host.worker_deaths == 1 and .messages <= 1.03 * 8 * 8 * 2e7 / 8192'
    nothing_left
}

@test "kill: over several planes, in a fabric of one worker" {
    WORKERS=1
    start "2x2 Hx2Mesh" --planes 4 --duration 6s --workers 1
    await_workers 1
    kill_workers 3
    finish
    [ "$CODE" -eq 0 ]
    holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and
        .host.worker_deaths == 3'
    nothing_left
}

# bats test_tags=all
@test "kill: a counted run delivers every message" {
    WORKERS=3
    start "3x3 Hx2Mesh" --traffic all-to-all-random --message 1MiB --count 6 --workers 3
    await_workers 3
    await_traffic
    worker=$(workers_of "$PID" | shuf -n 1)
    kill -KILL "$worker"
    finish
    [ "$CODE" -eq 0 ]
    holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and
        .messages_failed == 0 and .host.worker_deaths == 1 and .messages >= 36 * 35 * 6'
    nothing_left
}

# A killed receiver loses its part of the file and reports it; those of the other worker have all of it.
# bats test_tags=all
@test "kill: a file in flight arrives complete at receivers that lived, and no copy claims to be complete otherwise" {
    head -c 33554432 /dev/urandom >"$BATS_TEST_TMPDIR/large"
    for worker in hxmesh-w0 hxmesh-w1; do
        begin send "$BATS_TEST_TMPDIR/large" --fabric "4x4 Hx2Mesh" --workers 2
        await_workers 2
        await_traffic
        kill -KILL "$(pgrep --parent "$PID" "$worker")"
        finish
        holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and
            .messages_failed == 0 and .host.worker_deaths == 1 and (.receivers | length == 63)'
        # The northern half of the boards belongs to the first worker.
        holds ".receivers | map(select((.at[1] < 4) == (\"$worker\" == \"hxmesh-w1\"))) |
            length >= 31 and all(.identical)"
        # shellcheck disable=SC2016 # variables of jq
        holds '.sha256 as $sum | .receivers | all(.identical == (.sha256 == $sum))'
        [ "$CODE" -eq "$(jq 'if .identical == 63 then 0 else 1 end' "$REPORT")" ]
        nothing_left
    done
}

# Processes of root have no limit.
# bats test_tags=all
@test "kill: the fabric continues without a worker that the machine gives no process, and starts it later" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    local errors=$BATS_TEST_TMPDIR/stderr worker
    local somebody=(setpriv --reuid=54321 --regid=54321 --clear-groups --bounding-set=-all)
    "${somebody[@]}" "$HXMESH" run "4x4 Hx2Mesh" \
        --traffic all-to-all-random --duration 3s --workers 2 --name "$NAME" --quiet --json - >"$REPORT" 2>"$errors" 3>&- &
    PID=$!
    await_workers 2
    "${somebody[@]}" prlimit --pid "$PID" --nproc=1:
    worker=$(workers_of "$PID" | head -n 1)
    kill -KILL "$worker"
    eventually grep -q 'cannot be started again: .*; its nodes stay down, and it is tried each second$' "$errors"
    await_workers 1
    "${somebody[@]}" prlimit --pid "$PID" --nproc=1000:
    await_workers 2
    finish
    [ "$CODE" -eq 0 ]
    holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and
        .host.worker_deaths == 1'
    [ "$(grep -c 'cannot be started again' "$errors")" -eq 1 ]
    nothing_left
}

# bats test_tags=all
@test "kill: without restart the rest continues and the run ends by itself" {
    WORKERS=2
    start "4x4 Hx2Mesh" --traffic all-to-all-random --duration 4s --workers 2 --no-restart
    await_workers 2
    await_traffic
    kill -KILL "$(workers_of "$PID" | shuf -n 1)"
    finish
    [ "$CODE" -eq 1 ]
    holds '(.interrupted | not) and (.complete | not) and .bytes_corrupted == 0 and .buffers_missing == 0 and
        .host.worker_deaths == 1'
    grep -q 'its nodes stay down$' "$BATS_TEST_TMPDIR/stderr"
    nothing_left
}
