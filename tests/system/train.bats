# train.bats - hxmesh train: figures of the run, the estimate beside them, fabrics side by side, refusals, interruption.

# shellcheck disable=SC2016,SC2154 # what stands in quotes is for jq; of run
load emulator_support

setup() {
    fresh_folder
    MODEL=$BATS_TEST_DIRNAME/../../examples/schedules/pipeline-data.schedule.yaml
    SMALL=(--set activation=64KiB --set gradient=128KiB --set "forward=20 us" --workers 1 --quiet)
    cat >model.yaml <<'MODEL'
model: small
samples: 16
tokens: 4
accelerator: {flops: 1 TFLOPS, efficiency: 0.5}
parallelism: {tensor: 2, data: 2, pipeline: 2}
pipeline: {schedule: 1f1b, micro_batches: 4}
layers:
  - repeat: 4
    layers:
      - {name: block, parameters: 65536, activations: 16384, flops: 20000000, shard: columns}
MODEL
}
teardown() { leave_nothing; }

# refused CODE MESSAGE ARGUMENTS...: hxmesh train ends so, with one line.
refused() {
    run --separate-stderr hxmesh train "${@:3}" --quiet
    [[ "$status" -eq "$1" && "$stderr" = "hxmesh: error: $2" && -z "$output" ]] || { echo "$status $stderr"; return 1; }
}

@test "train: the figures are those of the run, and the estimate is near" {
    hxmesh train "2x2 Hx2Mesh" "$MODEL" "${SMALL[@]}" --json train.json --timeline t.json >table
    hxmesh run "2x2 Hx2Mesh" --clock virtual -t "$MODEL" "${SMALL[@]}" --place fold --json run.json >/dev/null
    jq -n '$t[0].fabrics[0] + {of: $r[0].schedule[0]} + {ranks: $t[0].ranks}' --slurpfile t train.json --slurpfile r run.json >"$REPORT"
    holds '.ranks == 16 and .place == "fold" and .run.iteration_seconds == .of.seconds and
        (.run.iteration_seconds - .run.network_seconds - .of.ideal_seconds | fabs < 1e-9) and
        (.run.bubble_seconds - .of.bubble_seconds | fabs < 1e-9) and
        ([.purposes[] | [.purpose, .exposed_seconds, .hidden_seconds]] ==
         [.of.purposes[] | [.purpose, .exposed_seconds.mean, .hidden_seconds.mean]]) and
        (.estimate_difference | fabs < 0.1) and (.link_classes | length) > 0 and (.busiest_links | length) == 10 and
        .samples_per_second * .run.iteration_seconds > 0'
    grep -q '^iteration ' table
    grep -q '^  pipeline ' table
    jq -e '.traceEvents | length > 0' t.json
}

@test "train: a model, with and without a run" {
    hxmesh train "2x1 Hx2Mesh" model.yaml --workers 1 --quiet --json "$REPORT"
    holds '.ranks == 8 and .dimensions == [2, 2, 2] and .samples == 16 and .tokens == 64 and (.fabrics[0] |
        ([.purposes[].purpose] | sort) == ["data", "pipeline", "tensor"] and (.estimate_difference | fabs < 0.15) and
        (.tokens_per_second / .samples_per_second - 4 | fabs < 1e-6) and
        (.flops_per_second * .run.iteration_seconds * 8 / (4 * 3 * 20000000 * 16) - 1 | fabs < 1e-6) and
        .flops_per_second_recomputed == .flops_per_second and
        (.cost.usd_per_sample * 16 / .cost.usd_per_iteration - 1 | fabs < 1e-6) and
        (.cost.usd_per_iteration * 5 * 365.25 * 86400 / .run.iteration_seconds / .cost.usd - 1 | fabs < 1e-6))'
    hxmesh train "2x1 Hx2Mesh" model.yaml --estimate --json - >estimate.json
    jq -e --slurpfile run "$REPORT" '.fabrics[0] | .run == null and .estimate == $run[0].fabrics[0].estimate' estimate.json
}

