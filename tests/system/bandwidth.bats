# bandwidth.bats - hxmesh bandwidth: divisions of a budget, packets beside the closed form, errors.
# shellcheck disable=SC2016,SC2154 # filters of jq have variables; bats sets stderr

load tools_support

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    cat >m.model.yaml <<'END'
model: m
values: {tensor: 8, data: 4}
samples: 16 * data
accelerator: {flops: 100 TFLOPS}
parallelism: {tensor: tensor, data: data}
zero: 2
layers:
  - repeat: 4
    layers:
      - {name: a, parameters: 100000000, activations: 1000000, flops: 1000000000000, shard: columns}
END
}

bandwidth() { "$HXMESH-bandwidth" "$@" --quiet; }

@test "bandwidth: every division spends the budget, and the search is the fastest" {
    bandwidth "Ring(4)_FC(4)_Switch(2)" m.model.yaml --budget 100 --json - >report.json
    json_holds '[.methods[].method] == ["EqualBW", "MessageBW", "SmartBW", "search", "search/cost"] and
        all(.methods[]; (.rates | add) / 1e11 - 1 | fabs < 1e-6) and .methods[0].rates[0] == .methods[0].rates[2] and
        (.methods[3].estimate.seconds as $least | all(.methods[]; .estimate.seconds >= $least)) and
        (.methods[4] | .dollars * .estimate.seconds) as $cheap | all(.methods[]; .dollars * .estimate.seconds >= $cheap)' \
        <report.json
    bandwidth "Ring(4)_FC(4)_Switch(2)" m.model.yaml --budget 100 >text
    grep -qE '^ *SmartBW +[0-9.]+ +[0-9.]+' text
}

@test "bandwidth: the model's bytes, of another division by --set" {
    bandwidth "Ring(8)_Switch(8)" m.model.yaml --set data=8 --budget 100 --json - >report.json
    # Two all-reduces of 32 MB in each of four layers; gradients and parameters of 25 MB in each, half of one each.
    json_holds '(.communication[] | select(.purpose == "tensor") | .bytes) == [448e6, 0] and
        ([.communication[] | select(.purpose == "data") | .bytes[1]] | add) == 175e6' <report.json
}

@test "bandwidth: experts have equal loads" {
    for loads in "" ", loads: [9, 1, 1, 1]"; do
        cat >experts.model.yaml <<END
model: experts
samples: 16
accelerator: {flops: 1 TFLOPS}
parallelism: {data: 4, expert: 4}
layers:
  - {name: experts, parameters: 4000, activations: 2000, routed: 4000, flops: 1000000, shard: experts$loads}
END
        bandwidth "Ring(4)" experts.model.yaml --budget 100 --json - | jq '.methods' >"${loads:+un}equal.json"
    done
    jq -e '.[0].estimate.seconds > 12e-6' equal.json
    cmp equal.json unequal.json
}

@test "bandwidth: packets take little longer than the closed form, and a search by them finds no worse" {
    bandwidth "Ring(4)_FC(2)" m.model.yaml --set tensor=4 --set data=2 --budget 50 --message 1MiB --exact 6 --workers 1 \
        --json - >report.json
    json_holds '(.methods | length) == 6 and ([.methods[].runs[]] | length > 6) and
        all(.methods[].runs[]; .seconds / .closed_seconds | . > 0.98 and . < 1.5) and
        all(.methods[]; .packets.seconds > .estimate.seconds * 0.98) and
        .methods[5].packets.seconds <= .methods[3].packets.seconds' <report.json
}

@test "bandwidth: prices of a file" {
    printf 'gbyte: {cable: 1, nic: 10, port: 100}\n' >p.yaml
    bandwidth "Ring(4)_Switch(8)" m.model.yaml --budget 100 --prices p.yaml --json - >report.json
    json_holds '.prices == "p.yaml" and all(.methods[]; .dollars / (32 * (.rates[0] / 2 + 111 * .rates[1]) / 1e9) - 1 | fabs < 1e-6)' <report.json
    echo "switch: 5" >p.yaml
    run -3 --separate-stderr bandwidth "Ring(4)_FC(8)" m.model.yaml --budget 100 --prices p.yaml
    [[ "$stderr" == "hxmesh: error: p.yaml: no price of a GB/s in this network: add gbyte: "* ]]
}

@test "bandwidth: errors say what to change" {
    run -2 --separate-stderr bandwidth "Ring(4)_FC(8)" m.model.yaml
    [[ "$stderr" == "hxmesh: error: --budget: "*"--budget 300"* ]]
    run -3 --separate-stderr bandwidth "4x4 Hx2Mesh" m.model.yaml --budget 1
    [[ "$stderr" == "hxmesh: error: 4x4 Hx2Mesh: "*"write Ring(K)"* ]]
    run -3 --separate-stderr bandwidth "Ring(4)_FC(4)" m.model.yaml --budget 1
    [[ "$stderr" == "hxmesh: error: m.model.yaml: trains on 32 ranks, but the network has 16 NPUs "* ]]
    run -3 --separate-stderr bandwidth "Ring(32)" absent.yaml --budget 1
    [[ "$stderr" == "hxmesh: error: absent.yaml"* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
}
