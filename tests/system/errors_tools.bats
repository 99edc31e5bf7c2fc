# asan
# errors_tools.bats - tools with bad input: one line, the right exit code, nothing on stdout.

load tools_support

to_full_disk() { "$@" >/dev/full; }

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# HXMESH may be a relative path.
@test "errors: bad fabrics end with 3" {
    refused 3 "0x3 Hx2Mesh: columns of boards (x): 0 is outside 1 .. 1024" info "0x3 Hx2Mesh"
    refused 3 "4x4: is not a fabric (write for example '4x4 Hx2Mesh', 'fat-tree hosts=64', or name a *.hxm.yaml file; hxmesh topologies lists what there is)" \
        check 4x4
    refused 3 "1024x1024 Hx2Mesh: 4194304 accelerators are more than 1048576" check "1024x1024 Hx2Mesh"
    refused 3 "150x1 Hx1Mesh: a row network has 300 ports, more than a two-level tree of radix 4 and taper 1 can join" \
        route "150x1 Hx1Mesh" --radix 4 --all
}

@test "errors: bad usage ends with 2" {
    refused 2 "hxmesh info: SPEC|FILE is missing (try 'hxmesh info --help')" info
    refused 2 "Hx2Mesh: unexpected argument (quote a fabric that has a space: \"4x4 Hx2Mesh\")" info 4x4 Hx2Mesh
    refused 2 "torus: unexpected argument (hxmesh topologies takes options alone: try 'hxmesh topologies --help')" "$HXMESH" topologies torus
    refused 2 "b.pcapng: unexpected argument (hxmesh verify takes FILE: try 'hxmesh verify --help')" "$HXMESH" verify a.pcapng b.pcapng
    refused 2 "torus 4x3: unexpected argument (say a fabric by --fabric: --fabric \"4x4 Hx2Mesh\")" "$HXMESH" send /dev/null "torus 4x3"
    refused 2 "--plains: unknown option (did you mean '--planes'?)" check "4x4 Hx2Mesh" --plains 2
    refused 2 "--planes: 10 is outside 1 .. 4" info "4x4 Hx2Mesh" --planes 10
    refused 2 "--planes: needs a value (N)" info "4x4 Hx2Mesh" --planes
    refused 2 "hxmesh route: give either --from and --to, or --all" route "4x4 Hx2Mesh" --from 0,0
    refused 2 "hxmesh route: give either --from and --to, or --all" route "4x4 Hx2Mesh" --from 0,0 --to 1,1 --all
}

@test "errors: coordinates out of range end with 2 and name the range" {
    refused 2 "--to: a8,3 is outside the 4x4 Hx2Mesh (gx 0 .. 7, gy 0 .. 7)" \
        route "4x4 Hx2Mesh" --from 0,0 --to 8,3
    refused 2 "--from: a0,8 is outside the 4x4 Hx2Mesh (gx 0 .. 7, gy 0 .. 7)" \
        route "4x4 Hx2Mesh" --from 0,8 --to 0,0 --json -
    refused 2 "--from: 'here' is not an address (write for example 3,0)" route "4x4 Hx2Mesh" --from here --to 0,0
}

@test "errors: files are refused with line and column" {
    printf 'fabric: 4x4 Hx2Mesh\nplanes: 2\n\n\ntraffic:\n  mesage: 3\n' >demo.hxm.yaml
    refused 3 "demo.hxm.yaml:6:3: unknown key 'mesage' (did you mean 'message'?)" info demo.hxm.yaml
    printf 'fabric: 4x4 Hx2Mesh\nplanes: 10\n' >demo.hxm.yaml
    refused 3 "demo.hxm.yaml:2:9: planes: 10 is outside 1 .. 4" check demo.hxm.yaml
    printf 'fabric: 4x4 Hx2Mesh\nplanes: [1, 2]\n' >demo.hxm.yaml
    refused 3 "demo.hxm.yaml:2:9: planes: a single value expected, found a list" route demo.hxm.yaml --all
    printf 'fabric: 0x3 Hx2Mesh\n' >demo.hxm.yaml
    refused 3 "demo.hxm.yaml:1:9: '0x3 Hx2Mesh': columns of boards (x): 0 is outside 1 .. 1024" info demo.hxm.yaml
    : >demo.hxm.yaml
    refused 3 "demo.hxm.yaml:1:1: the file is empty" info demo.hxm.yaml
    head -c 3000 /dev/zero >demo.hxm.yaml
    refused 3 "demo.hxm.yaml:1:1: control characters are not allowed" info demo.hxm.yaml
}

