#!/usr/bin/env bats
# plan.bats - hxmesh plan: the best layout that fits, its model file, several fabrics, refusals, interruption.

# shellcheck disable=SC2016,SC2154 # what stands in quotes is for jq; of run
load emulator_support

setup() {
    fresh_folder
    cat >job.model.yaml <<'MODEL'
# A small job.
model: job
values: {hidden: 256, sequence: 128}
samples: 32
tokens: sequence
accelerator: {flops: 20 TFLOPS, efficiency: 0.5, memory: 40MB}
parallelism: {data: 8}       # goes
pipeline:                    # goes
  micro_batches: 4
layers:
  - repeat: 6
    layers:
      - name: attention
        parameters: 4 * hidden * hidden
        activations: sequence * hidden
        products: [{m: sequence, n: 4 * hidden, k: hidden}]
        saved: 12 * sequence * hidden
        shard: columns
      - name: mlp
        parameters: 8 * hidden * hidden
        activations: sequence * hidden
        products: [{m: sequence, n: 4 * hidden, k: hidden}, {m: sequence, n: hidden, k: 4 * hidden, divided: k}]
        saved: 14 * sequence * hidden
        shard: columns
MODEL
}
teardown() { leave_nothing; }

# refused CODE MESSAGE ARGUMENTS...: hxmesh plan ends so, with one line.
refused() {
    run --separate-stderr hxmesh plan "${@:3}" --quiet
    [[ "$status" -eq "$1" && "$stderr" = "hxmesh: error: $2" && -z "$output" ]] || { echo "$status $stderr"; return 1; }
}

@test "plan: the best layout fits, and hxmesh train gives its model file the same time" {
    hxmesh plan job.model.yaml "2x1 Hx2Mesh" --quiet --json plan.json --write best.model.yaml >table
    grep -q '^best  ' table
    grep -q '^runner-up  ' table
    place=$(sed -n 's/^# To be used with \(--place [a-z]*\)$/\1/p' best.model.yaml)
    # shellcheck disable=SC2086 # an option and its value
    hxmesh train "2x1 Hx2Mesh" best.model.yaml $place --estimate --fit --json train.json >/dev/null
    jq -n '$p[0].fabrics[0] as $plan | $t[0] as $train | {plan: $plan, train: $train, best: $plan.results[0]}' \
        --slurpfile p plan.json --slurpfile t train.json >"$REPORT"
    holds '.plan.ranks == 8 and .plan.estimated <= 300 and
        (.best | .layout.tensor * .layout.context * .layout.data * .layout.pipeline == 8) and
        (.best.iteration_seconds / .train.fabrics[0].estimate.iteration_seconds - 1 | fabs < 0.02) and
        .best.memory_bytes == (.train.memory | [.stages[].bytes] | max) and .best.memory_bytes <= 40e6 and
        (.best.mfu * 20e12 / .train.fabrics[0].flops_per_second - 1 | fabs < 0.02) and
        (.best.hfu * 20e12 / .train.fabrics[0].flops_per_second_recomputed - 1 | fabs < 0.02) and
        (.best.tokens_per_second / .train.fabrics[0].tokens_per_second - 1 | fabs < 0.02) and
        (.best.samples_per_second / .train.fabrics[0].samples_per_second - 1 | fabs < 0.02) and
        (.best.usd_per_million / .train.fabrics[0].cost.usd_per_token / 1e6 - 1 | fabs < 0.02) and
        (.best.parts.computing / .train.fabrics[0].estimate.computing_seconds - 1 | fabs < 1e-6) and
        all(.plan.results[]; .bound_seconds <= 1.001 * .iteration_seconds) and
        ((.best.parts | add) / .best.iteration_seconds - 1 | fabs < 1e-6) and
        ([.plan.results[].iteration_seconds] | . as $t | all(range(1; length); $t[.] > 0.998 * $t[. - 1]))'
    grep -q '^# A small job' best.model.yaml
    run ! grep -q goes best.model.yaml
}

