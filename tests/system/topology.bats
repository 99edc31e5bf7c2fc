# topology.bats - hxmesh topology: figures of circuits and times, what is written and runs, other fabrics, refusals.

# shellcheck disable=SC2016,SC2154 # what stands in quotes is for jq; of run
load emulator_support

setup() {
    fresh_folder
    MODEL=model.yaml
    cat >model.yaml <<'MODEL'
model: small
values: {servers: 12, batch: 16}
samples: batch * servers
accelerator: {flops: 1 TFLOPS}
parallelism: {data: servers}
bytes: {activations: 4, gradients: 4, parameters: 4}
layers:
  - repeat: 2
    layers:
      - {name: dense, parameters: 40000, inputs: 200, activations: 200, flops: 80000}
  - repeat: 4
    layers:
      - {name: table, parameters: 10000000, activations: 640, flops: 0, shard: tables, beside: true}
  - {name: top, parameters: 512000, inputs: 2560, activations: 200, flops: 1024000}
MODEL
    SMALL=(--servers 12 --steps 500 --quiet)
}
teardown() { leave_nothing; }

# refused CODE MESSAGE ARGUMENTS...: hxmesh topology ends so, with one line.
refused() {
    run --separate-stderr hxmesh topology "${@:3}"
    [[ "$status" -eq "$1" && "$stderr" = "hxmesh: error: $2" && -z "$output" ]] || { echo "$status $stderr"; return 1; }
}

@test "topology: figures of circuits, paths, loads and times agree with each other" {
    hxmesh topology "$MODEL" --servers 12 --quiet --strategy own --json "$REPORT" >table
    holds '.servers == 12 and .degree == 4 and .graph.circuits == 24 and .graph.in_rings == 24 and
        [.graph.rings[].stride] == [1, 5] and ([.graph.paths[].pairs] | add) == 12 * 11 and
        ([.graph.paths[] | .circuits * .pairs] | add) / 132 - .graph.mean_path < 1e-9 and
        (.graph.paths | length) == .graph.diameter and .search == null and .packets == null'
    holds '.fabrics[0] | (.iteration_seconds / (.computing_seconds + .exchanges_seconds + .exposed_seconds) - 1 | fabs < 1e-6) and
        .sums_seconds >= .exposed_seconds and .reduced_bytes == 2 * 11 * 4 * (2 * 40000 + 512000) and
        .exchanged_bytes == 2 * 12 * 11 * 4 * 640 * 16 * 4 / 12 and
        [.strategy[] | [.layers, .choice]] == [["dense 1-2", "replicated"], ["table 1-4", "sharded"], ["top", "replicated"]]'
    # Bytes on links are those that servers send, times the tax; each of 24 circuits is two links.
    holds '(.loads.mean_bytes * 48 / (.fabrics[0] | .tax * (.exchanged_bytes + .reduced_bytes)) - 1 | fabs < 1e-6) and
        .loads.tenths == (.loads.tenths | sort) and .loads.most_bytes == .loads.tenths[10] and
        .loads_of_sums.mean_bytes <= .loads.mean_bytes and
        (.loads_of_sums.mean_bytes * 48 / .fabrics[0].reduced_bytes - 1 | fabs < 1e-6)'
    grep -q '^rings  *of stride 1, 5$' table
    grep -q '^layers  *dense 1-2 replicated$' table
}

@test "topology: experts are whole on their servers, so their loads do not count" {
    for loads in "" ", loads: [9, 1, 1, 1]"; do
        cat >experts.model.yaml <<MODEL
model: experts
samples: 16
accelerator: {flops: 1 TFLOPS}
parallelism: {data: 4, expert: 4}
layers:
  - {name: experts, parameters: 4000, activations: 200, routed: 400, flops: 1000000, shard: experts$loads}
MODEL
        hxmesh topology experts.model.yaml --strategy own --quiet --json "$REPORT" >/dev/null
        # Four samples of a server, forward and twice backward.
        holds '.fabrics[0].computing_seconds * 1e6 / (4 * 3) - 1 | fabs < 1e-6'
    done
}