@test "errors: a missing file, a folder" {
    refused 3 "none.hxm.yaml: cannot be read: No such file or directory" info none.hxm.yaml
    mkdir lab.hxm.yaml
    refused 3 "lab.hxm.yaml: is a directory, not a file" info lab.hxm.yaml
}

@test "errors: a file without permission ends with 4" {
    printf 'fabric: 4x4 Hx2Mesh\n' >secret.hxm.yaml
    chmod 000 secret.hxm.yaml
    if [ "$(id -u)" -eq 0 ]; then
        tool=$(mktemp -p /tmp)
        cp "$HXMESH-info" "$tool"
        chmod 755 "$tool"
        cp secret.hxm.yaml /tmp/secret-$$.hxm.yaml
        chmod 000 /tmp/secret-$$.hxm.yaml
        run --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups "$tool" /tmp/secret-$$.hxm.yaml
        rm -f "$tool" /tmp/secret-$$.hxm.yaml
        [ "$stderr" = "hxmesh: error: /tmp/secret-$$.hxm.yaml: cannot be read: Permission denied" ]
    else
        run --separate-stderr info secret.hxm.yaml
        [ "$stderr" = "hxmesh: error: secret.hxm.yaml: cannot be read: Permission denied" ]
    fi
    [ "$status" -eq 4 ]
    [ -z "$output" ]
}

@test "errors: output that cannot be written ends with 4" {
    refused 4 "/none/out.json: cannot be written: No such file or directory" info "4x4 Hx2Mesh" --json /none/out.json
    refused 4 "/dev/full: cannot be written: No space left on device" route "4x4 Hx2Mesh" --all --json /dev/full
    run --separate-stderr to_full_disk check "2x2 Hx2Mesh" --json -
    [ "$status" -eq 4 ]
    [ "$stderr" = "hxmesh: error: stdout: cannot be written: No space left on device" ]
    run to_full_disk info "2x2 Hx2Mesh"
    [ "$status" -eq 4 ]
    run to_full_disk route "2x2 Hx2Mesh" --from 0,0 --to 1,1
    [ "$status" -eq 4 ]
}

# shellcheck disable=SC2154 # bats sets stderr
@test "errors: a limit of file sizes ends a verb with 4 and one line, not by its signal" {
    cut_off() { # PROGRAM... under a limit of 1 KiB
        run -4 --separate-stderr env --default-signal=XFSZ bash -c 'ulimit -f 1; exec "$@"' - "$@"
        [[ "$stderr" == "hxmesh: error: "* && "$stderr" != *$'\n'* ]]
    }
    cut_off "$HXMESH" route "4x4 Hx2Mesh" --all --json cut.json
    cut_off "$HXMESH" info "16x16 Hx2Mesh" --edges cut.csv
    cut_off "$HXMESH" check "16x16 Hx2Mesh" --quiet --json /dev/full
    cut_off "$HXMESH" schedule "$BATS_TEST_DIRNAME/../../examples/schedules/data-parallel.schedule.yaml" --write cut.goal
    cut_off "$HXMESH" run "2x2 Hx2Mesh" --clock virtual --quiet --json cut.json
    cut_off "$HXMESH" run "2x2 Hx2Mesh" --quiet --json cut.json
    [ ! -e cut.json ] && [ ! -e cut.csv ] && [ ! -e cut.goal ]
}

@test "errors: a file is complete, or unchanged" {
    small_disk() { (trap '' XFSZ; ulimit -f 8; route "4x4 Hx2Mesh" --all --json "$1"); }
    refused 4 "$PWD/new.json: cannot be written: File too large" small_disk "$PWD/new.json"
    echo old >old.json
    refused 4 "old.json: cannot be written: File too large" small_disk old.json
    [ "$(cat old.json)" = old ]
    [ "$(ls ./*json*)" = ./old.json ]
    # A link stays one, a mode is kept.
    chmod 640 old.json
    ln -s old.json link.json
    info "2x2 Hx2Mesh" --json link.json
    [ -L link.json ]
    [ "$(stat -c %a old.json)" = 640 ]
    json_holds '.accelerators == 16' <old.json
    mkfifo fifo
    info "2x2 Hx2Mesh" --json fifo 3>&- &
    json_holds '.accelerators == 16' <fifo
    wait $!
    [ -p fifo ]
}

