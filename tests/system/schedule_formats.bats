#!/usr/bin/env bats
# hxmesh schedule: traces of Chakra and texts of layers, and the options that say what these files leave open.
load tools_support

schedule() { "$HXMESH-schedule" "$@"; }

# node ID TYPE MORE...: a node of the JSON form of Chakra.
node() {
    printf '{"Id": %s, "NodeType": %s, "is_cpu_op": false%s}' "$1" "$2" "$3"
}

@test "schedule: a trace of Chakra, with groups and a roofline" {
    local dir=$BATS_TEST_TMPDIR r
    for r in 0 1; do
        printf '{"workload_graph": [%s, %s, %s]}' "$(node 1 2 '')" \
            "$(node 2 4 ', "num_ops": 3000000, "tensor_size": 10, "data_deps": [1]')" \
            "$(node 3 7 ', "comm_type": 2, "comm_size": 50, "pg_name": "tp", "data_deps": [2]')" >"$dir/t.$r.json"
    done
    echo '{"tp": [1, 0]}' >"$dir/groups.json"
    run -0 schedule "$dir/t.1.json" --groups "$dir/groups.json" --flops 1e9 --memory-bandwidth 1e9
    grep -q '^operations      4 written, 4 executed, 2 dependencies$' <<<"$output"
    grep -q '^computing       6 ms over all ranks, at most 3 ms (rank 0)$' <<<"$output"
    grep -q '^groups          1 of 2 ranks$' <<<"$output"
    grep -q '^left out        2 operations: 2 memory nodes$' <<<"$output"
    refused 3 "$dir/t.0.json: workload_graph element 2: node 3 (''): group 'tp' is unknown (--groups FILE names its ranks)" \
        schedule "$dir/t.1.json"
}

@test "schedule: layers of ASTRA-sim 1, with what the file leaves open" {
    local file=$BATS_TEST_TMPDIR/mlp.txt
    printf 'HYBRID_DATA_MODEL\n1\nmlp -1 5 ALLGATHER 100 0 NONE 0 0 ALLREDUCE 64 0\n' >"$file"
    refused 3 "$file:1:1: the number of ranks is not given (--ranks N, or all_gpus: N in this line)" \
        schedule "$file"
    refused 3 "$file:1:1: HYBRID_DATA_MODEL needs model_parallel_NPU_group: N behind it (or --tensor-parallel N), the ranks that share a layer" \
        schedule "$file" --ranks 8
    run -0 schedule "$file" --ranks 8 --tensor-parallel 4 --time-unit 1us
    grep -q '^collectives     8 all-gather, 8 all-reduce, one for each member$' <<<"$output"
    grep -q '^groups          6 of 2 to 4 ranks$' <<<"$output"
    grep -q '^computing       40 us over all ranks, at most 5 us (rank 0)$' <<<"$output"
}
