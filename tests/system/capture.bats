# asan
# shellcheck disable=SC2030,SC2031,SC2154 # bats runs each test in a shell of its own, and sets stderr
# capture.bats - hxmesh capture and hxmesh run --capture: the content of the file, and what never stops the fabric.

load capture_run_support

setup() {
    fresh_name
    FILE="$BATS_TEST_TMPDIR/run.pcapng"
    ERRORS="$BATS_TEST_TMPDIR/errors"
}
teardown() {
    end_started
}

capture() { hxmesh capture --name "$NAME" "$@"; }

# frames FILE: number of frames that tshark reads without a complaint.
frames() {
    tshark -r "$1" -T fields -e frame.number 2>"$ERRORS" | wc -l
    run ! grep -v -e "^Running as user" -e "^\$" "$ERRORS"
}

# A run that continues until it is ended.
start_long() {
    start "2x2 Hx2Mesh" --traffic all-to-all-random --message 8KiB --rate 0.00002 --duration 60s --workers 2 "$@"
    await_workers 2
}

is_captured() { "$HXMESH" capture --list | is_so ".fabrics | any(.name == \"$NAME\")"; }

# bats test_tags=all
@test "capture: every port of an all-to-all from the start" {
    report "4x4 Hx2Mesh" --message 2000 --workers 2 --capture "$FILE" --capture-buffer 128MiB
    holds "$WHOLE"' and .capture.dropped == 0 and .capture.unwritten == 0 and .capture.error == null'
    holds '.capture.written == .capture.received'
    captured_whole_fabric "link=memory.*crc=on.*span=run"
    capinfos_says ".*Name = row3/p0/5"
    [ "$(frames "$FILE")" -eq "$(jq .capture.written "$REPORT")" ]
    [ "$(field frame.packet_flags_direction | sort -u | wc -l)" -eq 2 ]
    # Injected at a0,0: a message to each of 63, and their acknowledgements.
    [ "$(field frame.number -Y 'frame.interface_name == "a0,0/p0/local" && frame.packet_flags_direction == 1' |
        wc -l)" -ge 126 ]
    nothing_left
}

@test "capture: a run waits for its file, and loses no frame to it" {
    report "4x4 Hx2Mesh" --message 8KiB --workers 2 --capture "$FILE" --capture-buffer 64KiB
    holds "$WHOLE"' and .capture.dropped == 0 and .capture.written == .capture.received and .packets_lost == 0'
    run hxmesh verify "$FILE"
    [ "$status" -eq 0 ]
    [[ "$output" == "$FILE: good"* && "$output" != *"but "* ]]
    hxmesh trace "$FILE" --json - | jq --exit-status '.packets.missing == 0 and .packets.delivered == .packets.seen'
    # A run that keeps its injection rate instead reports the losses.
    run hxmesh run "4x4 Hx2Mesh" --name "$NAME" --message 8KiB --capture "$FILE" --capture-buffer 64KiB --capture-drop
    [ "$status" -eq 0 ]
    [[ "$output" == *", "[1-9]*" dropped by the tap (without --capture-drop the fabric waits for the file)"* ]]
    run hxmesh verify "$FILE"
    [[ "$output" == *" frames were lost to the capture (a run without --capture-drop, or "*"): at those ports "* ]]
    hxmesh trace "$FILE" | grep -q "^lost .*frames to the capture.* --capture-drop"
}

@test "capture: hxmesh verify finds no error" {
    [ -x "$HXMESH-verify" ] || skip "hxmesh-verify is not built"
    for options in "--workers 1" "--workers 3 --planes 2"; do
        # shellcheck disable=SC2086 # several options
        report "3x2 H2x4Mesh" --message 3000 $options --capture "$FILE" --capture-buffer 128MiB --annotate
        holds "$WHOLE and .capture.dropped == 0"
        hxmesh verify "$FILE"
    done
}

# bats test_tags=all
@test "capture: the settings of a file, and options over them" {
    lab_file
    report "$LAB"
    captured_by_the_file
    report "$LAB" "${LAB_OPTIONS[@]}"
    captured_by_the_options
    [ "$(field data.data | cut -c 29-30 | sort -u)" = 02 ] || [ "$(field hxmesh.kind | sort -u)" = 2 ]
}