@test "topology: the graph and the schedule run, with the bytes of the report" {
    hxmesh topology "$MODEL" --servers 12 --quiet --strategy placed --write small --packets --workers 1 --json "$REPORT" >table
    holds '.files == {graph: "small.csv", schedule: "small.schedule"} and
        (.packets.iteration_seconds / .fabrics[0].iteration_seconds | . > 0.9 and . < 1.2) and
        .packets.exchanged_bytes == .fabrics[0].exchanged_bytes and
        (.packets.reduced_bytes / .fabrics[0].reduced_bytes | . >= 1 and . < 1.001)'
    hxmesh check "graph small.csv"
    run -0 grep -o '^ *hxmesh run .*' <(sed 's/^run it//' table)
    hxmesh run "graph small.csv" --clock virtual --traffic small.schedule --workers 1 --quiet --json run.json >/dev/null
    jq -e --slurpfile of "$REPORT" '.complete and .schedule[0].seconds == $of[0].packets.iteration_seconds and
        ([.schedule[0].purposes[] | .bytes] | add) == ($of[0].packets | .exchanged_bytes + .reduced_bytes)' run.json
    hxmesh schedule small.schedule --json - | jq -e '.matched and .ranks == 12 and .purposes == ["exchange", "data"]'
}

@test "topology: the same seed finds the same, by any number of threads" {
    hxmesh topology "$MODEL" "${SMALL[@]}" --seed 7 --threads 1 --write a --json a.json >/dev/null
    hxmesh topology "$MODEL" "${SMALL[@]}" --seed 7 --threads 2 --write b --json b.json >/dev/null
    cmp a.csv b.csv
    cmp a.schedule b.schedule
    [ "$(jq -c 'del(.files)' a.json)" = "$(jq -c 'del(.files)' b.json)" ]
    jq -e '.search.rounds >= 1 and .search.all_steps >= 500 and .search.seed == 7' a.json
}

@test "topology: other fabrics beside the circuits, with their costs" {
    for fabric in ideal fat-tree fat-tree-2:1 expander ocs sip-ml "torus 12"; do OTHERS+=(--compare "$fabric"); done
    hxmesh topology "$MODEL" --servers 12 --strategy own "${OTHERS[@]}" --quiet --json "$REPORT" >table
    holds '[.fabrics[].name] == ["circuits", "ideal", "fat-tree", "fat-tree-2:1", "expander", "ocs", "sip-ml", "torus 12"] and
        ([.fabrics[] | .iteration_seconds > .computing_seconds] | all)'
    holds '.fabrics | .[1].tax == 1 and .[1].exchanges_seconds < .[0].exchanges_seconds and .[4].tax > .[0].tax and
        (.[2].usd / .[0].usd - 1 | fabs < 1e-9) and .[2].gbps < 400 and .[3].usd < .[1].usd and .[4].usd < .[0].usd and
        .[5].usd == .[6].usd and .[5].exchanges_seconds == null and .[7].usd > 0 and .[7].gbps == 400'
    grep -q '^  fat-tree: .* Gb/s a server cost as much as the circuits$' table
    hxmesh topology "$MODEL" "${SMALL[@]}" --compare ideal --json searched.json >/dev/null
    jq -e --slurpfile own "$REPORT" '[.fabrics[:2], $own[0].fabrics[:2]] | transpose |
        map(.[0].iteration_seconds <= .[1].iteration_seconds) | all' searched.json
    # Other prices: an interface of 100 Gb/s costs 10 dollars, and half of two panel ports.
    printf 'rates: [{gbps: 100, nic: 10}]\ncircuits: {by: panel, panel: 1}\n' >prices.yaml
    hxmesh topology "$MODEL" --servers 12 --strategy own --prices prices.yaml --json - | jq -e '.fabrics[0].usd == 12 * 4 * 11'
}

