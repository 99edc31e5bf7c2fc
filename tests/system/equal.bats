# equal.bats - equal injection is the same for every program that compares fabrics.

# shellcheck disable=SC2016 # what stands in quotes is for jq
load tools_support

setup() {
    MODEL=$(realpath "$BATS_TEST_DIRNAME/../../examples/schedules/pipeline-data.schedule.yaml")
    JOB=(--set activation=64KiB --set gradient=128KiB --set "forward=20 us" --place linear)
    SMALL=("${JOB[@]}" --workers 1 --quiet)
    cd "$BATS_TEST_TMPDIR" || return 1
}

# same FILTER: it holds for a fabric after the other of info.json, train.json and sweep.json, as $i, $t and $s.
same() {
    jq -e -n --slurpfile i info.json --slurpfile t train.json --slurpfile s sweep.json \
        "[range(\$i[0] | length) as \$n | \$i[0][\$n] as \$i | \$t[0].fabrics[\$n] as \$t | \$s[0][\$n] as \$s | $1] | all" ||
        { jq -c . info.json train.json sweep.json; return 1; }
}

# compare [--injection GBPS] FABRIC...: by the three programs.
compare() {
    local wish=()
    [[ $1 != --injection ]] || { wish=("$1" "$2"); shift 2; }
    local more=()
    for fabric in "${@:2}"; do more+=(--compare "$fabric"); done
    "$HXMESH-info" --compare --equal-injection "${wish[@]}" "$@" --json info.json >/dev/null
    "$HXMESH-train" "$1" "$MODEL" "${SMALL[@]}" --equal-injection "${wish[@]}" "${more[@]}" --json train.json >train.txt
    "$HXMESH-sweep" "$@" --clock virtual -t "$MODEL" "${JOB[@]}" -w 1 --quiet --equal-injection "${wish[@]}" \
        --columns planes,link_gbps,seconds --json sweep.json >sweep.txt
}

@test "equal injection: info, sweep and train agree on bandwidth, planes, rates, times and costs" {
    for fabrics in '"torus 4x2x2" "fat-tree hosts=16"' '"torus 4x2x2" "4x4 Hx1Mesh" "fat-tree hosts=16"' \
        '--injection 2400 "torus 4x2x2" "fat-tree hosts=16"' '--injection 4800 "4x4 Hx1Mesh" "torus 4x2x2"'; do
        eval "compare $fabrics"
        # All hosts inject alike, also if rates are of whole picoseconds a KiB; a Gb/s costs the same.
        same '($t.injection_gbps / $s.injection_gbps - 1 | fabs) < 1e-3 and $t.planes == $s.planes and
            ($t.link_gbps / $s.link_gbps - 1 | fabs) < 1e-3 and $t.run.iteration_seconds == $s.iteration_seconds and
            ($t.injection_gbps - $t.planes * $t.link_gbps * $i.host_links | fabs) < 1e-6 and
            ($t.cost.usd / $t.injection_gbps / ($i.cost_usd / $i.injection_gbps) - 1 | fabs) < 1e-4'
        jq -e 'map(.injection_gbps) | unique | length == 1' info.json
        jq -e '.fabrics | map(.injection_gbps) | unique | length == 1' train.json
    done
    # A rate that is given is that of all three.
    same '$i.injection_gbps == 4800 and $t.injection_gbps == 4800 and $i.cost_usd == $t.cost.usd and
        $i.cost_planes == $t.planes'
    grep -qE '^  fabric +planes +link +injects ' train.txt
    grep -qE '^  4x4 Hx1Mesh +3 +400 +4800 ' train.txt
    "$HXMESH-info" --compare --equal-injection --injection 2000 "4x4 Hx1Mesh" "torus 4x2x2" >info.txt
    grep -qE '^ *fabric .* planes +link( |$)' info.txt
    grep -qE '^ *4x4 Hx1Mesh .* 1 +500( |$)' info.txt
}

@test "equal injection: a time is that of a run with the same planes and rates" {
    compare "torus 4x2x2" "fat-tree hosts=16"
    "$HXMESH" run "fat-tree hosts=16" --clock virtual -t "$MODEL" "${SMALL[@]}" --planes 4 --link 600 --crossbar 1200 \
        --json run.json >/dev/null
    "$HXMESH-train" "fat-tree hosts=16" "$MODEL" --estimate --planes 4 --link 600 --crossbar 1200 "${JOB[@]}" \
        --json estimate.json >/dev/null
    jq -e -n --slurpfile t train.json --slurpfile r run.json --slurpfile e estimate.json '$t[0].fabrics[1] |
        .run.iteration_seconds == $r[0].schedule[0].seconds and .estimate == $e[0].fabrics[0].estimate and
        .planes == 4 and .link_gbps == 600'
    # 111,792 $ are one and a half times what four planes of 400 Gb/s cost.
    jq -e '.fabrics[1].cost.usd == 1.5 * .fabrics[1].cost.usd_bought / .fabrics[1].cost.planes_bought * 4' train.json
    # Another fabric does not turn the verdict, if the rate is given.
    jq '.fabrics[0:2]' train.json >two.json
    compare --injection 2400 "torus 4x2x2" "fat-tree hosts=16" "4x4 Hx1Mesh"
    jq '.fabrics[0:2]' train.json | cmp - two.json
}

@test "equal injection: a rate alone is refused, and one that links cannot have" {
    refused 2 "--injection: says nothing without --equal-injection" "$HXMESH-sweep" "2x1 Hx1Mesh" --injection 400
    refused 2 "--injection: says nothing without --equal-injection" "$HXMESH-info" --compare "2x1 Hx1Mesh" --injection 400
    refused 2 "--injection: says nothing without --equal-injection" "$HXMESH-train" "4x4 Hx1Mesh" "$MODEL" --injection 400
    refused 2 "--equal-injection: 2x1 Hx1Mesh would need links of 0.25 Gb/s, which is not a whole number up to 10000 (write the rates yourself, a run for each)" \
        "$HXMESH-sweep" "2x1 Hx1Mesh" --clock virtual --equal-injection --injection 1
    refused 2 "--equal-injection: fabrics with link rates of their own cannot be made equal by up to 4 planes" \
        "$HXMESH-sweep" "FC(4) gbps=100" --clock virtual --equal-injection --injection 400
}
