# asan
# info.bats - hxmesh info: the figures of a fabric, as JSON and as a table.

load tools_support

setup() {
    TOP=$PWD
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "info: JSON has the keys of the design" {
    info "4x4 Hx2Mesh" --json - | json_holds '
        has("accelerators") and has("planes") and has("switches") and (.cables | has("dac") and has("aoc")) and
        has("cost_usd") and has("diameter") and has("bisection") and has("alltoall_bound")'
}

@test "info: the paper's clusters" {
    info "16x16 Hx2Mesh" --json - | json_holds '
        .accelerators == 1024 and .switches == 128 and .cables == {dac: 4096, aoc: 4096} and .cost_usd == 5411840 and
        .diameter == 4 and .bisection == 448 and .bisection_share == 0.21875 and (.bisection_exact | not) and .straight_cut == 512 and
        (.alltoall_bound - 4/15 * 1023/1024 | fabs < 1e-8)'
    info "8x8 Hx4Mesh" --json - | json_holds '.cost_usd == 2705920 and .diameter == 8 and (.alltoall_bound - 1023/(4*32*57) | fabs < 1e-8)'
    info "32x32 Hx1Mesh" --json - | json_holds '.cost_usd == 10823680 and .diameter == 4'
    info "64x64 Hx2Mesh" --json - | json_holds '.cost_usd == 224116736 and .accelerators == 16384 and .diameter == 8'
    info "32x32 Hx4Mesh" --json - | json_holds '.cost_usd == 43294720 and .diameter == 8'
}

@test "info: cost is that of four planes for any emulated number" {
    one=$(info "4x4 Hx2Mesh" --json -)
    four=$(info "4x4 Hx2Mesh" --planes 4 --json -)
    [ "$(jq .planes <<<"$one")" = 1 ]
    [ "$(jq .planes <<<"$four")" = 4 ]
    [ "$(jq .cost_planes <<<"$one")" = 4 ]
    [ "$(jq 'del(.planes)' <<<"$one")" = "$(jq 'del(.planes)' <<<"$four")" ]
}

@test "info: prices of a file; the default ones as a file" {
    local file=$TOP/examples/prices/hammingmesh.yaml
    [ "$(info "4x4 Hx2Mesh" --prices "$file" --json - | jq 'del(.prices)')" = "$(info "4x4 Hx2Mesh" --json - | jq .)" ]
    info "4x4 Hx2Mesh" --prices "$file" >text
    grep -q "^cost .*, at prices of $file\$" text
    # 400 Gb/s are two links of 200 side by side: 2 x (815 + 6 x 198 + 5 x 374 + 3 x 150) dollars a host.
    info "fat-tree hosts=128 radix=8 levels=3" --prices "$TOP/examples/prices/topoopt.yaml" --json - |
        json_holds '.cost_usd == .cost_planes * 128 * 2 * 4323 and (.prices | endswith("topoopt.yaml"))'
    echo "switch: [1]" >bad.yaml
    refused 3 "bad.yaml:1:9: switch: a single value expected, found a list" info "4x4 Hx2Mesh" --prices bad.yaml
}

@test "info: radix and taper change the networks" {
    info "4x4 Hx2Mesh" --radix 4 --json - | json_holds '.row_network == {ports: 8, leaves: 4, spines: 2} and .diameter == 8'
    info "6x1 Hx1Mesh" --radix 6 --taper 2 --json - | json_holds '.row_network == {ports: 12, leaves: 3, spines: 1}'
}

@test "info: the table says the same" {
    run info "16x16 Hx2Mesh"
    [ "$status" -eq 0 ]
    [[ "$output" == *"1024 (32 x 32), on 16 x 16 boards of 2 x 2"* ]]
    [[ "$output" == *"5.41 M\$, for 4 planes"* ]]
    [[ "$output" == *"at most 448 links each way a plane, 21.88 %"* ]]
    [[ "$output" == *"512 links between columns or rows"* ]]
    [[ "$output" == *"26.64 % of injection"* ]]
}

@test "info: every JSON object has a schema" {
    info "2x2 Hx2Mesh" --json - | json_holds '.schema == 1 and (keys_unsorted[0] == "schema")'
    check "2x2 Hx2Mesh" --json - | json_holds '.schema == 1 and (keys_unsorted[0] == "schema")'
    info --compare "2x2 Hx2Mesh" "torus 4x4" --json - | json_holds 'all(.schema == 1)'
    "$HXMESH" run "2x2 Hx2Mesh" --clock virtual --json - | json_holds '.schema == 5'
}

@test "info: a single accelerator" {
    info "1x1 Hx1Mesh" --json - | json_holds '.accelerators == 1 and .diameter == 0 and .bisection == 0 and .alltoall_bound == 1'
}

@test "info: --json writes a file" {
    info "2x2 Hx2Mesh" --json "$BATS_TEST_TMPDIR/info.json"
    json_holds '.accelerators == 16' <"$BATS_TEST_TMPDIR/info.json"
}

@test "info: the examples are good" {
    info "$TOP"/examples/lab.hxm.yaml --json - | json_holds '.name == "lab" and .planes == 2'
    info "$TOP"/examples/jobs.hxm.yaml --json - | json_holds '.spec == "4x4 Hx2Mesh"'
}

@test "info: an option goes before the file" {
    info "$TOP"/examples/lab.hxm.yaml --planes 3 --json - | json_holds '.planes == 3'
}

@test "info: --compare puts fabrics beside each other, what they inject and all-to-all costs first" {
    run --separate-stderr info --compare "16x16 Hx2Mesh" "fat-tree hosts=1024" "torus 32x32 board=2x2"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "$(tr -s ' ' <<<"${lines[0]}")" = ' fabric hosts Gb/s all-to-all $/Gb/s M$ planes links' ]
    [[ "${lines[1]}" =~ 16x16\ Hx2Mesh\ +1024\ +6400\ +1705\ +3.1\ +5.41\ +4\ +4$ ]]
    [[ "${lines[2]}" =~ fat-tree\ hosts=1024\ +1024\ +6400\ +6400\ +3.861\ +25.30\ +16\ +1$ ]]
    [ "$(wc -L <<<"$output")" -le 80 ]
    [[ "$output" == *"not shown: link_gbps switches"*"(--columns)" ]]
    # Requested columns that do not fit are below.
    run info --compare "16x16 Hx2Mesh" --columns switches,radix,dac,aoc,diameter,average_distance,bisection,alltoall_bound,cost_per_host,cost_per_global_link
    [ "$(wc -L <<<"$output")" -le 80 ]
    [ "$(tr -s ' ' <<<"$output")" = ' fabric switches radix DAC AoC diameter distance bisection
 16x16 Hx2Mesh 128 64 4096 4096 4 3.82 <=448

 fabric all-to-all % $ a host $ a global link
 16x16 Hx2Mesh 26.64 5285 1240' ]
    refused 2 "--columns: 'switch' is no column (did you mean 'switches'?)" info --compare "1x1 Hx1Mesh" --columns switch
    refused 2 "--columns: says nothing without --compare" info "1x1 Hx1Mesh" --columns switches
}

@test "info: hosts with unequal injection are reported, and planes are bought that equalize them" {
    run --separate-stderr info --compare "4x4 Hx2Mesh" "torus 4x4x4" "fat-tree hosts=64 radix=16" --json like.json
    # The table is printed beside the file.
    [ "${#lines[@]}" -gt 3 ]
    [ "$stderr" = "hxmesh: warning: torus 4x4x4: its hosts inject 9600 Gb/s, those of 4x4 Hx2Mesh 6400: prices and bounds are not alike (--equal-injection buys planes that make them so)" ]
    json_holds 'map(.injection_gbps) == [6400, 9600, 6400]' <like.json
    run --separate-stderr info --compare "4x4 Hx2Mesh" "torus 4x4x4" "fat-tree hosts=64 radix=16" --equal-injection --json like.json
    [ -z "$stderr" ]
    json_holds 'map([.injection_gbps, .cost_planes]) == [[9600, 6], [9600, 4], [9600, 24]] and
        all(.[]; (.alltoall_gbps - .injection_gbps * .alltoall_bound | fabs < 1e-4) and
            (.cost_per_alltoall_gbps - .cost_usd / .hosts / .alltoall_gbps | fabs < 1e-6))' <like.json
    refused 2 "--equal-injection: fabrics with link rates of their own cannot be made equal by up to 64 planes" \
        info --compare "4x4 Hx2Mesh" "FC(4) gbps=13" --equal-injection
}

@test "info: --compare as JSON is a list of the single results" {
    info --compare "4x4 Hx2Mesh" "slim-fly q=5 p=3" --json - >both.json
    [ "$(jq -c '.[0]' both.json)" = "$(info "4x4 Hx2Mesh" --json - | jq -c .)" ]
    [ "$(jq -c '.[1]' both.json)" = "$(info "slim-fly q=5 p=3" --json - | jq -c .)" ]
    json_holds 'length == 2 and .[0].bisection == 32 and .[0].bisection_share == 0.25 and (.[1].bisection_exact | not) and .[1].bisection <= 65 and
        all(.[]; (.cost_per_host - .cost_usd / .hosts | fabs < 1e-4) and
            (.cost_per_global_link - .cost_usd / (.hosts * .host_links * .cost_planes * .alltoall_bound) | fabs < 1e-4))' <both.json
}

@test "info: --edges lists every link of a plane once, and kinds of nodes that links do not show" {
    info "fat-tree hosts=8 radix=4" --edges tree.csv >/dev/null
    [ "$(grep -c , tree.csv)" -eq 16 ]
    grep -qx 'a0.0,leaf0,,,dac' tree.csv
    grep -qx 'leaf0,spine0,,,aoc' tree.csv
    [ "$(info "torus 3x3" --edges - | grep -c '^forward a')" -eq 9 ]
    [ "$(info "torus 3x3" --edges - | grep -c '^a.*,a.*,,,aoc$')" -eq 18 ]
    info "Ring(4)_FC(4) gbps=200,100" --edges - | grep -q ',200,,dac$'
    [ "$(info "4x4 Hx2Mesh" --edges - | grep -c ',trace$')" -eq 64 ]
}

# A list that was read and written reads back the same, also the times of forwarding hosts.
@test "info: --edges includes the settings of hosts that forward" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 'forward a 500 100' 'forward b 0 50' 'forward c' 'host d' 'a,b' 'b,c,200' 'c,a' 'c,s' 's,d' 's,a' >ring.csv
    info "graph ring.csv" --edges first.csv --json - >first.json
    grep -qx 'forward switch0 500 100' first.csv
    grep -qx 'forward switch1 0 50' first.csv
    [ "$(grep -c ^forward first.csv)" -eq 3 ]
    [ "$(grep -c , first.csv)" -eq 6 ]
    info "graph first.csv" --edges second.csv --json - >second.json
    [ "$(sed 1d first.csv)" = "$(sed 1d second.csv)" ]
    # The search for the bound depends on the order of nodes, and ends close to 375 of 800 Gb/s a host.
    local but='del(.name, .spec, .alltoall_bound, .alltoall_gbps, .cost_per_alltoall_gbps, .cost_per_global_link)'
    [ "$(jq -c "$but" first.json)" = "$(jq -c "$but" second.json)" ]
    jq -s . first.json second.json | json_holds 'all(.[]; .alltoall_bound >= 0.46875 and .alltoall_bound < 0.4695)'
}

