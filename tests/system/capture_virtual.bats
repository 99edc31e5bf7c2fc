# asan
# shellcheck disable=SC2030,SC2031,SC2154 # bats runs each test in a shell of its own, and sets stderr
# capture_virtual.bats - hxmesh run --clock virtual --capture: the content of the file, which is the same for any number
# of workers.

load capture_run_support

setup() {
    REPORT="$BATS_TEST_TMPDIR/report.json"
    FILE="$BATS_TEST_TMPDIR/run.pcapng"
    PID=
}

# A failed test may leave a run behind.
teardown() {
    [ -z "$PID" ] || kill -KILL "$PID" 2>/dev/null || true
}

# record ARGUMENTS...: a run that is captured into $FILE; its report goes to $REPORT.
record() { hxmesh run "$@" --clock virtual --share-cores --quiet --capture "$FILE" --json - >"$REPORT"; }

# No frame that passed a port is missing.
COMPLETE="$WHOLE"' and .capture.dropped == 0 and .capture.unwritten == 0 and .capture.error == null and
    .capture.written == .capture.accepted'

# always_same ARGUMENTS...: the same file byte for byte for any number of workers; hxmesh verify finds no error.
always_same() {
    local workers sum
    record "$@" --workers 1
    holds "$COMPLETE and .capture.written > 0"
    hxmesh verify "$FILE"
    sum=$(sha256sum <"$FILE")
    for workers in 2 3; do
        record "$@" --workers "$workers"
        holds "$COMPLETE and .host.workers == $workers"
        [ "$(sha256sum <"$FILE")" = "$sum" ]
    done
}

# bats test_tags=all
@test "virtual capture: every port of an all-to-all, for any number of workers" {
    always_same "4x4 Hx2Mesh" --message 20000
    captured_whole_fabric "link=port clock=virtual .*crc=off span=run"
    capinfos_says "First packet time:   1970-01-01 00:00:00.000000000"
    [ "$(field frame.number 2>&1 | wc -l)" -eq "$(jq .capture.written "$REPORT")" ]
    # A message to each of 63 in three packets, and the acknowledgements.
    local local_in='frame.interface_name == "a0,0/p0/local" && frame.packet_flags_direction == 1'
    [ "$(field frame.number -Y "$local_in && frame.len > 1000" | wc -l)" -eq 189 ]
    [ "$(field frame.number -Y "$local_in && frame.len < 1000" | wc -l)" -eq "$(field frame.number \
        -Y 'frame.interface_name == "a0,0/p0/local" && frame.packet_flags_direction == 2 && frame.len < 1000' | wc -l)" ]
}

# bats test_tags=all
@test "virtual capture: payload, planes, collectives, other timing, small buffers" {
    always_same "2x2 Hx2Mesh" --message 20000 --verify --planes 2
    hxmesh verify "$FILE" | grep -q " $(jq .capture.written "$REPORT") checksums checked"
    [ "$(field frame.len | sort -n | tail -n 1)" = "$(field frame.cap_len | sort -n | tail -n 1)" ]
    always_same "2x2 Hx2Mesh" --traffic all-reduce --algorithm ring --message 256KiB
    always_same "3x2 H2x4Mesh" --traffic uniform --rate 0.5 --duration 20us --timing authors
    # Rings are full most of the time, so simulated time waits.
    always_same "4x4 Hx2Mesh" --message 20000 --buffer 24KiB --capture-buffer 64KiB
}

# bats test_tags=all
@test "virtual capture: credit is kept within small buffers" {
    always_same "4x4 Hx2Mesh" --message 40000 --buffer 64KiB
    # Two packets a VC, and those that an input passes between crossbar and link. The same frames with a comment that
    # says less exceed the limit somewhere.
    capinfos "$FILE" | grep -q " buffer=336 "
    local at
    at=$(grep --only-matching --byte-offset --text --max-count=1 " buffer=336 " "$FILE" | head -n 1 | cut -d : -f 1)
    printf ' buffer=127 ' | dd of="$FILE" bs=1 seek="$at" conv=notrunc status=none
    run hxmesh verify "$FILE"
    [ "$status" -eq 1 ]
    grep -q "BAD: frame [0-9]*: credit: " <<<"$output"
}

@test "virtual capture: a packet between its input and its switch is no violation of credit" {
    # Three inputs with small buffers share one output, which takes packets well ahead of its link.
    record "oft k=3" --routing ugal-threshold --traffic hotspot --seed 142 --message 34757 --count 2 --buffer 96KiB
    hxmesh verify "$FILE"
}

@test "virtual capture: times on cables and in switches are those of the clock" {
    # The first packet from a0,0 to a1,0: 40 ns in and out, 1 ns a trace, a block of 256 B at 400 Gb/s.
    record "1x1 Hx2Mesh" --traffic neighbour --message 256 --verify
    hxmesh verify "$FILE"
    field frame.time_epoch -e frame.interface_name -e frame.packet_flags_direction \
        -Y 'eth.src == 02:00:00:00:00:00 && eth.dst == 02:00:00:01:00:00 && frame.len == 320' |
        awk '!seen[$2 $3]++ { print $1 }' >"$BATS_TEST_TMPDIR/times"
    # Injected at 0. It may leave after a block at four times the rate (1.28 ns), 40 ns in and 40 ns out; it arrives
    # after a block (5.12 ns) and the trace. It leaves to the endpoint after another 40 ns in and out and arrives a
    # block later.
    [ "$(tr '\n' ' ' <"$BATS_TEST_TMPDIR/times")" = "0.000000000 0.000000081 0.000000087 0.000000168 " ]
}

