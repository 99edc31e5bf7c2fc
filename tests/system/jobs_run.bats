# jobs_run.bats - jobs side by side: each with its own boards, traffic, start and results, under both clocks.

load emulator_support

setup() { fresh_name; }
teardown() { leave_nothing; }

JOBS=(--job 'big: 4x4 all-reduce 1MiB' --job 'late: 6 permutation 64KiB count=4 start=200us' --job '2x3 all-to-all 16KiB')

# What each of the jobs above must do under both clocks: all-reduce by four streams of rings over 8 x 8, each 2 * 63
# segments; 24 partners, four messages each; 24 * 23 pairs.
did() {
    holds '.packets_lost == 0 and .bytes_corrupted == 0 and .complete and .collective.done == 64 and .drops.foreign_job == 0'
    holds '[.jobs[] | [.job, .name, .traffic, .accelerators, .bytes_delivered]] | sort == [
        [1, "big", "all-reduce", 64, 64 * 2 * 63 * 1048576 / 64],
        [2, "late", "permutation", 24, 24 * 4 * 65536],
        [3, null, "all-to-all", 24, 24 * 23 * 16384]]'
}

@test "jobs: each has its own traffic, live" {
    report "8x8 Hx2Mesh" "${JOBS[@]}"
    did
}

@test "jobs: each has its own traffic in simulated time, from its start on, for any number of workers" {
    for workers in 1 2 3; do
        report "8x8 Hx2Mesh" "${JOBS[@]}" --clock virtual --verify --share-cores --workers "$workers"
        did
        holds '(.jobs[] | select(.job == 2) | .start_seconds == 0.0002 and .seconds < 0.0001) and .seconds > 0.0002'
        # The run's time is that of the job that ends last; a job that began later, or ended sooner, had less.
        # shellcheck disable=SC2016 # for jq
        holds '(.link_gbps * 4e9 / 8) as $injection | .jobs | all((.share_of_own_time -
            .bytes_delivered / (.accelerators * $injection * .seconds) | fabs) < 1e-9 and .share_of_own_time < 1) and
            (.[] | select(.job == 2) | .share_of_own_time > 3 * .share_of_injection)'
        jq 'del(.host)' "$REPORT" >"$BATS_TEST_TMPDIR/$workers.json"
        cmp "$BATS_TEST_TMPDIR/1.json" "$BATS_TEST_TMPDIR/$workers.json"
    done
    jq -r .host.again "$REPORT" | grep -q -- "--job 'late: 6 permutation 64KiB count=4 start=200us'"
}

@test "jobs: a file equals options" {
    cat >"$BATS_TEST_TMPDIR/jobs.hxm.yaml" <<'FILE'
fabric: 8x8 Hx2Mesh
jobs:
  - {name: big, size: 4x4, traffic: all-reduce, message: 1MiB}
  - {name: late, size: 6, traffic: permutation, message: 64KiB, count: 4, start: 200us}
  - {size: 2x3, traffic: all-to-all, message: 16KiB}
clock: virtual
FILE
    report "$BATS_TEST_TMPDIR/jobs.hxm.yaml" --verify
    did
    jq .jobs "$REPORT" >"$BATS_TEST_TMPDIR/file.json"
    report "8x8 Hx2Mesh" "${JOBS[@]}" --clock virtual --verify
    jq .jobs "$REPORT" | cmp - "$BATS_TEST_TMPDIR/file.json"
}

# On a HammingMesh no two jobs share a cable. They only affect each other's turn among equal paths in a row's or
# column's switch: a few per cent at most.
@test "jobs: alone or side by side, a HammingMesh gives each job the same time" {
    "$HXMESH-interference" "8x8 Hx2Mesh" "${JOBS[@]}" --quiet --json - >"$REPORT"
    holds '(.jobs | length) == 3 and
        (.jobs | all(.shared_links == 0 and .foreign_packets == 0 and .links > 0 and .slowdown > 0.95 and .slowdown < 1.05))'
    report "8x8 Hx2Mesh" "${JOBS[@]}" --clock virtual --only big --only 2
    holds '[.jobs[] | [.job, .messages > 0]] | sort == [[1, true], [2, true], [3, false]]'
}