@test "plan: layers in parts and a tied head are searched, too, and no bound is above its estimate" {
    sed 's/^layers:/tensor_splits: 4\nlayers:\n  - {name: words, parameters: 64 * hidden, activations: sequence * hidden, flops: 0, shard: columns}/' \
        job.model.yaml >split.model.yaml
    echo '  - {name: head, parameters: 64 * hidden, tied: 64 * hidden, activations: sequence, flops: 1000000, shard: columns}' \
        >>split.model.yaml
    hxmesh plan split.model.yaml "fat-tree hosts=8" --only tensor=2,4,8 --quiet --json "$REPORT" >/dev/null
    holds '.fabrics[0].results | length > 2 and all(.bound_seconds <= 1.001 * .iteration_seconds)'
}

@test "plan: a smaller memory gives another layout, slower; none that fits ends with 1" {
    hxmesh plan job.model.yaml "2x1 Hx2Mesh" --quiet --json large.json >/dev/null
    sed 's/40MB/14MB/' job.model.yaml >small.model.yaml
    hxmesh plan small.model.yaml "2x1 Hx2Mesh" --quiet --json small.json >/dev/null
    jq -e --slurpfile large large.json '.fabrics[0].results[0] | .memory_bytes <= 14e6 and
        .iteration_seconds >= $large[0].fabrics[0].results[0].iteration_seconds' small.json
    sed 's/40MB/1MB/' job.model.yaml >none.model.yaml
    run -1 hxmesh plan none.model.yaml "2x1 Hx2Mesh" --quiet
    [[ "$output" = *"none fits into 0.001 GB"* ]]
}

@test "plan: only some layouts, a run of the best, and the same answer twice" {
    for i in 1 2; do
        hxmesh plan job.model.yaml "torus 4x2" --only tensor=2,4 --only zero=1 --only recompute=false --confirm 1 --quiet \
            --json "$i.json" >/dev/null
    done
    cmp 1.json 2.json
    cp 1.json "$REPORT"
    holds '.fabrics[0].results | length > 1 and
        all(.layout | (.tensor == 2 or .tensor == 4) and .zero == 1 and .recompute == "false") and
        (.[0] | .confirmed_seconds / .iteration_seconds - 1 | fabs < 0.1)'
}

@test "plan: one rank has a layout, too; as many layouts as asked for are confirmed and in the JSON" {
    sed 's/40MB/400MB/' job.model.yaml >large.model.yaml
    hxmesh plan large.model.yaml "2x1 Hx2Mesh" --ranks 1 --quiet --json "$REPORT" >/dev/null
    holds '.fabrics[0].ranks == 1 and (.fabrics[0].results | length) > 0'
    hxmesh plan job.model.yaml "2x1 Hx2Mesh" --top 4 --confirm 3 --quiet --json plan.json --write best.model.yaml >/dev/null
    hxmesh train "2x1 Hx2Mesh" best.model.yaml --workers 1 --quiet --json train.json >/dev/null
    jq -n '$p[0] + {train: $t[0]}' --slurpfile p plan.json --slurpfile t train.json >"$REPORT"
    holds '(.fabrics[0].results | length >= 4 and ([.[] | select(.confirmed_seconds)] | length) == 3) and
        .fabrics[0].results[0].confirmed_seconds == .train.fabrics[0].run.iteration_seconds'
    hxmesh plan job.model.yaml "3x3 Hx1Mesh fail=board1,1" --quiet --json "$REPORT" >/dev/null # eight hosts live
    holds '.fabrics[0].ranks == 8 and .fabrics[0].results[0].iteration_seconds > 0'
}

@test "plan: fabrics side by side, equally fast hosts, each by its own layout" {
    hxmesh plan job.model.yaml "2x1 Hx2Mesh" "fat-tree hosts=8" --equal-injection --quiet --json "$REPORT" >table
    holds '(.fabrics | length == 2) and .fabrics[0].injection_gbps == .fabrics[1].injection_gbps'
    grep -q 'best layout' table
}

