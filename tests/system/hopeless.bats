# hopeless.bats - impossible runs end by themselves with a true report: destinations without a path, workers that stay
# down, workers that do not answer.

load emulator_support

setup() { fresh_folder; }
teardown() { end_started; }

# Of the living boards 0,0 1,1 2,0 2,1 only 0,0 and 1,1 have no path: both corners between them have failed.
@test "hopeless: messages to destinations without a path fail, all others are delivered" {
    printf 'fabric: 3x2 Hx1Mesh\nfailed_boards: [[1, 0], [0, 1]]\n' >cut.hxm.yaml
    for count in 1 60; do
        start cut.hxm.yaml --count "$count" --workers 2
        finish
        [ "$CODE" -eq 1 ]
        holds ".messages == 10 * $count and .messages_failed == 2 * $count and .messages_begun == 12 * $count"
        holds '.bytes_corrupted == 0 and .buffers_missing == 0 and .drops.unreachable > 0 and
            ([.drops[]] | add) == .drops.unreachable + .drops.duplicate + .drops.stale and (.interrupted | not) and .host.worker_deaths == 0'
        nothing_left
    done
}

@test "hopeless: without restart, a counted run ends when the rest has done what it can" {
    start "3x1 Hx1Mesh" --count 10000 --message 100000 --workers 3 --no-restart
    await_workers 3
    await_traffic
    kill -KILL "$(pgrep --parent "$PID" hxmesh-w2)"
    finish
    [ "$CODE" -eq 1 ]
    # Two boards are left: between them everything arrives.
    holds '(.complete | not) and .bytes_corrupted == 0 and .buffers_missing == 0 and .host.worker_deaths == 1 and
        .messages_failed > 0 and .messages >= 2 * 10000'
    nothing_left
}

# Three probes of a0,0 stay unanswered while worker 1 is stopped, but paths between a0,0 and a1,0 are whole.
@test "hopeless: a worker that is only slow has a path, though another one is gone" {
    start "3x1 Hx1Mesh" --count 200 --message 1KiB --rate 1e-6 --workers 3 --no-restart --fault "worker2 killed at 100ms" \
        --fault "worker1 stopped at 200ms for 3s"
    finish
    [ "$CODE" -eq 1 ]
    holds '.messages_failed > 0 and .messages >= 2 * 200 and .buffers_missing == 0'
    nothing_left
}

@test "hopeless: without restart, a fabric of one worker leaves nothing behind" {
    start "2x2 Hx2Mesh" --duration 60s --workers 1 --no-restart
    await_workers 1
    kill -KILL "$(workers_of "$PID")"
    finish
    [ "$CODE" -eq 1 ]
    holds '(.complete | not) and .buffers_missing == 0 and .host.worker_deaths == 1'
    nothing_left
}

@test "hopeless: a worker that does not answer is killed at the end, and no buffer is missing" {
    start "4x4 Hx2Mesh" --duration 60s --workers 3
    await_workers 3
    await_traffic
    local worker
    worker=$(pgrep --parent "$PID" hxmesh-w1)
    kill -STOP "$worker"
    eventually is_stopped "$worker"
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
    holds '.interrupted and (.complete | not) and .bytes_corrupted == 0 and .buffers_missing == 0 and
        .messages > 0'
    nothing_left
}

# shellcheck disable=SC2154 # bats sets stderr
@test "hopeless: a fabric that does not fit is refused before anything is allocated" {
    run --separate-stderr hxmesh run "3x3 Hx64Mesh" --name "$NAME"
    [ "$status" -eq 4 ]
    [[ "$stderr" =~ ^"hxmesh: error: 3x3 Hx64Mesh: needs about "[0-9.]+" GiB of memory, there are "[0-9.]+" GiB (a smaller fabric, fewer --planes or --credits, or --clock virtual)"$ ]]
    run --separate-stderr bash -c "ulimit -v 500000; '$HXMESH' run '32x32 Hx2Mesh' --name '$NAME'"
    [ "$status" -eq 4 ]
    [[ "$stderr" =~ ^"hxmesh: error: 32x32 Hx2Mesh: needs "[0-9.]+" GiB of addresses in a process, which may have 0.5 GiB "[^$'\n']*$ ]]
    nothing_left
}

@test "hopeless: a limit of addresses leaves the virtual clock what a small fabric needs" {
    for spec in "1x1 Hx1Mesh" "4x4 Hx2Mesh"; do
        for workers in 1 2; do
            bash -c "ulimit -v 1000000; '$HXMESH' run '$spec' --clock virtual --workers $workers --share-cores --quiet --json -" >"$REPORT"
            holds "$WHOLE"
        done
    done
    bash -c "ulimit -v 4000000; '$HXMESH' run '2x1 Hx2Mesh' --clock virtual --verify --capture '$BATS_TEST_TMPDIR/c.pcapng' --quiet --json -" >"$REPORT"
    holds "$WHOLE"
}

# shellcheck disable=SC2154 # bats sets stderr
@test "hopeless: refused memory ends a program in one line" {
    run --separate-stderr bash -c "ulimit -v 20000; '$HXMESH' check '64x64 Hx4Mesh' --quiet"
    [ "$status" -eq 4 ]
    [ -z "$output" ]
    [[ "$stderr" =~ ^"hxmesh: error: out of memory: "[0-9]+" times "[0-9]+" bytes were refused"$ ]]
}

@test "hopeless: a worker that dies again and again before it is ready ends the run" {
    local worker
    start "16x16 Hx2Mesh" --duration 60s --workers 1
    while read -r worker <"/proc/$PID/task/$PID/children" || kill -0 "$PID"; do # fast enough to kill it before it is ready
        [ -z "$worker" ] || kill -KILL "$worker" || true
    done 2>/dev/null
    finish
    [ "$CODE" -eq 1 ]
    [ "$(tail -n 1 "$BATS_TEST_TMPDIR/stderr")" = "hxmesh: error: worker 0 died 8 times in a row while it was set up: it is not started again" ]
    holds '.host.worker_deaths >= 8 and .host.worker_deaths < 100 and (.complete | not)'
    nothing_left
}