@test "info: --dot is a graph of every node and link" {
    info "slim-fly q=3 p=1" --dot - >graph.dot
    [ "$(head -n 1 graph.dot)" = 'graph "slim-fly q=3 p=1" {' ]
    [ "$(grep -c 'shape=ellipse' graph.dot)" -eq 18 ]
    [ "$(grep -c 'shape=box' graph.dot)" -eq 18 ]
    [ "$(grep -c -- ' -- ' graph.dot)" -eq $((18 + 18 * 5 / 2)) ]
    [ "$(tail -n 1 graph.dot)" = '}' ]
}

@test "info: incompatible options are refused" {
    refused 2 'mesh 3x3: unexpected argument (quote a fabric that has a space: "4x4 Hx2Mesh")' \
        info "mesh 2x2" "mesh 3x3"
    refused 2 "--compare: is not for --dot and --edges, which write one fabric" info --compare "mesh 2x2" --dot -
    refused 2 "--json: stdout has what --dot writes: name a file for one of them" info "mesh 2x2" --dot - --json -
}

# A name of 63 bytes ends within a character of this path; a file's name may be invalid UTF-8.
@test "info: run and check: a fabric's name is in the JSON, wherever it is cut and in any encoding" {
    local long odd=$'ring\xe9.csv'
    cd "$BATS_TEST_TMPDIR"
    long=$(printf 'ö%.0s' {1..60}).csv
    printf '%s\n' 'a,s' 'b,s' | tee "$long" >"$odd"
    info "graph $long" --json - | json_holds '.spec == "graph " + "'"$long"'" and (.name | startswith("graph ö"))'
    info "graph $odd" --json - | json_holds '.spec == "graph ring?.csv" and .name == .spec'
    check "graph $odd" --json - | json_holds '.spec == "graph ring?.csv"'
    "$HXMESH" run "graph $long" --clock virtual --quiet --json - | json_holds '.fabric.name | startswith("graph ö")'
}