# SHARE FABRIC MODEL OPTIONS...: what the estimate says of purposes and links is near what the run does. Bytes of
# purposes and of classes of links are equal but for rounding, times are within SHARE of the iteration.
spent_alike() {
    hxmesh train "${@:2}" --workers 1 --quiet --json run.json >/dev/null
    hxmesh train "${@:2}" --estimate --quiet --json estimate.json >/dev/null
    jq -n '{run: $r[0].fabrics[0], estimate: $e[0].fabrics[0]}' --slurpfile r run.json --slurpfile e estimate.json >"$REPORT"
    jq -e --argjson share "$1" '
        def near($a; $b; $by): ($a - $b | fabs) <= $by or error("\($a) is not \($b), by \($by)");
        .run.run.iteration_seconds as $run | .estimate.estimate.iteration_seconds as $estimate | .run as $r | .estimate |
        ([.purposes[].purpose] == [$r.purposes[].purpose]) and ([.link_classes[].class] == [$r.link_classes[].class]) and
        all([.purposes, $r.purposes] | transpose[]; near(.[0].bytes; .[1].bytes; 0.001 * .[1].bytes) and
            near(.[0].seconds; .[1].seconds; $share * $run) and near(.[0].exposed_seconds; .[1].exposed_seconds; $share * $run)) and
        all([.link_classes, $r.link_classes] | transpose[]; .[0].links == .[1].links and
            near(.[0].busy * $estimate; .[1].busy * $run; 0.02 * .[1].busy * $run + 1e-8))' "$REPORT"
}

@test "train: the estimate says where the time goes, as the run does" {
    sed 's/data: 2/data: 66/; s/samples: 16/samples: 528/; s/65536/655360/' model.yaml >many.yaml
    spent_alike 0.03 "2x1 Hx2Mesh" model.yaml # messages over links
    spent_alike 0.03 "fat-tree hosts=8" model.yaml
    spent_alike 0.15 "6x11 Hx2Mesh" many.yaml # 264 ranks: by collectives
    spent_alike 0.03 "2x2 Hx2Mesh" "$MODEL" "${SMALL[@]:0:6}"
    cat >tied.yaml <<'END'
model: a tied head, and layers in parts
values: {hidden: 512, tokens: 256, words: 4096}
samples: 8
tokens: tokens
accelerator: {flops: 312 TFLOPS, efficiency: 0.5}
parallelism: {tensor: 4, data: 2, pipeline: 2}
pipeline: {schedule: 1f1b, micro_batches: 2}
sequence_parallel: true
tensor_splits: 3
layers:
  - {name: words, parameters: words * hidden, activations: tokens * hidden, flops: 0, shard: columns}
  - repeat: 2
    layers:
      - {name: mlp, parameters: 8 * hidden * hidden, activations: tokens * hidden, flops: 16 * tokens * hidden * hidden, shard: columns}
  - {name: head, parameters: words * hidden, tied: words * hidden, activations: tokens, flops: 2 * tokens * hidden * words, shard: columns}
END
    spent_alike 0.15 "2x2 Hx2Mesh" tied.yaml
    # A quarter of the words, from and to each stage; two micro-batches of two samples leave, or come back.
    jq -e '.run.purposes[] | select(.purpose == "pipeline") | .bytes / (4096 * 512 / 4 * 2 + 2 * 2 * 256 * 512 * 2 / 4) - 1 |
        fabs < 0.001' "$REPORT"
    sed 's/data: 2/data: 33/; s/samples: 8/samples: 132/; s/splits: 3/splits: 2/' tied.yaml >many-tied.yaml
    spent_alike 0.15 "6x11 Hx2Mesh" many-tied.yaml # by collectives
    jq -e '.fabrics[0] | .stages as $s | ($s | length == 2 and all(.computing_seconds > 0 and .exposed_seconds.pipeline > 0)) and
        (([$s[].computing_seconds] | add / 2) / .estimate.computing_seconds - 1 | fabs < 1e-6) and
        all(.purposes[]; . as $p | (([$s[].exposed_seconds[$p.purpose]] | add / 2) - $p.exposed_seconds | fabs) < 1e-12)' \
        <<<"$(hxmesh train "6x11 Hx2Mesh" many.yaml --estimate --timeline t.json --json -)"
    jq -e '[.traceEvents[] | select(.ph == "X") | .pid] | length > 50' t.json
}