# Neighbours in a row of hosts share leaves; scattered jobs on a torus share nearly everything, and pass each other's
# routers.
@test "jobs: on other fabrics they interfere" {
    local jobs=(--job 'a: 32 all-reduce 1MiB place=random algorithm=torus' --job 'b: 24 all-to-all 64KiB place=random')
    "$HXMESH-interference" "torus 4x4x4" "${jobs[@]}" --quiet --json - >"$REPORT"
    holds '.jobs | all(.shared_links > 100 and .foreign_packets > 1000) and (map(.slowdown) | max > 1.05)'
    "$HXMESH-interference" "fat-tree hosts=64 radix=16 taper=3" "${jobs[@]}" --quiet --json - >"$REPORT"
    holds '.jobs | all(.shared_links > 20 and .foreign_packets == 0) and (map(.slowdown) | max > 1.05)'
}

@test "jobs: any shape of a collective, on any fabric" {
    report "4x4 Hx2Mesh" --clock virtual --verify --job 'line: 2x2 all-reduce 64KiB grid=16x1 algorithm=ring' \
        --job 'exchanged: 1x2 all-reduce 64KiB grid=4x2 algorithm=torus'
    holds '.bytes_corrupted == 0 and .collective.done == 24 and
        ([.collective.jobs[] | [.columns, .rows, .algorithm]] | sort) == [[4, 2, "torus"], [16, 1, "ring"]]'
    for place in contiguous group random; do
        for fabric in "fat-tree hosts=64 radix=16" "torus 4x4x4" "dragonfly a=4 p=2 h=2"; do
            report "$fabric" --clock virtual --verify --job "a: 4x4 all-reduce 64KiB place=$place" \
                --job "b: 9 reduce-scatter 36KiB place=$place" --job "c: 7 incast 8KiB place=$place"
            holds '.complete and .bytes_corrupted == 0 and .collective.done == 25 and (.jobs | length) == 3'
        done
    done
}

@test "jobs: impossible settings are refused in one line" {
    # shellcheck disable=SC2154 # stderr: set by run
    said() {
        run --separate-stderr hxmesh run "$2" --quiet --name "$NAME" "${@:3}"
        [ "$status" -eq 2 ] && [ "$stderr" = "hxmesh: error: $1" ] || { echo "$status $stderr"; return 1; }
    }
    said "--job 'a: 5x5': no room for 5x5 boards: 16 of 16 are free, and a job needs rows of boards with the same free columns" \
        "4x4 Hx2Mesh" --job "a: 5x5"
    said "--job 'a:': has no size (write for example 'big: 4x4 all-reduce 16MiB')" "4x4 Hx2Mesh" --job "a:"
    said "--job 'a: 2 inkast': unknown word 'inkast' (did you mean 'incast'?)" "4x4 Hx2Mesh" --job "a: 2 inkast"
    said "--job 'a: 2 colour=red': unknown key 'colour'" "4x4 Hx2Mesh" --job "a: 2 colour=red"
    said "--job 'a: 2 incast 1 2': '2': a size, a traffic pattern and a size of messages stand without a key" \
        "4x4 Hx2Mesh" --job "a: 2 incast 1 2"
    said "--job 'a: 2': there is a job 'a' already" "4x4 Hx2Mesh" --job "a: 1" --job "a: 2"
    said "--job '2: 4': '2' is a tag, not a name: give it as tag, or a name with a letter" "4x4 Hx2Mesh" --job "2: 4" --job "1: 4"
    said "--job 'a: 2 grid=65536x1': '65536x1' is no grid: a side has at most 65535 hosts" "4x4 Hx2Mesh" --job "a: 2 grid=65536x1"
    said "--only: no job has the name or tag 'b'" "4x4 Hx2Mesh" --job "a: 1" --only b
    said "--job 'a: 2': hosts of a torus of one or two sides forward packets: jobs cannot be kept apart" "torus 4x4" --job "a: 2"
}

