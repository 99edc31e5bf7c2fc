# asan
# shellcheck disable=SC2030,SC2031,SC2154 # bats runs each test in a shell of its own, and sets stderr
# replay.bats - hxmesh replay: frames of a capture again, into a fabric and onto an interface.

load capture_run_support

setup() {
    fresh_name
    FILE="$BATS_TEST_TMPDIR/first.pcapng"
    AGAIN="$BATS_TEST_TMPDIR/again.pcapng"
    SENT="$BATS_TEST_TMPDIR/sent.json"
}
teardown() {
    end_started
}

# Frames to replay: all-to-all of a 2x2 Hx2Mesh.
record() {
    report "2x2 Hx2Mesh" --message 3000 --workers 2 --capture "$FILE" --capture-buffer 64MiB
    holds '.capture.dropped == 0'
}

# A fabric with little traffic of its own. Its frames at PORTS go to $AGAIN.
start_quiet() {
    start "2x2 Hx2Mesh" --traffic permutation --message 1 --count 0 --rate 0.000001 --duration 60s --workers 2 \
        --capture "$AGAIN" --capture-ports "$1" --capture-filter 'greater 1000'
    await_workers 2
    eventually is_listed
}
is_listed() { "$HXMESH" capture --list | is_so ".fabrics | any(.name == \"$NAME\")"; }
end_quiet() {
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
    holds '.bytes_corrupted == 0 and .buffers_missing == 0 and .capture.dropped == 0'
    nothing_left
}

replay() { hxmesh replay "$FILE" --name "$NAME" --json "$SENT" "$@"; }

# bytes_at PORT DIRECTION FILE: the end-to-end part of each frame of 1,000 bytes and more there, sorted.
bytes_at() {
    tshark -r "$3" -Y "frame.interface_name == \"$1\" && frame.packet_flags_direction == $2 && frame.len > 1000" \
        -T fields -e frame.len -e eth.dst -e eth.src 2>/dev/null | sort
}

# arrived PORT N: N of them have arrived there.
arrived() { [ "$(bytes_at "$1" 1 "$AGAIN" | wc -l)" -ge "$2" ]; }

# bats test_tags=all
@test "replay: into a port with a switch that forwards them" {
    record
    start_quiet 'a1,2/p0/*'
    replay --port a1,2/p0/E --from a1,2/p0/E --direction in --as-fast-as-possible
    local frames
    frames=$(jq .sent "$SENT")
    jq --exit-status '.sent > 0 and .sent + .passed_over == .read and .cut == 0 and ([.refused[]] | add) == 0' "$SENT"
    eventually arrived a1,2/p0/E "$(bytes_at a1,2/p0/E 1 "$FILE" | wc -l)"
    end_quiet
    # They arrived there, as in the capture, and went on.
    [ "$(bytes_at a1,2/p0/E 1 "$AGAIN")" = "$(bytes_at a1,2/p0/E 1 "$FILE")" ]
    [ "$(bytes_at a1,2/p0/E 1 "$FILE" | wc -l)" -gt 0 ]
    [ "$frames" -ge "$(bytes_at a1,2/p0/E 1 "$FILE" | wc -l)" ]
    [ "$(tshark -r "$AGAIN" -Y 'frame.packet_flags_direction == 2' 2>/dev/null | wc -l)" -ge \
        "$(bytes_at a1,2/p0/E 1 "$AGAIN" | wc -l)" ]
}

# bats test_tags=all
@test "replay: injected at local, they reach their destinations" {
    record
    start_quiet '*/local'
    replay --port a3,3/p0/local --from a3,3/p0/local --direction in --as-fast-as-possible -f 'greater 1000'
    [ "$(jq .sent "$SENT")" -eq 15 ]
    eventually arrived a3,3/p0/local 15
    end_quiet
    [ "$(bytes_at a3,3/p0/local 1 "$AGAIN" | wc -l)" -eq 15 ]
    [ "$(tshark -r "$AGAIN" -Y 'frame.packet_flags_direction == 2 && eth.src == 02:00:00:03:00:03' 2>/dev/null |
        wc -l)" -eq 15 ]
}

