# fast_forward.bats - hxmesh run --fast-forward: near the run of all packets, what it leaves out, audits, refusals.

# shellcheck disable=SC2030,SC2031,SC2154 # bats runs each test in a shell of its own, and sets stderr and lines
load emulator_support

setup() {
    fresh_folder
    cat >groups.schedule.yaml <<'FILE'
ranks: 16
program:
  - repeat: 20
    do:
      - {compute: 50 us}
      - {collective: all-reduce, bytes: 1 MiB, group: {size: 4}, algorithm: ring, purpose: tensor}
      - {compute: 20 us}
      - {collective: all-reduce, bytes: 4 MiB, group: {size: 4, stride: 4}, algorithm: ring, purpose: data}
FILE
    cat >beside.schedule.yaml <<'FILE'
ranks: 16
program:
  - repeat: 24
    do:
      - {compute: 20 us}
      - {collective: all-gather, bytes: 256 KiB, group: {size: 4}, algorithm: ring, purpose: tensor}
      - {compute: 100 us}
      - {collective: reduce-scatter, bytes: 4 MiB, group: {size: 4}, purpose: tensor}
      - {collective: reduce-scatter, bytes: 1 MiB, group: {size: 4, stride: 4}, algorithm: ring, purpose: data, after: []}
      - together:
          - {send: 64 KiB, to: (rank + 4) % ranks, purpose: pipeline}
          - {receive: 64 KiB, from: (rank - 4) % ranks, purpose: pipeline}
FILE
}
teardown() { leave_nothing; }

# simulated NAME OPTIONS...: the report of a run of packets, into NAME.json.
simulated() {
    hxmesh run "2x2 Hx2Mesh" --clock virtual --quiet --json "$1.json" "${@:2}" >/dev/null
}

