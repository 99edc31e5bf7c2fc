# asan
# errors.bats - hxmesh with bad input or on a bad machine: one line, the right exit code, nothing left behind.

load emulator_support

setup() { fresh_folder; }
teardown() { end_started; }

# refused CODE LINE ARGUMENTS...: the program ends with CODE, with an empty stdout, exactly that line on stderr, and
# nothing left behind.
refused() {
    local code=$1 line=$2
    shift 2
    run --separate-stderr hxmesh "$@"
    # shellcheck disable=SC2154 # bats sets them
    if [ "$status" -ne "$code" ] || [ -n "$output" ] || [ "$stderr" != "hxmesh: error: $line" ]; then
        printf 'status %s, not %s\nstdout: %s\nstderr: %s\n' "$status" "$code" "$output" "$stderr"
        return 1
    fi
    nothing_left
}

# refused_run CODE LINE ARGUMENTS...: the same for `hxmesh run`.
refused_run() {
    local code=$1 line=$2
    shift 2
    refused "$code" "$line" run "$@" --name "$NAME"
}

@test "errors: a verb whose program is not built is not called unknown" {
    mkdir alone
    cp "$HXMESH" alone/hxmesh
    run -4 alone/hxmesh topologies
    [ "$output" = "hxmesh: error: topologies: its program, hxmesh-topologies, is not beside this one (make)" ]
}

@test "errors: unknown verbs and options" {
    refused 2 "rum: no such verb (did you mean 'run'?)" rum
    refused_run 2 "--planse: unknown option (did you mean '--planes'?)" "4x4 Hx2Mesh" --planse 2
    refused_run 2 "hxmesh run: SPEC|FILE is missing (try 'hxmesh run --help')"
    refused 2 "hxmesh send: FILE is missing (try 'hxmesh send --help')" send --name "$NAME"
}

@test "errors: no verb shows the help and ends with 2" {
    run --separate-stderr hxmesh
    [ "$status" -eq 2 ]
    [[ "$output$stderr" == *"usage: hxmesh VERB"* ]]
}

