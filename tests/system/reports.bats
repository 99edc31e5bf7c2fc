# reports.bats - programs that start `hxmesh run`: each refuses a report that lacks a key, by name.

# shellcheck disable=SC2154 # of run
load tools_support

# bin/hxmesh runs the real one, once for the same arguments, and changes its report by a jq filter, $CHANGE.
setup() {
    own_programs interference bandwidth sweep train reproduce topology
    # shellcheck disable=SC2016 # the stand-in's own
    beside 'report=report.$(cksum <<<"$*" | tr -d " ")
        [ -s "$report" ] || "$HXMESH" "$@" >"$report" || exit
        jq "$CHANGE" "$report"'
    MODELS=$BATS_TEST_DIRNAME/../../examples
}

# lacks KEY COMMAND...: without that key of the report the command ends with 1 and one line that names it.
lacks() {
    local key=$1
    shift
    CHANGE="del(.$key)" run --separate-stderr timeout 60 "bin/hxmesh-$1" "${@:2}"
    [[ "$status" -eq 1 && "$stderr" == "hxmesh: error: "*": its report has no '$key'" && "$stderr" != *$'\n'* ]] ||
        { printf '%s without %s: status %s\n%s\n' "$1" "$key" "$status" "$stderr"; return 1; }
}

# no_report WHAT COMMAND...: with such an output the command ends with 1 and that line.
no_report() {
    local what=$1
    shift
    run --separate-stderr timeout 60 "bin/hxmesh-$1" "${@:2}"
    [[ "$status" -eq 1 && "$stderr" == "hxmesh: error: "*": "$what && "$stderr" != *$'\n'* ]] ||
        { printf '%s: status %s\n%s\n' "$1" "$status" "$stderr"; return 1; }
}

INTERFERENCE=(interference "4x2 Hx1Mesh" --job 'a: 2x1 all-reduce 8KiB' --job 'b: 2x1 all-to-all 8KiB' --workers 1)
SWEEP=(sweep "2x1 Hx1Mesh" --clock virtual -t uniform -m 8KiB --workers 1 --quiet)
BANDWIDTH=(bandwidth "Ring(4)_Switch(2)" small.yaml --budget 100 --packets --message 64KiB --workers 1 --quiet)
TOPOLOGY=(topology dlrm.yaml --servers 4 --degree 2 --steps 10 --write out --packets --workers 1 --quiet)
REPRODUCE=(reproduce fig12 --quick --workers 1 --quiet --out out)
ALL=(INTERFERENCE SWEEP BANDWIDTH TRAIN TOPOLOGY REPRODUCE)

models() {
    cat >small.yaml <<'MODEL'
model: small
samples: 16
tokens: 4
accelerator: {flops: 1 TFLOPS, efficiency: 0.5}
parallelism: {tensor: 4, data: 2, pipeline: 1}
layers:
  - {name: block, parameters: 65536, activations: 16384, flops: 20000000, shard: columns}
MODEL
    cp "$MODELS/models/dlrm-topoopt.model.yaml" dlrm.yaml
    TRAIN=(train "4x4 Hx1Mesh" "$MODELS/schedules/pipeline-data.schedule.yaml" --set activation=8KiB --set gradient=8KiB
        --workers 1 --quiet)
}

@test "reports: a key that is missing is named, by every program that reads it" {
    models
    for key in 'jobs' 'jobs[0].seconds' 'jobs[0].job' 'jobs[0].traffic' 'links' 'links[3].from' 'links[0].packets'; do
        lacks "$key" "${INTERFERENCE[@]}"
    done
    for key in complete seconds share_of_injection packet_hops latency_ns.p99 planes; do
        lacks "$key" "${SWEEP[@]}"
    done
    lacks virtual_seconds "${BANDWIDTH[@]}"
    for key in 'schedule[0].computing_seconds.mean' 'schedule[0].purposes' 'schedule[0].ideal_seconds' \
        'link_classes[0].busy' 'links[0].to'; do
        lacks "$key" "${TRAIN[@]}"
    done
    for key in share_of_injection virtual_seconds packet_hops host.packet_hops_per_second receive_share latency_ns.p50; do
        lacks "$key" "${REPRODUCE[@]}"
    done
    for key in 'schedule[0].seconds' 'schedule[0].exposed_seconds.mean' 'schedule[0].purposes[0].purpose'; do
        lacks "$key" "${TOPOLOGY[@]}"
    done
}

@test "reports: whole reports are taken" {
    models
    export CHANGE=.
    for command in "${ALL[@]}"; do
        declare -n words=$command
        "bin/hxmesh-${words[0]}" "${words[@]:1}"
    done
}

@test "reports: an output that is no report, and a run that fails" {
    models
    for command in "${ALL[@]}"; do
        declare -n words=$command
        beside ''
        no_report "ended without a report" "${words[@]}"
        beside 'echo "[1]"'
        no_report "its report is no JSON object" "${words[@]}"
        beside 'echo "{"'
        no_report "its report is no JSON: line 2: *" "${words[@]}"
        beside 'echo "hxmesh: error: it is broken" >&2; exit 1'
        no_report "it is broken" "${words[@]}"
        beside 'kill -KILL $$'
        no_report "ended by signal 9" "${words[@]}"
    done
}

@test "reports: a signal is passed on to the run" {
    models
    # shellcheck disable=SC2016 # the stand-in's own
    beside 'trap "echo ended >end; exit 130" TERM; echo $$ >pid; while :; do sleep 0.05; done'
    for command in "${ALL[@]}"; do
        declare -n words=$command
        rm -f pid end
        "bin/hxmesh-${words[0]}" "${words[@]:1}" >out.txt 2>errors 3>&- &
        until [ -s pid ]; do kill -0 $! && sleep 0.02; done
        kill -TERM $!
        code=0
        wait $! || code=$?
        echo "$command: $code $(cat errors)"
        [ "$code" -eq 130 ]
        [ -s end ]
        [ ! -s errors ]
    done
}