@test "train: prices of a file, for the rate of the run's links" {
    hxmesh train "fat-tree hosts=16" "$MODEL" --estimate --link 100 --prices "$BATS_TEST_DIRNAME/../../examples/prices/topoopt.yaml" \
        --json "$REPORT"
    holds '.fabrics[0].cost | .usd == 16 * (678 + 187 + 2 * 99 + 150) and (.prices | endswith("topoopt.yaml"))'
}

@test "train: fabrics side by side, equally fast hosts, and figure 15's saving" {
    hxmesh train "4x4 Hx1Mesh" "$MODEL" "${SMALL[@]}" --equal-injection --compare "fat-tree hosts=16" --compare "torus 4x4" \
        --json "$REPORT" >table
    holds '([.fabrics[].planes] == [1, 4, 1]) and (.fabrics[0].saving == null) and
        (.fabrics[0] as $first | .fabrics[1:] | map(.saving / (.cost.usd / $first.cost.usd) /
            (.run.network_seconds / $first.run.network_seconds) - 1 | fabs < 1e-6) | all) and
        (.fabrics[1].cost.usd * 4 - .fabrics[1].cost.usd_bought | fabs < 4)'
    grep -q '^  torus 4x4 ' table
    run -0 --separate-stderr hxmesh train "4x4 Hx1Mesh" "$MODEL" --estimate --compare "fat-tree hosts=16" --json -
    [[ "$stderr" = *"hosts inject 400 Gb/s, those of 4x4 Hx1Mesh 1600"* ]]
}

@test "train: memory by stage, what does not fit is said first, and --fit refuses it" {
    sed 's/^accelerator: .*/accelerator: {flops: 1 TFLOPS, efficiency: 0.5, memory: 2500kB, reserved: 1MB}/' model.yaml >fits.yaml
    hxmesh train "2x1 Hx2Mesh" fits.yaml --estimate --fit --json "$REPORT" >text
    # Two layers of 32,768 parameters a rank: 2 + 2 + 12 bytes each, and two or one micro-batches of 2 samples.
    holds '.memory | .fits and .accelerator_bytes == 2500000 and .layers_without_saved == 4 and .largest_stage == 0 and
        [.stages[].weights] == [131072, 131072] and [.stages[].optimizer_states] == [786432, 786432] and
        [.stages[].passes] == [2, 1] and [.stages[].reserved] == [1000000, 1000000] and
        [.stages[] | .bytes - .weights - .gradients - .optimizer_states - .activations - .buffers - .reserved] == [0, 0]' || {
        jq .memory "$REPORT"
        hxmesh train "2x1 Hx2Mesh" fits.yaml --estimate
        return 1
    }
    sed 's/2500kB/1100kB/' fits.yaml >large.yaml
    hxmesh train "2x1 Hx2Mesh" large.yaml --estimate >text
    head -n 1 text | grep -qE '^does not fit    stage 0 needs [0-9.]+ MB of 1.1 MB, most of it reserved \('
    refused 3 "large.yaml: $(head -n 1 text | cut -c 17-)" "2x1 Hx2Mesh" large.yaml --estimate --fit
    refused 2 "--fit: needs a model with accelerator: {memory: 80 GB}" "2x1 Hx2Mesh" model.yaml --estimate --fit
    hxmesh train "2x2 Hx2Mesh" "$MODEL" "${SMALL[@]}" --estimate --json - | jq -e '.memory == null'
}