@test "capture: one port of a running fabric" {
    start_long
    eventually is_captured
    capture -p 'a1,2/p0/E' -w "$FILE" --count 500 2>"$ERRORS"
    grep -q "^hxmesh: 500 frames captured" "$ERRORS"
    [ "$(frames "$FILE")" -eq 500 ]
    [ "$(field frame.interface_name | sort -u)" = "a1,2/p0/E" ]
    capture -p 'a1,2/*' -p 'col0/p0/?' -w "$FILE" -d 200ms --snaplen 64 --json "$BATS_TEST_TMPDIR/capture.json" -q
    jq --exit-status '.interfaces == 5 + 4 and .written > 0 and .received == .accepted' "$BATS_TEST_TMPDIR/capture.json"
    capinfos "$FILE" | grep -q "span=part"
    end_long
}

@test "capture: into a pipe, live, with a filter" {
    start_long
    eventually is_captured
    capture -p '*/local' -f 'ether dst 02:00:00:02:00:03' -w - --count 50 -q |
        tshark -l -r - -T fields -e eth.dst 2>/dev/null >"$BATS_TEST_TMPDIR/seen"
    [ "$(sort -u "$BATS_TEST_TMPDIR/seen")" = "02:00:00:02:00:03" ]
    [ "$(wc -l <"$BATS_TEST_TMPDIR/seen")" -eq 50 ]
    # A reader that leaves ends the capture, without an error.
    CODE=0
    capture -w - -q | head -c 100000 >/dev/null || CODE=$?
    [ "${PIPESTATUS[0]:-0}" -eq 0 ]
    [ "$CODE" -eq 0 ]
    end_long
}

@test "capture: files rotate" {
    start_long
    eventually is_captured
    capture -w "$FILE" --snaplen 64 --rotate 200KiB,3 -d 1s -q
    [ ! -e "$FILE" ]
    [ "$(find "$BATS_TEST_TMPDIR" -name 'run.*.pcapng' | wc -l)" -eq 3 ]
    for file in "$BATS_TEST_TMPDIR"/run.*.pcapng; do
        [ "$(frames "$file")" -gt 0 ]
    done
    end_long
}

@test "capture: --list names running fabrics and their ports" {
    start_long
    eventually is_captured
    "$HXMESH" capture --list | jq --exit-status --arg name "$NAME" '.fabrics[] | select(.name == $name) |
        .fabric == "2x2 Hx2Mesh" and .workers == 2 and .planes == 1 and .pid > 1 and
        (.ports | length == 16 * 5 + 8 * 4 and contains(["a3,3/p0/local", "col3/p0/0"]))'
    "$HXMESH" capture --list --name "$NAME" | jq --exit-status --arg name "$NAME" '.fabrics | map(.name) == [$name]'
    end_long
}

# bats test_tags=all
@test "capture: several at a time, and no more than there are places" {
    local jobs=()
    start_long
    eventually is_captured
    for n in 1 2 3 4; do
        capture -p "a0,$((n % 4))/*" -w "$FILE.$n" --snaplen 64 -d 30s -q &
        jobs+=($!)
    done
    for n in 1 2 3 4; do
        eventually has_frames "$FILE.$n" 1
    done
    run --separate-stderr capture -w "$FILE"
    [ "$status" -eq 4 ]
    grep -q "captured by 4 others already" <<<"$stderr"
    for job in "${jobs[@]}"; do
        pkill -INT --parent "$job" || true
    done
    for job in "${jobs[@]}"; do
        CODE=0
        wait "$job" || CODE=$?
        [ "$CODE" -eq 130 ]
    done
    for n in 1 2 3 4; do
        [ "$(frames "$FILE.$n")" -gt 0 ]
    done
    end_long
}

@test "capture: ended by Ctrl-C, a complete file" {
    start_long
    eventually is_captured
    env --default-signal=INT "$HXMESH" capture --name "$NAME" -w "$FILE" --snaplen 64 -q &
    local job=$!
    eventually has_frames "$FILE" 1
    kill -INT "$job"
    wait "$job"
    capinfos "$FILE" >/dev/null
    [ "$(field frame.number | wc -l)" -gt 0 ]
    end_long
}

# bats test_tags=all
@test "capture: ends with the fabric" {
    start_long
    eventually is_captured
    capture -w "$FILE" --snaplen 64 -q &
    local job=$!
    eventually has_frames "$FILE" 1
    kill -INT "$PID"
    finish
    wait "$job"
    [ "$CODE" -eq 130 ]
    nothing_left
    [ "$(frames "$FILE")" -gt 0 ]
}