@test "replay: into a port of a network, in original time, and at a rate" {
    record
    start_quiet 'row1/* a2,1/p0/W'
    replay --port row1/p0/2 --from row1/p0/2 --direction in --rate 200 -f 'greater 1000'
    jq --exit-status '.sent > 3 and .seconds >= (.sent - 1) / 200' "$SENT"
    replay --port row1/p0/2 --from row1/p0/2 --direction in --speed 0.1
    jq --exit-status '.sent > 3' "$SENT"
    end_quiet
    [ "$(bytes_at row1/p0/2 1 "$AGAIN" | wc -l)" -eq $((2 * $(bytes_at row1/p0/2 1 "$FILE" | wc -l))) ]
    # The other end of that cable has sent them.
    [ "$(bytes_at a2,1/p0/W 2 "$AGAIN")" = "$(bytes_at row1/p0/2 1 "$AGAIN")" ]
}

@test "replay: invalid frames are refused and counted" {
    record
    # The same frames with a changed byte of the destination, the version, the payload, the plane.
    start_quiet 'a0,0/*'
    damage() { # OFFSET VALUE: the first frame alone, as classic pcap, with one byte changed
        editcap -r -F nsecpcap "$FILE" "$BATS_TEST_TMPDIR/one.pcap" 1 2>/dev/null
        printf '%b' "\\x$2" | dd of="$BATS_TEST_TMPDIR/one.pcap" bs=1 seek=$((24 + 16 + $1)) conv=notrunc status=none
        hxmesh replay "$BATS_TEST_TMPDIR/one.pcap" --name "$NAME" --port a0,0/p0/W --json "$SENT"
    }
    damage 14 07
    jq --exit-status '.sent == 0 and .refused.malformed == 1' "$SENT"
    damage 70 00
    damage 71 00
    jq --exit-status '.sent + .refused.checksum == 1' "$SENT"
    damage 44 FF
    jq --exit-status '.sent == 0 and .refused.malformed == 1' "$SENT"
    damage 57 55
    jq --exit-status '.sent == 0 and .refused.checksum == 1' "$SENT"
    editcap -r -s 80 "$FILE" "$BATS_TEST_TMPDIR/cut.pcapng" 1-10
    hxmesh replay "$BATS_TEST_TMPDIR/cut.pcapng" --name "$NAME" --port a0,0/p0/W --json "$SENT"
    jq --exit-status '.sent == 0 and .cut > 0' "$SENT"
    end_quiet
}

@test "replay: coordinates and planes of another fabric" {
    report "4x4 Hx2Mesh" --planes 2 --message 1000 --capture "$FILE" --capture-ports 'a7,7/p1/local' \
        --capture-filter 'ether[28] == 1'
    start_quiet 'a0,0/*'
    replay --port a0,0/p0/E --as-fast-as-possible
    jq --exit-status '.sent == 0 and .refused.outside == .read and .read > 0' "$SENT"
    end_quiet
}

# bats test_tags=all
@test "replay: kill -9 of it, and of the worker that it feeds, does no harm" {
    record
    start_quiet 'a1,2/p0/E'
    for _ in 1 2 3; do
        "$HXMESH" replay "$FILE" --name "$NAME" --port a1,2/p0/E --rate 500 -q >/dev/null 3>&- &
        local job=$!
        await_growth "$AGAIN"
        kill -KILL "$job"
        wait "$job" || true
    done
    replay --port a1,2/p0/E --rate 500 &
    local job=$!
    await_growth "$AGAIN"
    kill -KILL "$(workers_of "$PID" | shuf -n 1)"
    wait "$job"
    jq --exit-status '.sent > 0' "$SENT"
    kill -INT "$PID"
    finish
    holds '.bytes_corrupted == 0 and .buffers_missing == 0 and .host.worker_deaths == 1'
}