# A model of experts, four ranks of two each; the first expert has `hot` of hot + 7 tokens.
experts() {
    cat >experts.model.yaml <<'MODEL'
model: experts
values: {hot: 1}
samples: 8
accelerator: {flops: 1 TFLOPS, efficiency: 0.5}
parallelism: {tensor: 2, data: 4, expert: 4}
layers:
  - repeat: 3
    layers:
      - {name: attention, parameters: 65536, activations: 65536, flops: 20000000, shard: columns}
      - {name: experts, parameters: 65536, activations: 65536, routed: 131072, flops: 80000000, shard: experts,
         loads: [hot, 1, 1, 1, 1, 1, 1, 1]}
MODEL
}

# Loads of the ranks are (hot + 1), 2, 2, 2 of hot + 7, over their mean.
@test "train: experts with unequal loads, by a run and by the estimate" {
    experts
    for hot in 1 5 17; do
        hxmesh train "2x1 Hx2Mesh" experts.model.yaml --set hot=$hot --workers 1 --quiet --json "$REPORT" >table
        holds "(.expert_load - 4 * ($hot + 1) / ($hot + 7) | fabs < 1e-12) and
            (.fabrics[0].estimate_difference | fabs < 0.1)"
        [ $hot = 1 ] || grep -q "^experts  *the fullest rank has [0-9.]* times the mean load" table
        # passes of 3 layers: forward and backward, by 2 tensor ranks at half of a TFLOPS; the others are equal
        jq -e --argjson hot $hot '(.fabrics[0].run | (.computing_seconds + .bubble_seconds) * 1e6) as $is |
            (3 * 3 * 2 / 2 / 0.5 * (20 + 80 * 4 * ($hot + 1) / ($hot + 7))) as $should |
            ($is / $should - 1 | fabs < 0.001) or error("\($is) us is not \($should)")' "$REPORT"
    done
    spent_alike 0.1 "2x1 Hx2Mesh" experts.model.yaml --set hot=5
}

@test "train: what cannot be is refused in one line" {
    refused 3 "$MODEL: has 16 ranks, but only 4 accelerators are there" "1x1 Hx2Mesh" "$MODEL"
    run -3 --separate-stderr hxmesh train "4x4 Hx9Mush" "$MODEL"
    run -3 --separate-stderr hxmesh train "4x4 Hx1Mesh" none.yaml
    [ "${#stderr_lines[@]}" -eq 1 ]
    sed -i 's/samples: 16/samples: 15/' model.yaml
    run -3 --separate-stderr hxmesh train "4x4 Hx1Mesh" model.yaml
    [ "${#stderr_lines[@]}" -eq 1 ]
    refused 2 "--timeline: is of one fabric, not of several (--compare)" "4x4 Hx1Mesh" "$MODEL" --compare "torus 4x4" --timeline t
    refused 2 "--equal-injection: needs a --compare, or an --injection" "4x4 Hx1Mesh" "$MODEL" --equal-injection
    refused 2 "--planes: is what --equal-injection sets: which of both?" "4x4 Hx1Mesh" "$MODEL" --equal-injection \
        --compare "torus 4x4" --planes 2
    printf 'fabric: 4x4 Hx1Mesh\njobs:\n  - {tag: 1, boards: [[0, 0]]}\n' >jobs.hxm.yaml
    refused 3 "jobs.hxm.yaml: names jobs: a model is trained on the whole fabric" jobs.hxm.yaml "$MODEL"
}

@test "train: interrupted, it ends with 130 and leaves no run" {
    env --default-signal=INT "$HXMESH" train "4x4 Hx1Mesh" "$MODEL" --set batches=4096 --workers 1 >table 2>errors 3>&- &
    PID=$!
    until pgrep -P "$PID" >child; do sleep 0.05; done
    kill -INT "$PID"
    CODE=0
    wait "$PID" || CODE=$?
    [ "$CODE" -eq 130 ]
    run ! kill -0 "$(cat child)"
}