no_worker_taps() {
    local pid
    for pid in $(workers_of "$PID"); do
        ! grep -q hxmesh-tap "/proc/$pid/maps" || return 1
    done
}

# bats test_tags=all
@test "capture: kill -9 of the capture leaves the fabric as it was" {
    start_long
    eventually is_captured
    for _ in 1 2 3; do
        "$HXMESH" capture --name "$NAME" -w "$FILE" --snaplen 64 -q 3>&- &
        local job=$!
        eventually has_frames "$FILE" 1
        kill -KILL "$job"
        wait "$job" || true
        eventually no_worker_taps
        has_frames "$FILE" 1 # its last write may be truncated
        rm "$FILE"
    done
    capture -w "$FILE" --snaplen 64 --count 1000 -q
    end_long
}

# bats test_tags=all
@test "capture: kill -9 of a worker, and the capture goes on with its successor" {
    start_long
    eventually is_captured
    capture -p '*/local' -f 'ether[28] == 1' -w "$FILE" --snaplen 64 -q &
    local job=$!
    for _ in 1 2 3; do
        await_growth "$FILE"
        await_workers 2
        worker=$(workers_of "$PID" | shuf -n 1)
        kill -KILL "$worker"
        eventually all_gone "$worker"
    done
    await_workers 2
    await_growth "$FILE"
    pkill -INT --parent "$job"
    wait "$job" || true
    [ "$(frames "$FILE")" -gt 0 ]
    local last
    last=$(field frame.time_relative | tail -n 1)
    [ "$(field frame.interface_name -Y "frame.time_relative > $last - 0.2" | grep -c '^a')" -gt 0 ]
    kill -INT "$PID"
    finish
    holds '.bytes_corrupted == 0 and .buffers_missing == 0 and .host.worker_deaths == 3'
}

@test "capture: kill -9 of the process that writes for a run" {
    start_long --capture "$FILE" --snaplen 64
    eventually has_frames "$FILE" 1
    pkill -KILL --parent "$PID" hxmesh-tap
    eventually no_worker_taps
    # A truncated file does not claim to be complete, so nothing in it counts as missing.
    capinfos "$FILE" 2>/dev/null | grep -q "span=part"
    end_long
    holds '.capture.error != null and .capture.received > 0'
    grep -q "the process that wrote this capture was killed" "$BATS_TEST_TMPDIR/stderr"
}

@test "capture: a full disk never stops the run, which reports it once" {
    run --separate-stderr report "4x4 Hx2Mesh" --capture /dev/full --snaplen 96
    complained_of_full_disk
    holds '.capture.unwritten + .capture.dropped == .capture.accepted and .capture.received == 2 * .packet_hops'
}

# bats test_tags=all
@test "capture: a file that may not grow ends with a whole block" {
    ulimit -S -f 40000 # KiB: the fabric's memory is less
    run --separate-stderr report "4x4 Hx2Mesh" --duration 1s --capture "$FILE" --capture-buffer 4MiB
    ulimit -S -f unlimited
    [ "$status" -eq 0 ]
    grep -q "^hxmesh: error: .*: File too large: [0-9]* frames written" <<<"$stderr"
    holds "$WHOLE"' and .capture.written > 0 and .capture.unwritten > 0 and
        .capture.written + .capture.unwritten + .capture.dropped == .capture.accepted'
    [ "$(frames "$FILE")" -eq "$(jq .capture.written "$REPORT")" ]
}

@test "capture: notes explain the output of each packet" {
    report "4x4 Hx2Mesh" --traffic incast --message 64KiB --capture "$FILE" --annotate --snaplen 64 \
        --capture-ports 'a0,*' --capture-ports 'row0/*'
    # A sender to a neighbour has one path; into the hot spot packets wait; at a0,0 they have arrived.
    says_why "the only way" "waited, first with room" "it is here" "most room"
}