# bats test_tags=all
@test "virtual capture: the settings of a file, and options over them" {
    lab_file "clock: virtual"
    hxmesh run "$LAB" --quiet --json - --verify >"$REPORT"
    captured_by_the_file
    record "$LAB" "${LAB_OPTIONS[@]}"
    captured_by_the_options
    [ "$(field frame.len | sort -un | tail -n 1)" -lt 200 ]
}

@test "virtual capture: notes explain the output of each packet" {
    record "4x4 Hx2Mesh" --traffic incast --message 64KiB --annotate
    hxmesh verify "$FILE"
    says_why "the only way" "waited, first with room" "it is here" "most room" "its turn"
}

@test "virtual capture: as many packets waited as the report counts, by their causes" {
    local buffer
    for buffer in 32KiB 4MiB; do
        record "4x4 Hx2Mesh" --traffic uniform --rate 0.9 --message 8KiB --duration 5us --annotate --buffer "$buffer" --snaplen 64
        holds ".stalls.no_credit + .stalls.output_busy == $(field frame.comment | grep -c 'waited, first with room')"
        holds '.stalls | if .output_busy > 0 then .no_credit == 0 else .no_credit > 1000 end'
    done
    holds '.stalls.output_busy > 1000'
}

@test "virtual capture: a full disk never stops the run, which reports it once" {
    FILE=/dev/full
    run --separate-stderr record "4x4 Hx2Mesh" --message 20000
    complained_of_full_disk
    holds '.capture.unwritten == .capture.received'
}

# begin_long: a captured run of minutes, in the background.
begin_long() {
    env --default-signal=INT "$HXMESH" run "4x4 Hx2Mesh" --clock virtual --message 1GiB --workers 2 --quiet --snaplen 64 \
        --capture "$FILE" --capture-ports 'a0,*' --json - >"$REPORT" 2>"$BATS_TEST_TMPDIR/stderr" 3>&- &
    PID=$!
    eventually test -s "$FILE"
}
finish_long() {
    CODE=0
    wait "$PID" || CODE=$?
    PID=
    [ "$CODE" -eq 130 ]
    run ! pgrep --full -- "--capture $FILE"
}

@test "virtual capture: ended by Ctrl-C, a complete file that is marked as a part" {
    begin_long
    kill -INT "$PID"
    finish_long
    holds '.interrupted and .capture.dropped == 0 and .capture.error == null'
    [ "$(field frame.number | wc -l)" -eq "$(jq .capture.written "$REPORT")" ]
    capinfos "$FILE" | grep -q "span=part"
    hxmesh verify "$FILE"
}

@test "virtual capture: kill -9 of the writing process, and the run continues" {
    begin_long
    eventually pkill -KILL --parent "$PID" hxmesh-tap # which begins after the head of its file
    await_traffic $(($(delivered) + 1000))
    kill -INT "$PID"
    finish_long
    holds '.capture.error != null and .capture.received > 0'
    grep -q "the process that wrote this capture was killed" "$BATS_TEST_TMPDIR/stderr"
}

@test "virtual capture: an unwritable file, missing ports" {
    run --separate-stderr hxmesh run "2x2 Hx2Mesh" --clock virtual --capture /nowhere/x
    [ "$status" -eq 4 ]
    [ "$stderr" = "hxmesh: error: /nowhere/x: cannot be written: No such file or directory" ]
    run --separate-stderr hxmesh run "2x2 Hx2Mesh" --clock virtual --capture "$FILE" --capture-ports zz
    [ "$status" -eq 2 ]
    run --separate-stderr hxmesh run "2x2 Hx2Mesh" --clock virtual --capture "$FILE" --capture-filter 'no filter'
    [ "$status" -eq 2 ]
    [ ! -e "$FILE" ]
}

# bats test_tags=all
@test "virtual capture: a fault is a comment of the first frame from its time on, for any number of workers" {
    local workers sum
    for workers in 1 2; do
        record "4x4 Hx2Mesh" --message 8KiB --annotate --workers "$workers" \
            --fault "all loss=1% at 3us; a0,0/E down at 1us for 2us; a0,1/E down at 1us for 1us"
        [ "$(sha256sum <"$FILE")" = "${sum:=$(sha256sum <"$FILE")}" ]
    done
    [ "$(field frame.number -Y 'frame.comment contains "fault at "')" = "$(field frame.number -e frame.time_epoch |
        awk '$2 >= 0.000001 && !first++ || $2 >= 0.000003 && !second++ { print $1 }')" ]
    [ "$(field frame.comment -Y 'frame.comment contains "fault at 1 us: a0,0/E down at 1us for 2us"')" = \
        'fault at 1 us: a0,0/E down at 1us for 2us\nfault at 1 us: a0,1/E down at 1us for 1us' ]
    field frame.comment | grep -q 'fault at 3 us: all loss=1% at 3us$'
}
