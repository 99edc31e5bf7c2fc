#!/usr/bin/env bats
# exhausted.bats - memory and disks that run out while a fabric runs: it continues, and requests for more are refused in
# one line.

# shellcheck disable=SC2016,SC2154 # what stands in quotes is for jq and for inner shells; stderr: set by run
load capture_run_support

setup() {
    fresh_name
    unshare --mount true 2>/dev/null || skip "this user may not mount (unshare --mount)"
    DISK="$BATS_TEST_TMPDIR/disk"
    mkdir "$DISK"
}
teardown() { end_started; }

# on_small_disk SIZE FOLDER COMMAND...: with a private file system of that size mounted there.
on_small_disk() {
    unshare --mount bash -c 'mount -t tmpfs -o "size=$1" tmpfs "$2" || exit 99; shift 2; "$@"' - "$@"
}

# bats test_tags=all
@test "exhausted: a full /dev/shm harms no running fabric, and another one is refused" {
    # shellcheck disable=SC2317 # called by its name
    inside() {
        report "2x2 Hx2Mesh" --traffic all-to-all-random --duration 10s --workers 2 &
        await_traffic 100
        ! cat /dev/zero 2>/dev/null >/dev/shm/rest || exit 98
        [ "$(stat --file-system --format %a /dev/shm)" -eq 0 ] || exit 97
        local before code=0
        before=$(delivered)
        hxmesh run "2x2 Hx2Mesh" --name "$NAME-b" || code=$?
        await_traffic $((before + 1000))
        wait $! || exit 96
        ls /dev/shm
        exit "$code"
    }
    export -f inside report hxmesh await_traffic has_delivered delivered eventually
    export HXMESH NAME REPORT
    run --separate-stderr on_small_disk 64m /dev/shm bash -c inside
    [ "$status" -eq 4 ]
    [ "$output" = rest ]
    [[ "$stderr" == "hxmesh: error: /dev/shm: no room for "*" MiB of shared memory"* && "$stderr" != *$'\n'* ]]
    holds "$WHOLE"
}

@test "exhausted: a disk that fills up ends a capture with a complete frame, and not the run; a report needs room" {
    # shellcheck disable=SC2317 # called by its name
    inside() {
        report "2x2 Hx2Mesh" --message 20000 --count 20 --workers 2 --capture "$DISK/run.pcapng" || exit 98
        cp "$DISK/run.pcapng" "$FILE"
        ! cat /dev/zero 2>/dev/null >"$DISK/rest" || exit 97
        hxmesh run "2x2 Hx2Mesh" --quiet --json "$DISK/report.json"
        local code=$?
        ls "$DISK"
        exit "$code"
    }
    FILE="$BATS_TEST_TMPDIR/run.pcapng"
    export -f inside report hxmesh
    export HXMESH NAME REPORT DISK FILE
    run --separate-stderr on_small_disk 1m "$DISK" bash -c inside
    [ "$status" -eq 4 ]
    [ "$output" = "$(printf 'rest\nrun.pcapng')" ]
    [ "$(tail -n 1 <<<"$stderr")" = "hxmesh: error: $DISK/report.json: cannot be written: No space left on device" ]
    grep -q "^hxmesh: error: $DISK/run.pcapng: No space left on device: [1-9][0-9]* frames written, [1-9][0-9]* not" <<<"$stderr"
    holds "$WHOLE"' and .capture.written > 0 and .capture.unwritten > 0 and
        .capture.written + .capture.unwritten + .capture.dropped == .capture.accepted'
    [ "$(field frame.number | wc -l)" -eq "$(jq .capture.written "$REPORT")" ]
    hxmesh verify "$FILE"
}