@test "capture: a pipe without a reader is waited for, and Ctrl-C works meanwhile" {
    mkfifo "$BATS_TEST_TMPDIR/pipe"
    for option in --capture --json; do
        rm -f "$ERRORS"
        env --default-signal=INT "$HXMESH" run "1x1 Hx1Mesh" -t permutation -n 1 -q --name "$NAME" \
            "$option" "$BATS_TEST_TMPDIR/pipe" >/dev/null 2>"$ERRORS" 3>&- &
        local job=$!
        eventually grep -qx "hxmesh: warning: $BATS_TEST_TMPDIR/pipe: waiting for a reader of this pipe" "$ERRORS"
        kill -INT "$job"
        CODE=0
        wait "$job" || CODE=$?
        [ "$CODE" -eq 130 ]
        nothing_left
    done
    # A new reader gets everything.
    hxmesh run "2x2 Hx1Mesh" -q --name "$NAME" --capture "$BATS_TEST_TMPDIR/pipe" >/dev/null 2>"$ERRORS" 3>&- &
    local job=$!
    eventually grep -q "waiting for a reader" "$ERRORS"
    cat "$BATS_TEST_TMPDIR/pipe" >"$FILE"
    wait "$job"
    hxmesh verify "$FILE" --whole
}

@test "capture: a report does not overwrite the capture" {
    says 2 "--json: '$FILE' is the file of --capture too: one would overwrite the other" run "2x2 Hx2Mesh" \
        --json "$FILE" --capture "$FILE"
    [ ! -e "$FILE" ]
    touch "$FILE"
    ln "$FILE" "$FILE.json"
    says 2 "--json: '$FILE.json' is the file of --capture too: one would overwrite the other" run "2x2 Hx2Mesh" \
        --json "$FILE.json" --capture "$FILE" --clock virtual
    says 2 "--json: '$FILE' is the file of --write too: *" capture --json "$FILE" --write "$BATS_TEST_TMPDIR/./run.pcapng"
}

@test "capture: a writer that was stopped does not keep the name of a killed run" {
    start_long --capture "$FILE" --snaplen 64
    eventually test -s "$FILE"
    local tap
    tap=$(pgrep --parent "$PID" hxmesh-tap)
    kill -STOP "$tap"
    kill -KILL "$PID"
    wait "$PID" || true
    CODE=0
    eventually hxmesh run "1x1 Hx1Mesh" -q --name "$NAME" --json /dev/null 2>/dev/null || CODE=$? # its workers die first
    kill -KILL "$tap"
    [ "$CODE" -eq 0 ]
}

@test "capture: --list reports that there is no shared memory" {
    unshare --user --map-root-user --mount true || skip "no mount namespaces"
    run --separate-stderr unshare --user --map-root-user --mount sh -c "mount -t tmpfs none /dev && '$HXMESH' capture --list"
    [ "$status" -eq 4 ]
    [ "$stderr" = "hxmesh: error: /dev/shm: cannot be read: No such file or directory" ]
}

# says CODE LINE ARGUMENTS...: hxmesh ends with CODE and exactly this line, after "hxmesh: error: ".
says() {
    local code=$1 line=$2
    shift 2
    run --separate-stderr hxmesh "$@"
    if [ "$status" -ne "$code" ] || [ -n "$output" ] || [[ "$stderr" != "hxmesh: error: "$line ]]; then
        printf 'status %s, not %s\nstdout: %s\nstderr: %s\n' "$status" "$code" "$output" "$stderr"
        return 1
    fi
}

@test "capture: bad usage is refused in one line" {
    says 4 "no-such: no fabric of this name is running" capture --name no-such -w "$FILE"
    says 2 "--name: 'a/b' is no name of a fabric" capture --name a/b -w "$FILE"
    says 2 "--write: is missing*" capture --name x
    says 2 "--snaplen: *" capture -w "$FILE" --snaplen 10
    says 2 "--rotate: 'many' is not a size *, as 100MiB,5)" capture -w "$FILE" --rotate many
    says 4 "none: no fabric of this name is running" capture --list --name none
    says 2 "--rotate: stdout cannot be rotated" capture -w - --rotate 1MiB
    says 2 "--capture: is missing*" run "2x2 Hx2Mesh" --capture-ports '*'
    says 2 "--capture: *stdout*" run "2x2 Hx2Mesh" --capture -
    says 2 "--capture-ports: 'b*': no port of this fabric is named so *" run "2x2 Hx2Mesh" --capture "$FILE" \
        --capture-ports 'b*' --name "$NAME"
    says 2 "--capture-filter: 'not a filter': *" run "2x2 Hx2Mesh" --capture "$FILE" --capture-filter 'not a filter' \
        --name "$NAME"
    says 4 "/nowhere/x: cannot be written: No such file or directory" run "2x2 Hx2Mesh" --capture /nowhere/x \
        --name "$NAME"
    nothing_left
    printf 'fabric: 2x2 Hx2Mesh\ncapture: {ports: a0}\n' >"$BATS_TEST_TMPDIR/bad.hxm.yaml"
    says 3 "$BATS_TEST_TMPDIR/bad.hxm.yaml:2:*file*" run "$BATS_TEST_TMPDIR/bad.hxm.yaml"
    printf 'fabric: 2x2 Hx2Mesh\ncapture: {file: x, snaplen: 1}\n' >"$BATS_TEST_TMPDIR/bad.hxm.yaml"
    says 3 "$BATS_TEST_TMPDIR/bad.hxm.yaml:2:29: capture.snaplen: *" run "$BATS_TEST_TMPDIR/bad.hxm.yaml"
    start_long
    eventually is_captured
    says 2 "--port: 'zz': no port of this fabric is named so *" capture --name "$NAME" -p zz -w "$FILE"
    says 2 "--filter: 'ip host ('*" capture --name "$NAME" -f 'ip host (' -w "$FILE"
    says 4 "/nowhere/x: cannot be written: *" capture --name "$NAME" -w /nowhere/x
    says 4 "/dev/full: No space left on device: *" capture --name "$NAME" -w /dev/full -q
    end_long
}

