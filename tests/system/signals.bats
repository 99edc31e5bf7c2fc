# asan
# signals.bats - a run that is interrupted at any time reports and leaves nothing behind; `hxmesh clean` and the next
# run of its name remove what a killed one leaves.

load emulator_support

setup() { fresh_name; }
teardown() {
    end_started
}

# ended_clean SIGNAL: the run ended by itself after SIGNAL. The signal itself ends one that has not begun.
ended_clean() {
    finish
    nothing_left
    if [ ! -s "$REPORT" ] && [ "$CODE" -eq $((128 + $(kill -l "$1"))) ]; then
        echo "# $1 came before the run began" >&3
        return 0
    fi
    [ "$CODE" -eq 130 ]
    [ ! -s "$BATS_TEST_TMPDIR/stderr" ]
    holds '.interrupted and .bytes_corrupted == 0 and .buffers_missing == 0 and .accelerators == 64'
}

# Until `env` runs, SIGINT is ignored, as shells do for programs in the background.
await_program() {
    local comm=
    until read -r comm 2>/dev/null <"/proc/$PID/comm" && [[ $comm == hxmesh* ]]; do
        kill -0 "$PID"
    done
}

@test "signals: SIGINT at any time" {
    for after in 0.01 0.05 0.1 0.3 1; do
        start "4x4 Hx2Mesh" --duration 20s
        await_program
        sleep "$after"
        kill -INT "$PID"
        ended_clean INT
    done
}

@test "signals: SIGTERM at any time" {
    for after in 0.01 0.05 0.1 0.3 1; do
        start "4x4 Hx2Mesh" --duration 20s --planes 2 --traffic incast
        sleep "$after"
        kill -TERM "$PID"
        ended_clean TERM
    done
}

# ended_waiting SIGNAL VERB...: it waits for a pipe to read, and SIGNAL ends it at once, with 130.
ended_waiting() {
    local signal=$1 after=0.5
    shift
    [ "$signal" = INT ] || after=2 # its handler is installed by then
    CODE=0
    timeout --preserve-status --signal="$signal" --kill-after=5 "$after" "$HXMESH" "$@" >"$REPORT" 9>&- || CODE=$?
    echo "$signal, $*: $CODE"
    [ "$CODE" -eq 130 ]
    [ ! -s "$REPORT" ]
}

# bats test_tags=all
@test "signals: while the file of a fabric does not arrive" {
    local fifo="$BATS_TEST_TMPDIR/fifo" signal
    mkfifo "$fifo"
    for signal in INT TERM; do
        ended_waiting "$signal" run "$fifo"
        ended_waiting "$signal" run "$fifo" --clock virtual
        ended_waiting "$signal" run 4x4Hx2Mesh --faults "$fifo"
        ended_waiting "$signal" up "$fifo"
    done
    exec 9<>"$fifo" # a writer opens it, and writes nothing
    ended_waiting INT run "$fifo"
    exec 9>&-
    nothing_left
    run "$HXMESH" run <(echo "fabric: 2x1 Hx2Mesh") --count 1 --quiet # a pipe works like a file
    [ "$status" -eq 0 ]
    run "$HXMESH" run <(true) --quiet
    [ "$status" -eq 3 ]
}

# A hundred choices of some 0.3 s each come before the run.
@test "signals: while the algorithms of a schedule are chosen" {
    local schedule="$BATS_TEST_TMPDIR/many.schedule.yaml" i
    printf 'ranks: 256\nprogram:\n' >"$schedule"
    for i in {1..100}; do
        echo "  - {collective: all-reduce, bytes: $((i * 65536))}"
    done >>"$schedule"
    ended_waiting INT run "fat-tree hosts=256" --traffic "$schedule" --clock virtual
    ended_waiting INT run "fat-tree hosts=256" --traffic "$schedule" --name "$NAME"
    nothing_left
}

@test "signals: a terminal that goes away" {
    start "4x4 Hx2Mesh" --duration 20s
    await_workers "$(nproc)"
    kill -HUP "$PID"
    ended_clean HUP
}

# start_with_table ARGUMENTS...: as start, with the report for people.
start_with_table() {
    env --default-signal=INT "$HXMESH" run "$@" --name "$NAME" --quiet >"$BATS_TEST_TMPDIR/table" 3>&- &
    PID=$!
}