@test "topology: a search goes on where circuits of one strategy need too many VCs" {
    refused 3 "4 VCs do not suffice for minimal paths of 300 servers with 3 interfaces each (use a greater --degree)" \
        "$MODEL" --servers 300 --degree 3 --strategy own
    hxmesh topology "$MODEL" --servers 300 --degree 3 --steps 20 --quiet --json - | jq -e '.servers == 300 and .graph.diameter < 20'
}

@test "topology: the graph for Graphviz" {
    hxmesh topology "$MODEL" --servers 12 --quiet --strategy own --dot - >out.dot
    [ "$(grep -c ' -- ' out.dot)" -eq 24 ]
    [ "$(head -n 1 out.dot | cut -d ' ' -f 1)" = graph ]
}

@test "topology: what cannot be is refused in one line" {
    refused 3 "none.yaml: cannot be read: No such file or directory" none.yaml
    refused 2 "--degree: 0 is outside 1 .. 32" "$MODEL" --degree 0
    refused 2 "--degree: 65 is outside 1 .. 32" "$MODEL" --degree 65
    refused 2 "--set: servers is what --servers sets: which of both?" "$MODEL" --servers 12 --set servers=5
    refused 2 "--packets: runs the files of --write PREFIX: give a prefix" "$MODEL" --packets
    run -4 --separate-stderr hxmesh topology "$MODEL" --write none/small
    [ "${#stderr_lines[@]}" -eq 1 ]
    refused 2 "--write: 'a b' is no prefix of files that a graph can be read from: it has blanks, or nothing" "$MODEL" --write "a b"
    refused 2 "--write: '' is no prefix of files that a graph can be read from: it has blanks, or nothing" "$MODEL" --write ""
    refused 3 "12 servers with 1 interface each cannot be joined (use a greater --degree)" "$MODEL" --degree 1 --strategy own
    printf 'ranks: 4\nprogram: []\n' >job.schedule.yaml
    refused 3 "job.schedule.yaml: is no model, and circuits are found for a model (docs/training.md)" job.schedule.yaml
    refused 3 "12 servers with 1 interface each cannot be joined (use a greater --degree)" "$MODEL" --degree 1
    refused 3 "torus 4x4: has 16 hosts, and the job 12 servers" "$MODEL" --strategy own --compare "torus 4x4"
    # Other networks are known before a search begins, which fails here.
    refused 3 "torus 4x4: has 16 hosts, and the job 12 servers" "$MODEL" --degree 1 --compare "torus 4x4"
    refused 3 "--compare expander: 4 VCs do not suffice for minimal paths of 300 servers with 3 interfaces each (use a greater --degree)" \
        "$MODEL" --servers 300 --degree 3 --compare expander
    # Failures may cut hosts off.
    refused 3 "fat-tree hosts=12 radix=4 fail=leaf3: no path joins 'a0,0' and 'a3,0', and all servers exchange bytes" \
        "$MODEL" --strategy own --compare "fat-tree hosts=12 radix=4 fail=leaf3"
    refused 3 "torus 4x3 fail=router2,1/0: no path joins 'a0,0' and 'a1,2', and all servers exchange bytes" \
        "$MODEL" --strategy own --compare "torus 4x3 fail=router2,1/0"
    refused 3 "--compare: 'idel' is no network (did you mean 'ideal'?)" "$MODEL" --degree 1 --compare idel
    refused 2 "hxmesh topology: give --strategy or --seed, not both" "$MODEL" --strategy own --seed 2
    hxmesh topology "$MODEL" --strategy own --compare expander --seed 2 --quiet >/dev/null
    sed -i 's/{data: servers}/{data: 12}/; s/batch \* servers/batch * 12/' model.yaml
    refused 3 "$MODEL: has 12 ranks with servers=16: one a server is needed" "$MODEL" --servers 16
    sed -i 's/^values: .*/values: {batch: 16}/' model.yaml
    refused 3 "$MODEL: has 12 ranks, and no value 'servers' that --servers could set" "$MODEL" --servers 16
}