@test "errors: help and version that cannot be written end with 4" {
    for argument in --help --version; do
        for program in "$HXMESH" "$HXMESH run" "$HXMESH-info"; do
            # shellcheck disable=SC2086 # a program and its verb
            refused 4 "stdout: cannot be written: No space left on device" to_full_disk $program $argument
        done
    done
}

@test "errors: every tool has --help and --version" {
    for tool in info route check; do
        run --separate-stderr "$HXMESH-$tool" --help
        [ "$status" -eq 0 ]
        [[ "${lines[0]}" == "usage: hxmesh $tool SPEC|FILE"* ]]
        [[ "$output" == *"--json FILE"* ]]
        [ -z "$stderr" ]
        run "$HXMESH-$tool" --version
        [ "$status" -eq 0 ]
        [[ "$output" =~ ^hxmesh\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    done
}

@test "errors: ignored settings end with 2" {
    local verify=$HXMESH-verify trace=$HXMESH-trace
    refused 2 "--planes: says nothing without --spec" "$verify" x.pcapng --planes 2
    refused 2 "--credits: says nothing without --spec" "$verify" x.pcapng --credits 64
    refused 2 "--routing: says nothing without --spec" "$trace" x.pcapng --routing valiant
    refused 2 "hxmesh trace: give --packet or --from, not both" "$trace" x.pcapng --packet '*,*,*,*,*,0' --from 0,0
    refused 2 "--between: says nothing without --draw" "$HXMESH" jobs x.csv --fabric "4x4 Hx2Mesh" --between 5s
    refused 2 "--sizes: says nothing without --draw" "$HXMESH" jobs x.csv --fabric "4x4 Hx2Mesh" --sizes x.csv
    refused 2 "--repair: says nothing without --failing" "$HXMESH" jobs --fabric "4x4 Hx2Mesh" --draw 3 --repair 1h
    refused 2 "hxmesh replay: give --speed or --rate, not both" "$HXMESH" replay x.pcapng -i lo --rate 5 --speed 2
    refused 2 "hxmesh replay: give --as-fast-as-possible or --speed, not both" "$HXMESH" replay x.pcapng -i lo --as-fast --speed 2
    refused 2 "hxmesh replay: give --interface or --name, not both" "$HXMESH" replay x.pcapng -i lo --name x
}

@test "errors: an empty word keeps its place in the line" {
    refused 3 "'': cannot be read: No such file or directory" "$HXMESH-verify" ""
    refused 4 "'': no fabric of this name is running" "$HXMESH" down ""
}

# Every verb, into a pipe without a reader: with SIGPIPE as in a shell, and ignored as in a service manager.
@test "errors: a broken pipe ends a verb silently" {
    # shellcheck disable=SC2034 # in the table
    local NAME=broken-$$
    "$HXMESH" run "2x2 Hx1Mesh" --clock virtual -m 1KiB -q --capture run.pcapng >/dev/null
    mkfifo pipe
    # shellcheck disable=SC2094 # so that it opens, and has no reader afterwards
    exec 8<>pipe 9>pipe 8<&-
    local how words files
    while read -r words; do
        for how in default ignore; do
            eval "env --$how-signal=PIPE \"\$HXMESH\" $words" >&9 2>said </dev/null || true
            echo "$how: $words: $(cat said)"
            [ ! -s said ]
            files=(*)
            [ "${files[*]}" = "pipe run.pcapng said" ]
        done
    done <<'VERBS'
run "6x6 Hx2Mesh" --clock virtual -m 1KiB -q
run "2x2 Hx1Mesh" -m 1KiB -q --name "$NAME"
run "2x2 Hx1Mesh" -m 1KiB -q --name "$NAME" --json -
sweep "2x1 Hx1Mesh" "2x2 Hx1Mesh" --clock virtual -t uniform -q
sweep "2x1 Hx1Mesh" --clock virtual -t uniform -q --csv -
info "4x4 Hx2Mesh"
info --compare "2x2 Hx1Mesh" "fat-tree hosts=64"
trace run.pcapng
trace run.pcapng --json -
verify run.pcapng
verify run.pcapng --json -
check "2x2 Hx2Mesh"
route "4x4 Hx2Mesh" --from 0,0 --to 3,3
route "4x4 Hx2Mesh" --all
allocate "8x8 Hx2Mesh" 4x4
allocate "8x8 Hx2Mesh" --mixes 3 --csv -
jobs --fabric "8x8 Hx2Mesh" --draw 1000
topologies
up "2x2 Hx1Mesh" --name "$NAME"
topologies --json -
--help
run --help
VERBS
    exec 9>&-
    run -4 "$HXMESH" down --name "$NAME"
}
