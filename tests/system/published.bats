#!/usr/bin/env bats
# published.bats - estimates of published training runs are near what their papers say (docs/training.md, "Published
# runs").

load emulator_support

setup() { fresh_folder; }
teardown() { leave_nothing; }

# Narayanan et al., SC21, table 1; micro-batches and chunks of Megatron-LM, examples/sc21. overlap: its data parallelism
# is PyTorch's. parameters hidden blocks heads tensor stages chunks data batch samples overlap TFLOP/s servers
SC21="1.7 2304 24 24 1 1 1 32 512 16 1 137 Switch(4)
3.6 3072 30 32 2 1 1 32 512 16 1 138 Switch(8)
7.5 4096 36 32 4 1 1 32 512 16 1 142 Switch(16)
18.4 6144 40 48 8 1 1 32 1024 8 1 135 Switch(32)
39.1 8192 48 64 8 2 1 32 1536 4 0 138 Switch(64)
76.1 10240 60 80 8 4 3 32 1792 2 0 140 Switch(64)_Switch(2)
145.6 12288 80 96 8 8 2 24 2304 2 0 148 Switch(64)_Switch(3)
310.1 16384 96 128 8 16 2 15 2160 1 0 155 Switch(48)_Switch(5)
529.6 20480 105 128 8 35 3 9 2520 1 0 163 Switch(63)_Switch(5)
1008 25600 128 160 8 64 1 6 3072 1 0 163 Switch(64)_Switch(6)"

# bats test_tags=all
@test "published: ten models of Megatron-LM are within 7 % of SC21's table 1, and fit" {
    while read -r parameters hidden blocks heads tensor stages chunks data batch samples overlap tflops servers; do
        rates=1500,200
        [[ $servers != *_* ]] || rates=$rates,200
        hxmesh train "Switch(8)_$servers gbps=$rates" "$BATS_TEST_DIRNAME/../../examples/models/megatron.model.yaml" \
            --estimate --fit --quiet --json - --set hidden="$hidden" --set blocks="$blocks" --set heads="$heads" \
            --set tensor="$tensor" --set stages="$stages" --set chunks="$chunks" --set data="$data" \
            --set batch="$batch" --set samples="$samples" --set overlap="$overlap" </dev/null >row.json
        jq -r --arg parameters "$parameters" --argjson published "$tflops" '.fabrics[0].flops_per_second_recomputed / 1e12 |
            "\($parameters) B: \(. * 10 | round / 10) of \($published), \(. / $published * 100 | round / 100)"' row.json
        jq -e --argjson published "$tflops" \
            '.fabrics[0].flops_per_second_recomputed / 1e12 / $published | . > 0.93 and . < 1.07' row.json >/dev/null
    done <<<"$SC21"
}

# Grattafiori et al. 2024, table 4: MFU in per cent, on H100 of 989 TFLOP/s.
# bats test_tags=all
@test "published: Llama 3 405B on 8,192 and 16,384 GPUs is within two points of its paper" {
    while read -r data context micro sequence servers mfu; do
        hxmesh train "Switch(8)_Switch(64)_$servers gbps=2960,400,400" \
            "$BATS_TEST_DIRNAME/../../examples/models/llama3-405b.model.yaml" --estimate --quiet --json - --set data="$data" \
            --set context="$context" --set micro="$micro" --set sequence="$sequence" </dev/null >row.json
        jq -e --argjson mfu "$mfu" '(100 * .fabrics[0].flops_per_second / 989e12) as $is |
            if ($is - $mfu | fabs) <= 2 then true else error("\($is) is not \($mfu)") end' row.json >/dev/null
    done <<<"64 1 32 8192 Switch(16) 43
128 1 16 8192 Switch(32) 41
8 16 16 131072 Switch(32) 38"
}

# DeepSeek-AI 2024: 14.8 T tokens in 2.664 M hours of an H800, so 1,543 tokens a second of each.
# bats test_tags=all
@test "published: DeepSeek-V3 on 2,048 GPUs is within 10 % of its paper" {
    hxmesh train "Switch(8)_Switch(64)_Switch(4) gbps=1280,400,400" \
        "$BATS_TEST_DIRNAME/../../examples/models/deepseek-v3.model.yaml" --estimate --quiet --json row.json
    jq -e '(.fabrics[0].tokens_per_second / 2048) as $is |
        if $is > 0.9 * 1543 and $is < 1.1 * 1543 then true else error("\($is) is not 1543") end' row.json >/dev/null
}