@test "jobs: if a job with a collective is left out, no collective is reported" {
    for clock in wall virtual; do
        report "4x4 Hx2Mesh" --clock "$clock" --job 'a: 4 all-reduce 64KiB' --job 'b: 4 permutation 64KiB' --only b
        holds '.complete and .collective == null and .messages == 16'
    done
}

@test "jobs: a duration is for messages: no job runs a collective in it" {
    run --separate-stderr hxmesh run "4x4 Hx2Mesh" --quiet --name "$NAME" --clock virtual --traffic uniform --duration 1ms \
        --job 'a: 4 all-reduce' --job 'b: 4'
    [ "$status" -eq 2 ]
    [ "$stderr" = "hxmesh: error: --duration: is for messages, and job 1 (a) is all-reduce: it runs once, to its end" ]
    for clock in wall virtual; do
        [ "$clock" = wall ] && duration=500ms || duration=1ms
        report "4x4 Hx2Mesh" --clock "$clock" --traffic uniform --duration "$duration" --job 'a: 4 all-reduce' --job 'b: 4' --only b
        holds '.complete and .collective == null and .messages > 0'
    done
}

@test "jobs: settings of a job must apply to its traffic" {
    # shellcheck disable=SC2154 # stderr: set by run
    refused() {
        run --separate-stderr hxmesh run "$2" --quiet --name "$NAME" "${@:3}"
        [ "$status" -eq 2 ] && [[ $stderr = "hxmesh: error: $1"* ]] || { echo "$status $stderr"; return 1; }
    }
    refused "--job 'a: 6 incast grid=6x4': grid: is for pattern: broadcast, reduce-scatter, all-gather, all-reduce, reduce, gather, scatter, total-exchange or barrier, not incast" \
        "4x4 Hx2Mesh" --job "a: 6 incast grid=6x4"
    refused "--traffic: job 1 (a): algorithm: is for pattern: broadcast, reduce-scatter, all-gather, all-reduce, reduce, gather, scatter, total-exchange or barrier, not all-to-all" \
        "4x4 Hx2Mesh" --job "a: 6 algorithm=ring"
    refused "--traffic: job 1: grid: is for pattern: broadcast, reduce-scatter, all-gather, all-reduce, reduce, gather, scatter, total-exchange or barrier, not all-to-all" \
        "4x4 Hx2Mesh" --job "6 grid=6x4"
    refused "--traffic: job 1 (a): count: is for pattern: all-to-all, " "4x4 Hx2Mesh" --traffic all-reduce --job "a: 4 count=2"
    report "4x4 Hx2Mesh" --clock virtual --traffic all-reduce --job "a: 2x3 algorithm=torus grid=6x4"
    holds '.complete and [.collective.jobs[] | [.columns, .rows, .algorithm]] == [[6, 4, "torus"]]'
}

@test "jobs: a file that ends with a duration has no interference figures" {
    cat >"$BATS_TEST_TMPDIR/lasting.hxm.yaml" <<'FILE'
fabric: 4x4 Hx2Mesh
traffic: {pattern: uniform, duration: 1ms}
jobs: [{size: 4}, {size: 4}]
FILE
    run --separate-stderr "$HXMESH-interference" "$BATS_TEST_TMPDIR/lasting.hxm.yaml" --quiet
    [ "$status" -eq 3 ]
    [ "$stderr" = "hxmesh: error: $BATS_TEST_TMPDIR/lasting.hxm.yaml: all jobs end with its traffic's duration: none can \
be slower (use a count)" ]
}

# Every frame at every port, by the rules of the fabric: no job's frame at a board of another.
@test "jobs: captures show that they stay separate" {
    for clock in wall virtual; do
        hxmesh run "4x4 Hx2Mesh" --clock "$clock" --job 'a: 2x3 all-reduce 64KiB' --job 'b: 4 all-to-all 16KiB' --name "$NAME" \
            --quiet --capture "$BATS_TEST_TMPDIR/$clock.pcapng" >/dev/null
        "$HXMESH-verify" "$BATS_TEST_TMPDIR/$clock.pcapng" --json - >"$REPORT"
        holds '.passed and .verified.data_frames > 1000 and .verified.nodes == 80'
    done
}