@test "info: a fabric and the graph of its edges agree, also on what a host injects" {
    cd "$BATS_TEST_TMPDIR"
    local spec agree='map([.hosts, .router_diameter, .injection_gbps / .cost_planes, .alltoall_gbps / .cost_planes, .bisection_share] |
        map(. * 1e4 | round)) | unique | length == 1'
    for spec in "1x1 Hx4Mesh" "1x1 H1x2Mesh" "2x1 H2x4Mesh" "mesh 5x6" "mesh 3x4x2" "mesh 4" "torus 3x4x2" "FC(4)_Ring(4)"; do
        info "$spec" --edges edges.csv --json - >own.json
        info "graph edges.csv" --json - >graph.json
        jq -s . own.json graph.json | json_holds "$agree"
    done
    info "mesh 5x6" --json - | json_holds '(.injection_gbps / .cost_planes - 98 / 30 * 400 | fabs < 1e-6) and .host_links == 2'
    info "1x1 Hx4Mesh" --json - | json_holds '(.alltoall_bound - 0.3125 | fabs < 1e-9)'
}

@test "info: says what failed, and of what its figures are" {
    cd "$BATS_TEST_TMPDIR"
    info "4x4 Hx2Mesh fail=board0,0" --edges edges.csv | grep -qx 'failed          1 of 16 boards; all figures are those of the whole fabric'
    info "4x4 Hx2Mesh fail=board0,0" --json - | json_holds '.failed_boards == 1 and .hosts == 64'
    info "graph edges.csv" --json - | json_holds '.hosts == 60'
    info "fat-tree hosts=64 radix=16 fail=leaf0" | grep '^failed ' | grep -qF '8 hosts and 16 links of a plane'
    info "fat-tree hosts=64 radix=16 fail=leaf0/9" | grep -q "^failed  *0 hosts and 1 link of a plane"
    # Seven leaves of eight hosts are left: three of them are less than half.
    info "fat-tree hosts=64 radix=16 fail=leaf0" --edges edges.csv --json - | json_holds '.failed_hosts == 8 and .failed_links == 16 and
        .bisection == 24 and (.bisection_share - 24 / 28 | fabs < 1e-9)'
    info "graph edges.csv" --json - | json_holds '.hosts == 56 and .bisection == 24 and (.bisection_share - 24 / 28 | fabs < 1e-9)'
    [ "$(info "4x4 Hx2Mesh" | grep -c "^failed ")" -eq 0 ]
}
