# top.bats - hxmesh top: counters of a running fabric, live and virtual, end at those of its report; the screen; and
# objects of a killed run.

load emulator_support

setup() { fresh_name; }
teardown() {
    end_started
}

running() { [ -e "/dev/shm/hxmesh-$NAME" ] && hxmesh top "$NAME" --json - --count 1 --interval 100ms; }

has_writer() { writer=$(pgrep --parent "$PID" hxmesh-tap); }

# whole LINES: counters never decrease, and the last line is the end.
whole() {
    jq --slurp --exit-status '
        (.[-1].state == "ended") and ([.[].packet_hops] | . == sort) and ([.[].bytes_delivered] | . == sort) and
        ([.[].wall_seconds] | . == sort) and all(.[]; .links | length == 3) and
        all(.[]; .links[0].packets_per_second >= .links[2].packets_per_second)' "$1"
}

# as_reported LINES: the last line equals the report.
as_reported() {
    local keys='[.spec, .clock, .packet_hops, .packets_sent, .packets_delivered, .bytes_delivered, .messages, .drops]'
    [ "$(tail -n 1 "$1" | jq --compact-output "$keys")" = "$(jq --compact-output "$keys" "$REPORT")" ]
}

# never_above_one FILE: no link and no worker is busy for more than all of the time.
never_above_one() {
    [ "$(jq --slurp 'all(.[]; (.links | all(.load <= 1 and .gbps >= 0)) and (.workers | all(.busy <= 1)))' "$1")" = true ]
}

@test "top: lines of JSON of a live and of a virtual run end at the report's counters" {
    SAID="$BATS_TEST_TMPDIR/lines"
    start "2x2 Hx2Mesh" --duration 3s --message 8KiB
    eventually running
    hxmesh top "$NAME" --json - --interval 200ms --links 3 >"$SAID"
    finish
    [ "$CODE" -eq 0 ]
    whole "$SAID"
    as_reported "$SAID"
    never_above_one "$SAID"
    fresh_name
    start "8x8 Hx2Mesh" --clock virtual --message 256KiB
    eventually running
    hxmesh top "$NAME" --json "$SAID" --interval 200ms --links 3
    finish
    [ "$CODE" -eq 0 ]
    whole "$SAID"
    as_reported "$SAID"
    never_above_one "$SAID"
    [ "$(jq --slurp '.[-1].workers | all(.state == "done")' "$SAID")" = true ]
    nothing_left
}

@test "top: a page as text, and the names of running fabrics" {
    start "2x2 Hx2Mesh" --duration 60s --message 8KiB --no-verify
    eventually running
    run -2 hxmesh top "$NAME" --name other --once
    [ "$output" = "hxmesh: error: $NAME: and --name other name two fabrics: give one" ]
    run hxmesh top --name "$NAME" --once --interval 100ms
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == "hxmesh top  $NAME: 2x2 Hx2Mesh, 1 plane "*" running "* ]]
    [[ "$output" == *"packets/s    Gb/s   share "*"hottest links"*"packets/s sent by each accelerator"* ]]
    TERM=dumb run hxmesh top "$NAME" --count 2 --interval 100ms
    [ "$(grep -c '^hxmesh top' <<<"$output")" -eq 2 ]
    first=$PID other=$NAME
    fresh_name
    start "2x2 Hx2Mesh" --clock virtual --message 1KiB --traffic uniform --duration 10s
    eventually running
    run --separate-stderr hxmesh top --once
    [ "$status" -eq 2 ]
    # shellcheck disable=SC2154 # bats sets it
    [[ "$stderr" == "hxmesh: error: --name: "*" fabrics are running: choose one of "*"$NAME"* ]]
    run --separate-stderr hxmesh capture --name "$NAME" -w /dev/null
    [ "$status" -eq 2 ]
    [[ "$stderr" == "hxmesh: error: $NAME: this fabric runs under the virtual clock ("* ]]
    kill -INT "$PID" "$first"
    finish
    [ "$CODE" -eq 130 ]
    wait "$first" || [ "$?" -eq 130 ]
    nothing_left
    nothing_left "$other"
}

@test "top: run --watch shows the screen on an 80x24 terminal, then the report on stdout" {
    for clock in "--duration 1s" "--clock virtual --message 1MiB"; do
        run script --quiet --return --command "stty rows 24 cols 80; TERM=xterm \
            '$HXMESH' run '4x4 Hx2Mesh' --name $NAME --watch $clock --json '$REPORT'" /dev/null
        [ "$status" -eq 0 ]
        [[ "$output" == *"hottest links"*"packets/s sent by each accelerator"* ]]
        holds "$WHOLE"
        nothing_left
    done
    # Without a terminal: blocks, on stderr.
    run --separate-stderr setsid --wait "$HXMESH" run "2x2 Hx2Mesh" --name "$NAME" --watch --duration 1200ms
    [ "$status" -eq 0 ]
    [[ "$output" == "2x2 Hx2Mesh: 16 accelerators"* ]]
    [[ "$stderr" == "hxmesh top  $NAME: "*"hottest links"* ]]
}

@test "top: key s sorts the links by all their packets, and back; q ends it" {
    local keys="$BATS_TEST_TMPDIR/keys" screen="$BATS_TEST_TMPDIR/screen"
    titles() { [ "$(grep --only-matching --text "$1" "$screen" | wc -l)" -ge "$2" ]; }
    start "2x2 Hx2Mesh" --duration 60s --message 8KiB --no-verify
    eventually running
    mkfifo "$keys"
    script --quiet --flush --return --command "stty rows 24 cols 80; TERM=xterm '$HXMESH' top $NAME --interval 100ms" \
        "$screen" <"$keys" >/dev/null 3>&- &
    local top=$!
    exec 4>"$keys"
    eventually titles "hottest links" 1
    [ "$(grep --count --text "links by packets in all" "$screen")" -eq 0 ]
    printf s >&4
    eventually titles "links by packets in all" 1
    printf s >&4
    eventually titles "hottest links" 2
    printf q >&4
    wait "$top"
    exec 4>&-
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
}

@test "top: objects of a killed virtual run are no fabric, and the next run of its name takes them over" {
    start "4x4 Hx2Mesh" --clock virtual --traffic uniform --duration 10s --capture "$BATS_TEST_TMPDIR/run.pcapng" \
        --snaplen 64
    eventually running
    eventually has_writer
    kill -STOP "$writer" # it does not keep the name
    mapfile -t workers < <(pgrep --parent "$PID" hxmesh-v)
    kill -KILL "$PID"
    finish
    eventually all_gone "${workers[@]}"
    [ -e "/dev/shm/hxmesh-$NAME" ]
    run --separate-stderr hxmesh top "$NAME"
    [ "$status" -eq 4 ]
    [ "$stderr" = "hxmesh: error: $NAME: no fabric of this name is running" ]
    report "2x2 Hx2Mesh" --clock virtual --message 1KiB
    holds "$WHOLE"
    kill -KILL "$writer"
    eventually nothing_left
}

@test "top: bad usage is refused in one line" {
    says() {
        run --separate-stderr hxmesh top "${@:3}"
        [ "$status" -eq "$1" ] && [ -z "$output" ] && [[ "$stderr" == "hxmesh: error: $2"* ]] && [ "$(wc -l <<<"$stderr")" -eq 1 ]
    }
    says 4 "no-such: no fabric of this name is running" no-such
    says 2 "a/b: is no name of a fabric" a/b
    says 2 "--interval: " x --interval 1ms
    says 2 "b: " a b
}
