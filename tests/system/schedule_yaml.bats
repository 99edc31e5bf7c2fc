# schedule_yaml.bats - schedules in YAML from the command line: parameters by --set, and times that closed forms give.
load tools_support

schedule() { "$HXMESH-schedule" "$@"; }

# lasts MS FILE OPTION...: on a network without delay the schedule takes so many milliseconds.
lasts() {
    local ms=$1 found
    shift
    found=$(schedule "$@" --estimate --latency 0 --link-rate 0 --json - | jq '.estimate.seconds * 1e9 | round | . / 1e6')
    [ "$found" = "$ms" ] || { echo "$*: $found ms, not $ms"; return 1; }
}

@test "schedule: a pipeline of P stages and M micro-batches takes P + M - 1 steps" {
    local file=$BATS_TEST_DIRNAME/../../examples/schedules/pipeline.schedule.yaml
    lasts 165 "$file" # (4 + 8 - 1) steps of 5 ms forward and 10 ms backward
    lasts 120 "$file" --set stages=1
    lasts 99 "$file" --set stages=24 --set batches=10 --set forward=1ms
    refused 2 "--set: the file has no parameter 'stage' (did you mean 'stages'?)" schedule "$file" --set stage=3
}

@test "schedule: gradients are summed while the layers below compute" {
    local file=$BATS_TEST_DIRNAME/../../examples/schedules/data-parallel.schedule.yaml
    lasts 250 "$file" # 10 iterations of 4 x 2 ms forward, 4 x 4 ms backward and 1 ms
    lasts 8 "$file" --set iterations=1 --set layers=1 --set forward=3ms
}

@test "schedule: purposes, work and grid are shown, also of hxmesh's own file" {
    local file=$BATS_TEST_DIRNAME/../../examples/schedules/pipeline-data.schedule.yaml
    local job=$BATS_TEST_TMPDIR/job.hxs shown=$BATS_TEST_TMPDIR/shown
    schedule "$file" --write "$job" >"$shown"
    grep -qx 'grid            4 x 4' "$shown"
    grep -qx 'training        128 samples in 1 iteration' "$shown"
    grep -qx 'purposes        pipeline, data' "$shown"
    schedule "$job" --estimate --json - | jq -e '.dimensions == [4, 4] and .purposes == ["pipeline", "data"] and
        .samples == 128 and .tokens == null and .training_iterations == 1 and (.estimate | .samples_per_second * .seconds | round == 128) and
        ([.estimate.purposes[] | [.purpose, .messages, .bytes]] | .[0] == ["pipeline", 192, 12884901888]) and
        (.estimate | ([.purposes[].exposed_seconds.mean] | add) - .exposed_seconds | fabs < 1e-9)'
}