@test "signals: the table marks a live run as interrupted, though everything arrived" {
    start_with_table "2x2 Hx2Mesh" --duration 20s
    await_traffic
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
    grep -q ' given up, interrupted; all acknowledged' "$BATS_TEST_TMPDIR/table"
    nothing_left
}

has_any_worker() { pgrep --parent "$1" 'hxmesh-[wv]'; }

# bats test_tags=all
@test "signals: under nohup a run outlives its terminal, under both clocks" {
    local options pid
    for options in "wall --name $NAME --duration 3s" "virtual --message 1MiB --count 4"; do
        # shellcheck disable=SC2086 # several options
        env --ignore-signal=HUP "$HXMESH" run "4x4 Hx2Mesh" --clock $options --workers 2 --quiet --json - \
            >"$REPORT" 2>"$BATS_TEST_TMPDIR/stderr" 3>&- &
        pid=$!
        eventually has_any_worker "$pid"
        kill -HUP "$pid"
        wait "$pid"
        holds '.complete and (.interrupted | not) and .packets_lost == 0'
        nothing_left
    done
}

@test "signals: Ctrl-C reaches the workers too" {
    GROUP=1 start "4x4 Hx2Mesh" --duration 20s --workers 2
    await_workers 2
    await_traffic
    kill -INT -- "-$PID"
    ended_clean INT
    holds '.packets_lost == 0 and .host.worker_deaths == 0'
}

@test "signals: twice" {
    start "4x4 Hx2Mesh" --duration 20s
    await_workers "$(nproc)"
    kill -INT "$PID"
    kill -INT "$PID" || true
    ended_clean INT
    # Close together they are one request: messages in flight drain.
    start "4x4 Hx2Mesh" --duration 20s
    await_workers "$(nproc)"
    await_traffic 1000 # well into the traffic
    kill -INT "$PID"
    kill -TERM "$PID" || true # two SIGINT could be one to the kernel
    ended_clean INT
    holds '.packets_lost == 0 and .packets_sent > 0 and .packets_sent == .packets_delivered'
}

@test "signals: a file in flight" {
    truncate --size 200M "$BATS_TEST_TMPDIR/large"
    begin send "$BATS_TEST_TMPDIR/large"
    await_workers "$(nproc)"
    kill -INT "$PID"
    ended_clean INT
}

@test "signals: kill -9 of the supervisor ends its workers; clean removes their objects, and no others" {
    first=$NAME
    start "4x4 Hx2Mesh" --duration 60s --workers 3
    await_workers 3
    victim=$PID
    mapfile -t workers < <(workers_of "$victim")
    fresh_name
    REPORT="$BATS_TEST_TMPDIR/other.json"
    start "2x2 Hx2Mesh" --duration 60s --workers 1
    await_workers 1

    kill -KILL "$victim"
    wait "$victim" 2>/dev/null || true
    eventually all_gone "${workers[@]}"
    [ -e "/dev/shm/hxmesh-$first" ]

    hxmesh clean --json - >"$BATS_TEST_TMPDIR/clean.json"
    # shellcheck disable=SC2016 # variables of jq
    jq --exit-status --arg left "hxmesh-$first" --arg running "hxmesh-$NAME" '
        any(.[]; .name == $left and .removed and .bytes > 0) and any(.[]; .name == $running and (.removed | not))' \
        "$BATS_TEST_TMPDIR/clean.json"
    nothing_left "$first"
    [ -e "/dev/shm/hxmesh-$NAME" ]
    run hxmesh clean
    [ "$status" -eq 0 ]
    [[ "$output" == *"in use  /dev/shm/hxmesh-$NAME "* ]]
    [[ "$output" != *"$first"* ]]

    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
    holds '.interrupted and .packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0'
    nothing_left
}

@test "signals: the next run of its name takes over a killed one's objects" {
    start "4x4 Hx2Mesh" --duration 60s --workers 2
    await_workers 2
    mapfile -t workers < <(workers_of "$PID")
    kill -KILL "$PID"
    finish
    eventually all_gone "${workers[@]}"
    [ -e "/dev/shm/hxmesh-$NAME" ]
    report "2x2 Hx2Mesh"
    holds "$WHOLE"
    nothing_left
}