@test "plan: what cannot be is refused in one line" {
    refused 2 "--only: 'tensr=2': unknown word 'tensr' (did you mean 'tensor'?)" \
        job.model.yaml "torus 4x2" --only tensr=2
    refused 2 "--only: 'tensor=0': 0 is outside 1 .. 4294967295 (each key has an --only)" job.model.yaml "torus 4x2" --only tensor=0
    refused 2 "--only: 'recompute=yes': unknown word 'yes' (one of false, selective, true) (each key has an --only)" job.model.yaml "torus 4x2" \
        --only recompute=yes
    refused 2 "--only: 'tensor=' is no KEY=VALUE,...: tensor=1,2,4" job.model.yaml "torus 4x2" --only tensor=
    refused 2 "--only: 'zero=5': 5 is outside 0 .. 3 (each key has an --only)" job.model.yaml "torus 4x2" --only zero=5
    refused 2 "--jitter: is of runs: a plan takes all ranks of a stage as equal" job.model.yaml "torus 4x2" --jitter 0.1
    refused 2 "--write: is of one fabric, not of several" job.model.yaml "torus 4x2" "mesh 4x2" --write best.yaml
    refused 2 "--equal-injection: needs several fabrics, or an --injection" job.model.yaml "torus 4x2" --equal-injection
    refused 3 "job.model.yaml: no layout over the 8 ranks of torus 4x2 has the 'tensor' that --only says (tensor divides the \
ranks, and the products of layers that tensor ranks share)" job.model.yaml "torus 4x2" --only tensor=3,5
    refused 3 "job.model.yaml: no layout over the 8 ranks of torus 4x2 has the 'context' that --only says (context divides \
the ranks and the tokens of a sample, of layers that say 'context')" job.model.yaml "torus 4x2" --only context=2
    refused 3 "job.model.yaml: no layout divides it over the 8 ranks of torus 4x2 (fewer --only)" job.model.yaml \
        "torus 4x2" --only data=2 --only pipeline=8
    printf '{model: m, samples: 8, layers: [{name: a, parameters: 1, activations: 1, flops: 1000}], accelerator: {flops: 1e12}}\n' \
        >flow.model.yaml
    refused 3 "flow.model.yaml: no layout can be written into it: let each of its keys begin a line, as in docs/training.md" \
        flow.model.yaml "torus 4x2" --confirm 1
    refused 3 "torus 4x2: has 8 hosts, and --ranks is 9" job.model.yaml "torus 4x2" --ranks 9
    sed 's/products: .*/forward: 1 us/' job.model.yaml >times.model.yaml
    refused 3 "times.model.yaml: has layers with times, which belong to one layout: say 'flops' or 'products' instead" \
        times.model.yaml "torus 4x2"
    refused 3 "$BATS_TEST_DIRNAME/../../examples/schedules/pipeline-data.schedule.yaml: is no model: another schedule has its layout already" \
        "$BATS_TEST_DIRNAME/../../examples/schedules/pipeline-data.schedule.yaml" "torus 4x4"
}

@test "plan: interrupted, it prints what it found and ends with 130" {
    env --default-signal=INT "$HXMESH" plan "$BATS_TEST_DIRNAME/../../examples/models/llama3-70b.model.yaml" \
        "16x16 Hx2Mesh" >table 2>errors 3>&- &
    PID=$!
    for ((i = 0; i < 300; i++)); do
        ! grep -q estimated errors || break
        sleep 0.1
    done
    kill -INT "$PID"
    CODE=0
    wait "$PID" || CODE=$?
    [ "$CODE" -eq 130 ]
    grep -q '^best  ' table
    grep -q 'interrupted: the best so far' table
}

# bats test_tags=all
@test "plan: the best of three small jobs is within 3 % of 40 runs each" {
    python3 "$BATS_TEST_DIRNAME/plan_packets.py" "$HXMESH" --layouts 40
}