# bats test_tags=all
@test "replay: one at a time, and it reports the end of the fabric" {
    record
    start_quiet 'a1,2/p0/E'
    replay --port a1,2/p0/E --rate 100 2>"$BATS_TEST_TMPDIR/errors" &
    local job=$!
    eventually has_frames "$AGAIN" 1
    run --separate-stderr hxmesh replay "$FILE" --name "$NAME" --port a1,2/p0/E
    [ "$status" -eq 4 ]
    [[ "$stderr" == "hxmesh: error: $NAME: process "*" replays into this fabric already" ]]
    kill -INT "$PID"
    finish
    CODE=0
    wait "$job" || CODE=$?
    [ "$CODE" -eq 4 ]
    grep -q "^hxmesh: error: $NAME: the fabric ended after [0-9]* frames" "$BATS_TEST_TMPDIR/errors"
}

@test "replay: onto an interface" {
    report "2x2 Hx2Mesh" --message 1000 --capture "$FILE" --capture-ports 'a0,0/p0/local' --capture-filter \
        'ether[28] == 1'
    run --separate-stderr hxmesh replay "$FILE" --interface lo --as-fast-as-possible --json -
    if [ "$status" -eq 4 ]; then
        [[ "$stderr" == *"raw frames cannot be sent"* ]]
        skip "no permission to send raw frames"
    fi
    jq --exit-status '.sent == .read and .sent == 30' <<<"$output"
}

# says CODE LINE ARGUMENTS...: hxmesh replay ends with CODE and exactly this line, after "hxmesh: error: ".
says() {
    local code=$1 line=$2
    shift 2
    run --separate-stderr hxmesh replay "$@"
    if [ "$status" -ne "$code" ] || [ -n "$output" ] || [[ "$stderr" != "hxmesh: error: "$line ]]; then
        printf 'status %s, not %s\nstdout: %s\nstderr: %s\n' "$status" "$code" "$output" "$stderr"
        return 1
    fi
}

@test "replay: bad usage and bad files are refused in one line" {
    echo "no capture" >"$BATS_TEST_TMPDIR/bad"
    report "2x2 Hx2Mesh" --message 1 --capture "$FILE" --capture-ports 'a0,0/p0/local'
    says 2 "hxmesh replay: FILE is missing *" --port a0,0/p0/E
    says 2 "--port: is missing: *" "$FILE"
    says 2 "--port: and --interface: *" "$FILE" --port a0,0/p0/E --interface lo
    says 3 "$BATS_TEST_TMPDIR/bad: *" "$BATS_TEST_TMPDIR/bad" --port a0,0/p0/E
    says 2 "--filter: 'no filter': *" "$FILE" --port a0,0/p0/E -f 'no filter'
    says 4 "no-such: no fabric of this name is running" "$FILE" --port a0,0/p0/E --name no-such
    says 2 "--direction: *" "$FILE" --direction up
    [ "$(id -u)" -ne 0 ] || says 4 "no-such0: cannot be sent on: *" "$FILE" --interface no-such0
    start_quiet 'a1,2/p0/E'
    says 2 "--port: 'a9,9/p0/E': this fabric has no such port *" "$FILE" --name "$NAME" --port a9,9/p0/E
    head -c 300 "$FILE" >"$BATS_TEST_TMPDIR/short" # within the head: no frame is before it
    says 3 "$BATS_TEST_TMPDIR/short: *" "$BATS_TEST_TMPDIR/short" --name "$NAME" --port a1,2/p0/E
    end_quiet
}

@test "replay: frames before the end of a truncated file are sent" {
    local short=$BATS_TEST_TMPDIR/short
    record
    start_quiet 'a1,2/p0/E'
    head -c 20001 "$FILE" >"$short"
    hxmesh replay "$short" --name "$NAME" --port a1,2/p0/E --as-fast-as-possible --json "$SENT" 2>"$BATS_TEST_TMPDIR/said"
    [[ $(<"$BATS_TEST_TMPDIR/said") == "hxmesh: warning: $short: is cut off at byte "*", within a block: "* ]]
    jq --exit-status '.read > 0 and .sent > 0 and .cut_at > 0 and .cut_at <= 20001' "$SENT"
    hxmesh replay "$FILE" --name "$NAME" --port a1,2/p0/E --as-fast-as-possible --json "$SENT"
    jq --exit-status '.cut_at == null' "$SENT"
    end_quiet
}