@test "errors: values outside their range" {
    refused_run 2 "--planes: 10 is outside 1 .. 4" "4x4 Hx2Mesh" --planes 10
    refused_run 2 "--planes: 0 is outside 1 .. 4" "4x4 Hx2Mesh" --planes 0
    refused_run 2 "--workers: 65 is outside 0 .. 64" "4x4 Hx2Mesh" --workers 65
    refused_run 2 "--seed: 9223372036854775808 is outside 0 .. 9223372036854775807" "4x4 Hx2Mesh" \
        --seed 9223372036854775808
    refused 2 "--crossbar: 100 Gb/s is less than a link's 400" run "4x4 Hx2Mesh" --clock virtual --crossbar 100
    refused 2 "--buffer: 31KiB has no room for a packet of each of the 4 VCs of this fabric: 32KiB at least" \
        run "hyperx 3x3 p=2" --clock virtual --routing valiant --buffer 31KiB
    refused_run 2 "--count: 0 messages need a --duration" "4x4 Hx2Mesh" --count 0
    refused_run 2 "--duration: is to be 10h at most where time is simulated" "4x4 Hx2Mesh" --clock virtual -t uniform -d 11h
    run --separate-stderr hxmesh run "4x4 Hx2Mesh" --name "$NAME" --traffic all-to-al
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [[ "$stderr" == "hxmesh: error: --traffic: "*"'all-to-all'"* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
}

@test "errors: times beyond the end of simulated time" {
    local late=(--clock virtual --fault "a0,0/p0/E down at 9h for 61m")
    refused_run 2 "--fault: 'a0,0/p0/E down at 9h for 61m': all are to know of it 10h after the start at most where time is simulated" \
        "2x2 Hx2Mesh" "${late[@]}"
    printf 'fabric: 2x1 Hx2Mesh\njobs: [{tag: 5, boards: [[0, 0]]}, {tag: 6, boards: [[1, 0]], start: 9h}]\n' >late.hxm.yaml
    hxmesh run late.hxm.yaml --clock virtual --quiet --json - >"$REPORT"
    holds '.complete and .seconds >= 9 * 3600'
    refused_run 3 "late.hxm.yaml: job 6: is to end 10h after the start at most where time is simulated" \
        late.hxm.yaml --clock virtual --traffic uniform --duration 2h
    printf 'start,source,destination,bytes\n11h,0:0,1:1,8\n' >late.csv
    refused_run 3 "late.csv:2:1: '11h' is outside 0 ns .. 10 h" \
        "2x2 Hx2Mesh" --clock virtual --traffic late.csv
}

@test "errors: the last of two values counts, and a negative number is out of range" {
    hxmesh run "2x2 Hx2Mesh" -m 8KiB --planes 2 --planes 3 --message 16KiB --quiet --name "$NAME" --json - >"$REPORT"
    holds '.planes == 3 and .message_bytes == 16384'
    refused_run 2 "--seed: -1 is outside 0 .. 9223372036854775807" "4x4 Hx2Mesh" --seed -1
}

@test "errors: no board works" {
    printf 'fabric: 1x1 Hx2Mesh\nfailed_boards: [[0, 0]]\n' >dead.hxm.yaml
    refused_run 3 "dead.hxm.yaml:2:16: every board has failed: nothing is left to run" dead.hxm.yaml
    refused 3 "dead.hxm.yaml:2:16: every board has failed: nothing is left to run" check dead.hxm.yaml
    printf 'fabric: 4x4 Hx2Mesh\ntraffic:\n  pattern: unifrom\n' >demo.hxm.yaml
    refused_run 3 "demo.hxm.yaml:3:12: traffic.pattern: unknown word 'unifrom' (did you mean 'uniform'?)" demo.hxm.yaml
}

@test "errors: help of a verb" {
    [ "$(hxmesh help run)" = "$(hxmesh run --help)" ]
    [ "$(hxmesh help info)" = "$(hxmesh info --help)" ]
    refused 2 "rum: no such verb (did you mean 'run'?)" help rum
}

@test "errors: options that do not apply to the run" {
    refused_run 2 "--cable: is for --clock virtual, not wall" "4x4 Hx2Mesh" --cable 5ns
    refused_run 2 "--restart: is for --clock wall, not virtual" "4x4 Hx2Mesh" --clock virtual --no-restart
    refused_run 2 "--algorithm: is for --traffic SCHEDULE, broadcast, reduce-scatter, all-gather, all-reduce, reduce, gather, scatter, total-exchange or barrier, not uniform" \
        "4x4 Hx2Mesh" -t uniform --algorithm ring
    refused_run 2 "--target: is for --traffic incast, hotspot, broadcast, reduce, gather or scatter, not all-to-all" "4x4 Hx2Mesh" --target 1,1
    refused_run 2 "--shifts: is for --traffic all-to-all, not uniform" "4x4 Hx2Mesh" -t uniform --shifts 3
    refused_run 2 "--detect: is for faults, and none is said: --fault or --faults" "4x4 Hx2Mesh" --clock virtual --detect 5us
    refused_run 2 "--tell: is for faults, and none is said: --fault or --faults" "4x4 Hx2Mesh" --clock virtual --tell 5us
    refused_run 2 "--arrivals: poisson is for messages that are due at a rate: --rate below 1" "4x4 Hx2Mesh" \
        --arrivals poisson
    refused_run 2 "--count: a count and a duration: which of both? (0 is none)" "4x4 Hx2Mesh" -n 2 -d 1s
    printf 'fabric: 4x4 Hx2Mesh\nclock: virtual\ncredits: 64\n' >demo.hxm.yaml
    refused_run 3 "demo.hxm.yaml:3:1: credits: is for clock: wall, not virtual (--buffer is what a link buffers under \
the virtual clock)" demo.hxm.yaml
    printf 'fabric: 4x4 Hx2Mesh\ntiming: {link: 100}\n' >demo.hxm.yaml
    refused_run 3 "demo.hxm.yaml:2:10: timing.link: is for clock: virtual, not wall" demo.hxm.yaml
    hxmesh run demo.hxm.yaml --name "$NAME" --clock wall -m 8KiB --quiet --json - >"$REPORT"
    holds '.clock == "wall"'
}

@test "errors: coordinates out of range" {
    : >file
    refused_run 2 "--target: a8,0 is outside the 4x4 Hx2Mesh (gx 0 .. 7, gy 0 .. 7)" "4x4 Hx2Mesh" --target 8,0 -t incast
    refused 2 "--from: a0,8 is outside the 4x4 Hx2Mesh (gx 0 .. 7, gy 0 .. 7)" send file --name "$NAME" --from 0,8
    refused 2 "--to: a9,9 is outside the 4x4 Hx2Mesh (gx 0 .. 7, gy 0 .. 7)" send file --name "$NAME" --to 9,9
}

@test "errors: impossible fabrics" {
    refused_run 3 "0x3 Hx2Mesh: columns of boards (x): 0 is outside 1 .. 1024" "0x3 Hx2Mesh"
    refused_run 3 "4x4: is not a fabric (write for example '4x4 Hx2Mesh', 'fat-tree hosts=64', or name a *.hxm.yaml file; hxmesh topologies lists what there is)" \
        "4x4"
}

@test "errors: files are refused with line and column" {
    printf 'fabric: 4x4 Hx2Mesh\nplanes: 10\n' >demo.hxm.yaml
    refused_run 3 "demo.hxm.yaml:2:9: planes: 10 is outside 1 .. 4" demo.hxm.yaml
    printf 'fabric: 4x4 Hx2Mesh\ncredit: 64\n' >demo.hxm.yaml
    refused_run 3 "demo.hxm.yaml:2:1: unknown key 'credit' (did you mean 'credits'?)" demo.hxm.yaml
}

@test "errors: files that are missing" {
    refused_run 3 "none.hxm.yaml: cannot be read: No such file or directory" none.hxm.yaml
    refused 3 "none: cannot be read: No such file or directory" send none --name "$NAME"
    refused 3 "none.pcapng: cannot be read: No such file or directory" replay none.pcapng --name "$NAME" --port a0,0/p0/E
    refused_run 3 "none.csv: cannot be read: No such file or directory" "1x1 Hx2Mesh" --traffic none.csv
    refused 3 ".: is a directory, not a file" send . --name "$NAME"
}

@test "errors: traffic that is no file, or has no end" {
    refused_run 3 "/dev/zero: is a device, not a file" "1x1 Hx2Mesh" --traffic /dev/zero
    refused_run 3 "/tmp: is a directory, not a file" "1x1 Hx2Mesh" --traffic /tmp
    refused_run 3 "/dev/stdin:1:1: a line of more than 1048576 letters" "1x1 Hx2Mesh" --traffic /dev/stdin < <(yes 1, | tr -d '\n')
    refused_run 3 "/dev/stdin:1:1: a byte 0 in a text file" "1x1 Hx2Mesh" --traffic /dev/stdin < <(cat /dev/zero)
    refused_run 3 "/dev/stdin: is larger than 1 GiB" "1x1 Hx2Mesh" --traffic /dev/stdin < <(yes "#$(printf '%0100000d' 0)")
}

@test "errors: traffic may be read from a pipe" {
    run --separate-stderr hxmesh run "1x1 Hx2Mesh" --traffic /dev/stdin --quiet --name "$NAME" --json - \
        < <(printf 'start,source,destination,bytes\n0,0,1,8KiB\n')
    [ "$status" -eq 0 ]
    jq --exit-status '.messages == 1 and .traffic == "/dev/stdin"' <<<"$output"
}

@test "errors: files without permission end with 4" {
    [ "$(id -u)" -ne 0 ] || skip "root may read everything"
    printf 'fabric: 4x4 Hx2Mesh\n' >secret.hxm.yaml
    chmod 000 secret.hxm.yaml
    refused_run 4 "secret.hxm.yaml: cannot be read: Permission denied" secret.hxm.yaml
    refused 4 "secret.hxm.yaml: cannot be read: Permission denied" send secret.hxm.yaml --name "$NAME"
}

@test "errors: no memory in /dev/shm ends with 4" {
    unshare --mount true 2>/dev/null || skip "this user may not give a process a /dev/shm of its own (unshare --mount)"
    # shellcheck disable=SC2016 # for the inner shell
    run --separate-stderr unshare --mount bash -c '
        mount -t tmpfs -o size=1m tmpfs /dev/shm || exit 99
        "$1" run "4x4 Hx2Mesh"
        code=$?
        ls /dev/shm
        exit $code' - "$HXMESH"
    [ "$status" -eq 4 ]
    [ -z "$output" ]
    [[ "$stderr" == "hxmesh: error: /dev/shm: no room for "* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
}

@test "errors: the name of a running fabric ends with 4 and does it no harm" {
    start "2x2 Hx2Mesh" --duration 20s --workers 1
    await_workers 1
    run --separate-stderr hxmesh run "2x2 Hx2Mesh" --name "$NAME"
    [ "$status" -eq 4 ]
    [ -z "$output" ]
    [ "$stderr" = "hxmesh: error: $NAME: a fabric of this name is running (choose another --name)" ]
    [ -e "/dev/shm/hxmesh-$NAME" ]
    kill -TERM "$PID"
    finish
    # shellcheck disable=SC2153 # `finish` sets it
    [ "$CODE" -eq 130 ]
    holds '.packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0'
    nothing_left
}

@test "errors: a report that cannot be written ends with 4" {
    refused_run 4 "none/report.json: cannot be written: No such file or directory" "2x2 Hx2Mesh" \
        --json none/report.json
    refused_run 4 "/dev/full: cannot be written: No space left on device" "2x2 Hx2Mesh" --json /dev/full
    # An impossible file is refused before a run of two minutes, not after it.
    refused_run 4 "$PWD: cannot be written: Is a directory" "2x2 Hx2Mesh" --json "$PWD" --duration 2m
    refused_run 2 "'': is no name of a file to write" "2x2 Hx2Mesh" --csv "" --duration 2m
    to_full_disk() { "$HXMESH" run "2x2 Hx2Mesh" --name "$NAME" >/dev/full; }
    run --separate-stderr to_full_disk
    [ "$status" -eq 4 ]
    [ "$stderr" = "hxmesh: error: stdout: cannot be written: No space left on device" ]
    nothing_left
    to_nowhere() { "$HXMESH" run "2x2 Hx2Mesh" --name "$NAME" "$@" >&-; }
    for options in "--json -" "--quiet --json -" "--csv -" "--clock virtual"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr to_nowhere $options
        [ "$status" -eq 4 ]
        [[ "$stderr" == *"hxmesh: error: stdout: cannot be written: Bad file descriptor" ]]
    done
    nothing_left
}

@test "errors: verbs have --help and --version" {
    for verb in run send demo clean; do
        run --separate-stderr hxmesh "$verb" --help
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
        [[ "${lines[0]}" == "usage: hxmesh $verb "* ]]
        run hxmesh "$verb" --version
        [ "$status" -eq 0 ]
        [[ "$output" =~ ^hxmesh\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    done
}