# bats test_tags=all
@test "capture: it has the faults of the run, from the start or by hxmesh fault" {
    local at_once="a0,0/N loss=1% for 1ms"
    start_long --capture "$FILE" --snaplen 64 --capture-ports 'a0,0/*' --fault "a0,0/E down at 10ms for 10ms"
    eventually has_frames "$FILE" 1
    hxmesh fault --name "$NAME" "$at_once"
    eventually has_comment 'fault at [0-9.]* m*s: '"$at_once"
    end_long
    has_comment 'fault at 10 ms: a0,0/E down at 10ms for 10ms'
    [ "$(field frame.comment -Y 'frame.comment contains "fault at "' | wc -l)" -le 2 ]
}
has_comment() { field frame.comment | grep -q "^$1\$"; }

# bats test_tags=all
@test "capture: one that begins during a fault names it, and is good with it; so is each rotated file" {
    local line="a0,0/E corrupt=30%" file
    start_long --fault "$line at 1ms"
    eventually has_corrupted
    capture -w "$FILE" -p 'a*' -c 400 -q
    has_comment "fault at 1 ms, [0-9]*ms ago: $line at 1ms"
    run -0 hxmesh verify "$FILE"
    [[ $output == *"1 fault is reported in the capture"* ]]
    capture -w "$BATS_TEST_TMPDIR/more.pcapng" -p 'a*' --rotate 256KiB -c 100 -q
    for file in "$BATS_TEST_TMPDIR"/more.*.pcapng; do
        FILE=$file has_comment "fault at 1 ms, [0-9]*ms ago: $line at 1ms"
        run -0 hxmesh verify "$file"
    done
    [ "$(find "$BATS_TEST_TMPDIR" -name 'more.*.pcapng' | wc -l)" -gt 1 ]
    end_long
}

# fault_lines FILE: the faults in the file, as lines of schedules.
fault_lines() {
    FILE=$1 field frame.comment -Y 'frame.comment contains "fault at "' | sed 's/\\n/\n/g' | sed 's/^fault at [^:]*: //'
}
has_fault() { fault_lines "$1" | grep -qFx "$2"; }

# All lines differ, so none stands for two.
# bats test_tags=all
@test "capture: it has every fault of its run, though a thousand begin at once; a later one has those that still hold" {
    local line="a0,0/E corrupt=30% at 1ms" list="$BATS_TEST_TMPDIR/many.faults" late="$BATS_TEST_TMPDIR/late.pcapng" i
    echo "$line" >"$list"
    for ((i = 1; i <= 1000; i++)); do
        echo "a1,1/S loss=0.1% at 20ms for $((1000000 + i))ns" >>"$list"
    done
    start_long --capture "$FILE" --snaplen 64 --capture-ports 'a0,0/*' --faults "$list"
    eventually has_fault "$FILE" "a1,1/S loss=0.1% at 20ms for 1001000ns"
    capture -w "$late" -p 'a*' -c 400 -q
    end_long
    fault_lines "$FILE" | sort | diff - <(sort "$list")
    has_fault "$late" "$line"
    run -0 hxmesh verify "$late"
}
has_corrupted() { hxmesh fault --name "$NAME" --list --json - | is_so '.faults[0].corrupted > 0'; }
