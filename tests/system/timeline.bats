# timeline.bats - hxmesh run --timeline: trace events and pictures of schedules under both clocks; operations in
# hxmesh top.

load emulator_support

setup() {
    fresh_folder
    cat >job.schedule.yaml <<'YAML'
ranks: 8
program:
  - repeat: 3
    name: iteration
    do:
      - {compute: 20 us, name: "backward \"1\""}
      - {collective: all-reduce, bytes: 16KiB, after: "backward \"1\""}
      - {compute: 5 us, stream: 1, after: "backward \"1\""}
      - {send: 4KiB, to: (rank + 1) % ranks, after: "backward \"1\""}
      - {receive: 4KiB, from: (rank + ranks - 1) % ranks, after: "backward \"1\""}
YAML
}
teardown() { end_started; }

# nests FILE: complete events of a thread do not overlap, except for the digits that jq loses.
nests() {
    jq --exit-status '[.traceEvents[] | select(.ph == "X")] | group_by([.pid, .tid]) |
        all(.[]; sort_by(.ts, .ts + .dur) | [., .[1:]] | transpose |
            all(.[]; .[1] == null or .[0].ts + .[0].dur <= .[1].ts + 1e-6))' "$1"
}

# pairs FILE: each arrow has one begin and one end, later, each on a thread with a name.
pairs() {
    jq --exit-status '([.traceEvents[] | select(.name == "thread_name") | .tid]) as $threads |
        [.traceEvents[] | select(.ph == "s" or .ph == "f")] | group_by(.id) |
        length > 0 and all(.[]; length == 2 and ([.[].ph] | sort) == ["f", "s"] and
            (map(select(.ph == "s"))[0].ts <= map(select(.ph == "f"))[0].ts) and
            all(.[]; .tid as $tid | $threads | index($tid) != null))' "$1"
}

@test "timeline: trace events are JSON, do not overlap, and do not depend on the workers" {
    for workers in 1 2; do
        report "2x2 Hx2Mesh" --clock virtual -t job.schedule.yaml --workers "$workers" --share-cores \
            --timeline "$workers.json"
    done
    cmp 1.json 2.json
    nests 1.json
    pairs 1.json
    jq --exit-status '(.otherData | .events == 144 and .events_left_out == 0) and
        ([.traceEvents[] | select(.ph == "X")] | length == 144) and
        (.traceEvents | any(.name == "backward \"1\"" and .cat == "compute" and .ts == 0 and .dur == 20)) and
        (.traceEvents | any(.cat == "receive" and .args.peer == 7 and .args.bytes == 4096 and .args.tag == 0)) and
        (.traceEvents | any(.cat == "all-reduce" and .args.group == 0)) and
        (.traceEvents | any(.name == "iteration" and .args.iteration == 2))' 1.json
}

@test "timeline: a picture shows a row of each rank; - is stdout; traffic without a schedule has none" {
    report "2x2 Hx2Mesh" --clock virtual -t job.schedule.yaml --timeline job.svg
    [ "$(grep -c '>rank [0-7]</text>' job.svg)" -eq 8 ]
    grep -q '>time (us)</text>' job.svg
    if command -v xmllint >/dev/null; then xmllint --noout job.svg; fi
    hxmesh run "2x2 Hx2Mesh" --clock virtual -t job.schedule.yaml --quiet --timeline - >job.json
    nests job.json
    run -2 hxmesh run "2x2 Hx2Mesh" -t uniform --timeline job.json
    [[ "$output" == "hxmesh: error: --timeline: is for --traffic SCHEDULE, not uniform" ]]
}

@test "timeline: each job with a schedule is a process" {
    report "4x4 Hx2Mesh" --clock virtual --job "a: 2 job.schedule.yaml" --job "b: 2 uniform count=2" \
        --job "c: 2 job.schedule.yaml" --timeline jobs.json
    nests jobs.json
    pairs jobs.json
    jq --exit-status '([.traceEvents[] | select(.name == "process_name") | [.pid, .args.name]] ==
            [[1, "job 1: job.schedule.yaml"], [2, "job 3: job.schedule.yaml"]]) and
        (.otherData.events == 288) and
        ([.traceEvents[] | select(.ph == "f") | .id] | length == (unique | length))' jobs.json
}

@test "timeline: on the wall clock, and hxmesh top counts operations until all have ended" {
    start "2x2 Hx2Mesh" -t job.schedule.yaml --compute-scale 20000 --timeline live.json
    eventually hxmesh top "$NAME" --json first --count 1 --interval 100ms
    hxmesh top "$NAME" --json lines --interval 100ms
    finish
    [ "$CODE" -eq 0 ]
    nests live.json
    pairs live.json
    jq --exit-status '.operations.all == 128' first
    jq --slurp --exit-status '(.[-1].operations | .ended == 128 and .open == 0) and .[-1].done == 1' lines
}