# refused TEXT OPTIONS...: one line, exit code 2.
refused() {
    run -2 --separate-stderr hxmesh run "2x2 Hx2Mesh" --clock virtual --fast-forward 1% --quiet "${@:2}"
    [[ ${#stderr_lines[@]} -eq 1 && $stderr = *"$1"* ]] || { echo "$stderr"; return 1; }
}

@test "fast-forward: collectives that come again take what they took, and count as left out" {
    simulated full -t groups.schedule.yaml
    simulated fast -t groups.schedule.yaml --fast-forward 1%
    jq -n '{full: $a[0], fast: $b[0]}' --slurpfile a full.json --slurpfile b fast.json >"$REPORT"
    holds '(.full.schedule[0].seconds / .fast.schedule[0].seconds - 1 | fabs < 0.001) and
        (.fast.fast_forward | .collectives == 160 and .held >= 130 and .cut == 0 and .simulated_share < 0.2) and
        .fast.messages + .fast.fast_forward.messages == .full.messages and
        .fast.packets_sent + .fast.fast_forward.packets == .full.packets_sent and
        .fast.bytes_delivered + .fast.fast_forward.bytes == .full.bytes_delivered and
        (.fast.packets_sent / (.fast.packets_sent + .fast.fast_forward.packets) - .fast.fast_forward.simulated_share |
            fabs < 1e-6) and
        .fast.packet_hops < 0.25 * .full.packet_hops and
        ([.full.schedule[0].purposes[].bytes] == [.fast.schedule[0].purposes[].bytes]) and
        (.full | has("fast_forward") | not)'
    jq -e '.complete and .packets_lost == 0' fast.json
}

@test "fast-forward: jobs side by side, each with its own time; beside other traffic it is refused" {
    jobs=(--job "a: 4 groups.schedule.yaml" --job "b: 4 groups.schedule.yaml start=1ms")
    for forward in 0 1%; do
        hxmesh run "4x2 Hx2Mesh" --clock virtual --quiet "${jobs[@]}" --fast-forward $forward --json - |
            jq '[.virtual_seconds, .jobs[].seconds, .schedule[].seconds, .fast_forward.held // 0]' >$forward.json
    done
    jq -e --slurpfile full 0.json '.[-1] > 200 and
        ([.[:-1], $full[0][:-1]] | transpose | length == 5 and all(.[]; .[0] / .[1] - 1 | fabs < 0.001))' 1%.json
    run -2 --separate-stderr hxmesh run "4x2 Hx2Mesh" --clock virtual --fast-forward 1% --job "a: 4 groups.schedule.yaml" \
        --job "b: 4 all-reduce"
    [[ $stderr = *"--fast-forward: is for schedules and models alone (--traffic FILE)" ]]
}

@test "fast-forward: of replicas that do the same at once few are simulated, whatever board they are on" {
    printf '%s\n' 'ranks: 64' 'program:' '  - {compute: 5 us}' \
        '  - {collective: all-reduce, bytes: 4 MiB, group: {size: 4}, algorithm: ring, purpose: tensor}' >once.schedule.yaml
    for forward in 0 1%; do
        hxmesh run "4x4 Hx2Mesh" --clock virtual --quiet --json $forward.json -t once.schedule.yaml --place 2x2x4x4 \
            --fast-forward $forward >/dev/null
    done
    jq -e '.fast_forward | .collectives == 16 and .held == 12 and .cut == 0' 1%.json # two in each of two orientations are not
    jq -e --slurpfile full 0.json '.schedule[0].seconds / $full[0].schedule[0].seconds - 1 | fabs < 1e-3' 1%.json
    jq -e --slurpfile full 0.json '([.links[].packets] | add) / ([$full[0].links[].packets] | add) - 1 | fabs < 0.01' 1%.json
}

@test "fast-forward: what shares links from its first step on does not end by what was alone" {
    printf '%s\n' 'ranks: 150' 'program:' '  - repeat: 25' '    do:' '      - {compute: 400 us}' \
        '      - {collective: all-gather, bytes: 4 MiB, group: {size: 2}, purpose: tensor}' >pairs.schedule.yaml
    for forward in 0 1%; do # some pairs have a link between routers in common, and take twice as long as others
        hxmesh run "slim-fly q=5" --clock virtual --quiet --json $forward.json -t pairs.schedule.yaml \
            --fast-forward $forward >/dev/null
    done
    jq -e '.fast_forward | .held > 0.9 * .collectives' 1%.json
    jq -e --slurpfile full 0.json '.schedule[0].seconds / $full[0].schedule[0].seconds - 1 | fabs < 0.001' 1%.json
}

@test "fast-forward: the number of workers does not change it" {
    for workers in 1 2; do
        hxmesh run "4x4 Hx1Mesh" --clock virtual --quiet --json $workers.json -t beside.schedule.yaml --fast-forward 1% \
            --workers $workers >/dev/null
        jq 'del(.host)' $workers.json >$workers
    done
    cmp 1 2
    jq -e '.fast_forward | .held > 0 and .cut > 0' 1.json
}

# near FIRST COUNT [wide]: random jobs of these seeds are near their runs.
near() {
    run -0 python3 "$BATS_TEST_DIRNAME/fast_forward_random.py" "$HXMESH" "$@"
    [[ ${lines[1]} = "left out "*" % of the packets; worst: "* ]]
}

@test "fast-forward: random jobs are near their runs" {
    near 1 8
    near 1 4 wide
}

# bats test_tags=all
@test "fast-forward: a hundred random jobs are near their runs" { near 1 100; }

# bats test_tags=all
@test "fast-forward: a hundred random jobs on more fabrics, some side by side, are near their runs" { near 1 100 wide; }

# bats test_tags=all
@test "fast-forward: GPT-13B on 128 accelerators, within a thousandth of the run of all packets" {
    model=$BATS_TEST_DIRNAME/../../examples/models/gpt-13b.model.yaml
    hxmesh train "8x4 Hx2Mesh" "$model" --algorithm ring --quiet --json full.json >/dev/null
    hxmesh train "8x4 Hx2Mesh" "$model" --algorithm ring --quiet --json fast.json --fast-forward 1% >/dev/null
    jq -n '$a[0].fabrics[0] as $full | $b[0].fabrics[0] as $fast |
        [[$full.run.iteration_seconds, $fast.run.iteration_seconds],
         ([$full.purposes, $fast.purposes] | transpose[] | map(.exposed_seconds))] as $pairs |
        all($pairs[]; .[0] - .[1] | fabs < 0.001 * $full.run.iteration_seconds)' \
        --slurpfile a full.json --slurpfile b fast.json | grep -qx true
}

@test "fast-forward: an audit compares, and a run that failed it ends with 1" {
    simulated audited -t groups.schedule.yaml --fast-forward 1% --fast-forward-audit 12
    jq -e '.fast_forward | .audits == 12 and .worst_audit < 0.01' audited.json
    # an exchange by pairs in which contention decides the order of packets
    printf '%s\n' 'ranks: 24' 'program:' '  - repeat: 25' '    do:' '      - {compute: 20 us}' \
        '      - {collective: all-gather, bytes: 1 MiB, group: {size: 8}}' '      - {compute: 20 us}' \
        '      - {collective: all-reduce, bytes: 256 KiB, group: {size: 8}, algorithm: ring}' \
        '      - {compute: "400 us + 1 us * (rank % 23) / 24"}' \
        '      - {collective: all-to-all, bytes: 4 MiB, group: {size: 8}, algorithm: pairwise}' >chance.schedule.yaml
    run -1 hxmesh run "2x3 Hx2Mesh" --taper 2 --clock virtual -t chance.schedule.yaml --fast-forward 1% \
        --fast-forward-audit 30
    [[ $output = *" compared: ends differ by up to "*", more than is allowed"* ]]
}

@test "fast-forward: an audit of what is never held says that it compared nothing" {
    printf '%s\n' 'ranks: 4' 'program:' '  - {collective: all-reduce, bytes: 4 MiB}' >once.schedule.yaml
    run -0 hxmesh run "1x1 Hx2Mesh" --clock virtual -t once.schedule.yaml --fast-forward 1% --fast-forward-audit 3
    [[ $output = *"none compared: none might have been held"* ]]
}

@test "fast-forward: interference of jobs, near that of all packets" {
    for forward in 0 1%; do
        hxmesh interference "4x2 Hx2Mesh" --job "a: 4 groups.schedule.yaml" --job "b: 4 groups.schedule.yaml start=1ms" \
            --fast-forward $forward --quiet --json $forward.json
    done
    jq -e --slurpfile full 0.json '[[.jobs[].alone_seconds, .jobs[].together_seconds],
        ($full[0] | [.jobs[].alone_seconds, .jobs[].together_seconds])] | transpose |
        length == 4 and all(.[]; .[0] > 0 and (.[0] / .[1] - 1 | fabs < 0.001))' 1%.json
}

@test "fast-forward: what it cannot be with is refused in one line" {
    refused "is not for a run with --verify: it checks each byte" -t groups.schedule.yaml --verify
    refused "is not for a run with --capture: it would lack frames" -t groups.schedule.yaml --capture x.pcapng
    refused "is not for a run with faults: they have their times" -t groups.schedule.yaml \
        --fault "a0,0/E down at 1ms"
    refused "is not for a run with --repeats cut" -t groups.schedule.yaml --repeats cut
    refused "is for schedules and models alone (--traffic FILE)" -t all-reduce
    run -2 --separate-stderr hxmesh run "2x2 Hx2Mesh" --clock virtual -t groups.schedule.yaml --fast-forward-audit 3
    [[ $stderr = *"--fast-forward-audit: needs --fast-forward, as 1%" ]]
    run -2 --separate-stderr hxmesh run "2x2 Hx2Mesh" --clock virtual -t groups.schedule.yaml --fast-forward 60%
    [[ $stderr = *"60% is outside 0 .. 0.5"* ]]
    run -2 --separate-stderr hxmesh run "2x2 Hx2Mesh" -t groups.schedule.yaml --fast-forward 1%
    [[ $stderr = *"--fast-forward: "*"--clock virtual"* ]]
}
