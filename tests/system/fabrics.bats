# fabrics.bats - one small fabric of each topology, live and under the virtual clock: everything arrives on each.

load emulator_support

FABRICS=(
    "2x2 Hx2Mesh"
    "fat-tree hosts=30 radix=8"
    "fat-tree hosts=32 radix=8 levels=3"
    "torus 4x4 board=2x2"
    "torus 4x3x2"
    "torus 2x3x2x2"
    "hyperx 2x2x3x2 p=1"
    "mesh 4x4"
    "hyperx 4x4 p=2"
    "dragonfly a=4 p=2 h=2 groups=3"
    "slim-fly q=3"
    "mlfm h=3"
    "oft k=3"
    "bigraph m=2 n=4"
    "Ring(4)_FC(2)_Switch(3)"
    "kautz degree=2 length=3 p=2"
    "graph $(realpath "$BATS_TEST_DIRNAME/../../examples/graph/cube.csv")"
)

setup() { fresh_name; }
teardown() { end_started; }

# vcs_of SPEC: puts the VCs of its routes into $VCS.
vcs_of() {
    [ "$1" = "${VCS_FABRIC:-}" ] || VCS=$(hxmesh info "$1" --json - | jq .vcs)
    VCS_FABRIC=$1
}

# whole SPEC ARGUMENTS...: runs that fabric; everything arrives on its VCs. A failure names the fabric.
whole() {
    echo "$@"
    vcs_of "$1"
    report "$@"
    holds "$ARRIVED and .packets_sent > 0 and .max_vc < $VCS"
}

# bats test_tags=all
@test "fabrics: all-to-all of every topology arrives byte for byte, for any number of workers" {
    for fabric in "${FABRICS[@]}"; do
        for workers in 1 2 4; do
            whole "$fabric" --message 12KiB --workers "$workers"
            holds '.messages == .accelerators * (.accelerators - 1) and .packets_delivered == 2 * .messages and
                .verify'
        done
    done
    nothing_left
}

# bats test_tags=all
@test "fabrics: a virtual run of every topology is the same with any number of workers" {
    for fabric in "${FABRICS[@]}"; do
        for workers in 1 2 4; do
            whole "$fabric" --clock virtual --message 12KiB --share-cores --workers "$workers"
            jq --sort-keys 'del(.host)' "$REPORT" >"$BATS_TEST_TMPDIR/$workers.json"
        done
        cmp "$BATS_TEST_TMPDIR/1.json" "$BATS_TEST_TMPDIR/2.json"
        cmp "$BATS_TEST_TMPDIR/1.json" "$BATS_TEST_TMPDIR/4.json"
    done
}

@test "fabrics: more workers than a fabric has groups do no harm" {
    whole "bigraph m=2 n=4" --workers 12
    whole "bigraph m=2 n=4" --workers 12 --clock virtual --share-cores
}

# bats test_tags=all
@test "fabrics: other traffic arrives in every topology, under both clocks" {
    for fabric in "${FABRICS[@]}"; do
        for clock in wall virtual; do
            whole "$fabric" --clock "$clock" --traffic permutation --count 3
            holds '.messages == 3 * .accelerators'
            whole "$fabric" --clock "$clock" --traffic neighbour
        done
        whole "$fabric" --traffic uniform --duration 50ms
        whole "$fabric" --traffic uniform --duration 20us --clock virtual
    done
}

# bats test_tags=all
@test "fabrics: every topology may have several planes" {
    for fabric in "${FABRICS[@]}"; do
        for clock in wall virtual; do
            whole "$fabric" --clock "$clock" --planes 2 --message 16KiB
            holds '.planes == 2 and
                ([.links[] | select(.packets > 0) | .from | capture("/p(?<plane>[0-9])/").plane] | unique == ["0", "1"])'
        done
    done
}

WAYS=("wall all-reduce --planes 2" "virtual all-reduce" "wall all-reduce --algorithm tree" "virtual broadcast")

# collective FABRIC WAY: sums are checked at every host; partners are those of the logical grid, not of addresses.
collective() {
    # shellcheck disable=SC2086 # words
    whole "$1" --verify --message 128KiB --clock ${2/ / --traffic }
    holds '.collective.done == .accelerators'
}

@test "fabrics: a collective of every topology ends with the right sums, each under one of both clocks" {
    for n in "${!FABRICS[@]}"; do
        collective "${FABRICS[n]}" "${WAYS[n % ${#WAYS[@]}]}"
    done
}

# bats test_tags=all
@test "fabrics: collectives of every topology end with the right sums, under both clocks" {
    for fabric in "${FABRICS[@]}"; do
        for way in "${WAYS[@]}"; do
            collective "$fabric" "$way"
        done
    done
}

# bats test_tags=all
@test "fabrics: a file is sent to every host of every topology" {
    head -c 300000 /dev/urandom >"$BATS_TEST_TMPDIR/file"
    for fabric in "${FABRICS[@]}"; do
        echo "$fabric"
        hxmesh send "$BATS_TEST_TMPDIR/file" --fabric "$fabric" --name "$NAME" --quiet --json - >"$REPORT"
        holds '.packets_lost == 0 and .bytes_corrupted == 0 and .identical == .accelerators - 1 and
            (.receivers | all(.identical))'
    done
}

@test "fabrics: top reads a running fabric of routers" {
    start "slim-fly q=3" --traffic uniform --duration 10s --planes 2
    await_traffic
    hxmesh top "$NAME" --json - --count 1 --interval 100ms >"$BATS_TEST_TMPDIR/top.json"
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
    jq --exit-status '.spec == "slim-fly q=3" and .packets_delivered > 0 and .bytes_corrupted == 0' \
        "$BATS_TEST_TMPDIR/top.json"
    nothing_left
}

# killed ARGUMENTS...: as in kill.bats, a worker of this fabric is killed while it runs.
killed() {
    start "$@" --traffic all-to-all-random --duration 4s --workers 2
    await_workers 2
    await_traffic
    kill -KILL "$(pgrep --parent "$PID" "hxmesh-w$((RANDOM % 2))")"
    finish
}

# bats test_tags=all
@test "fabrics: workers of a fat tree, a Slim Fly and a torus are killed and nothing is lost" {
    for fabric in "fat-tree hosts=60 radix=16" "slim-fly q=3" "torus 4x4x2"; do
        for planes in 1 2; do
            killed "$fabric" --planes "$planes"
            holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and
                .messages_failed == 0 and .host.worker_deaths == 1'
            [ "$CODE" -eq 0 ]
            nothing_left
        done
    done
}

# bats test_tags=all
@test "fabrics: while a killed worker stays down, the rest of a fabric of routers continues, and the run ends" {
    for fabric in "fat-tree hosts=60 radix=16" "slim-fly q=3"; do
        killed "$fabric" --no-restart
        [ "$CODE" -eq 1 ]
        holds '(.interrupted | not) and (.complete | not) and .bytes_corrupted == 0 and .buffers_missing == 0 and
            .host.worker_deaths == 1'
        nothing_left
    done
}

@test "fabrics: a file names any fabric, and the report has its hosts and their links" {
    printf 'fabric: fat-tree hosts=60 radix=16\nname: a tree\nplanes: 2\ntraffic: neighbour\n' >"$BATS_TEST_TMPDIR/tree.hxm.yaml"
    run --separate-stderr hxmesh run "$BATS_TEST_TMPDIR/tree.hxm.yaml" --workers 1
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "${lines[0]}" = "a tree: 60 hosts, 2 planes, 1 worker, wall clock" ]
    [[ "$output" == *" of injection (1 x 400 Gb/s a plane)"* ]]
    [[ "$output" == *"packets sent by each host's switches"* ]]
    [[ "$output" != *accelerator* ]]
    whole "torus 4x4x2" --planes 1
    holds '.settings | has("planes") and (has("radix") or has("taper") | not)'
    run hxmesh run "slim-fly q=3" --traffic all-reduce --name "$NAME"
    [[ "$output" == *"36 of 36 hosts done"* ]]
    whole "slim-fly q=3" --traffic broadcast --target 3,1
    holds '.collective.jobs[0].root == [3, 1]'
}

# refused SAYS ARGUMENTS...: `hxmesh run` refuses them in one line.
refused() {
    local says=$1 line
    shift
    CODE=0
    hxmesh run "$@" >"$BATS_TEST_TMPDIR/stdout" 2>"$BATS_TEST_TMPDIR/stderr" || CODE=$?
    line=$(<"$BATS_TEST_TMPDIR/stderr")
    echo "$CODE: $line"
    [[ "$CODE" == [23] ]]
    [ ! -s "$BATS_TEST_TMPDIR/stdout" ]
    [ "$(wc -l <<<"$line")" -eq 1 ]
    [[ "$line" == "hxmesh: error: "*"$says"* ]]
}

@test "fabrics: settings for a HammingMesh only are refused in one line" {
    local file="$BATS_TEST_TMPDIR/other.hxm.yaml" line
    for line in "failed_boards: [[0, 0]]" "jobs: [{tag: 7, boards: [[0, 0]]}]"; do
        printf 'fabric: fat-tree hosts=64 radix=16\n%s\n' "$line" >"$file"
        refused "boards are a HammingMesh's: a fat-tree has none" "$file"
    done
    refused "4x4 Hx2Mesh fail=a0,0: fail: 'a0,0' is none of its boards, which fail as a whole (board0,0 .. board3,3)" \
        "4x4 Hx2Mesh fail=a0,0"
    for line in "radix: 16" "taper: 2"; do
        printf 'fabric: fat-tree hosts=64 radix=16\n%s\n' "$line" >"$file"
        refused "$file:2:1: ${line%:*} is for a HammingMesh's trees" "$file"
        refused "--${line%:*}: is for a HammingMesh's trees" "fat-tree hosts=64 radix=16" "--${line%:*}" "${line#*: }"
    done
    printf 'fabric: torus 4x4\nexternal: [{at: [0, 0], ports: {E: "tap:x"}}]\n' >"$file"
    refused "$file:2:1: accelerators that run elsewhere are a HammingMesh's: a torus has none" "$file"
    refused "the routers of a slim-fly have neither X nor Y" "slim-fly q=3" --clock virtual --select x-first
    whole "torus 4x4" --clock virtual --select x-first
    refused "--select: d-mod-k is for minimal routing in a whole fat tree" "slim-fly q=3" --clock virtual --select d-mod-k
    refused "--select: d-mod-k is for minimal routing in a whole fat tree" "fat-tree hosts=32 radix=8 fail=leaf0/5" --clock virtual --select d-mod-k
    whole "fat-tree hosts=64 radix=8 levels=3" --clock virtual --select d-mod-k --traffic permutation
    refused "--target: a3,7 is outside the slim-fly q=3 (addr_hi 0 .. 17, addr_lo 0 .. 1)" "slim-fly q=3" --traffic incast --target 3,7
    refused "--target: no host of the fat-tree hosts=60 radix=16 has the address 7,6" \
        "fat-tree hosts=60 radix=16" --traffic incast --target 7,6
}

# selected SPEC HOW: simulated seconds of its all-to-all with packets that select their paths by HOW.
selected() {
    "$HXMESH" run "$1" --clock virtual --message 64KiB --select "$2" --injection-rate 0.4 --quiet --json - | jq .virtual_seconds
}

@test "fabrics: all-to-all uses D-mod-K in an evenly wired tree, tapered or not, and selection in others" {
    local spec uneven="fat-tree hosts=48 radix=8 down=5 up=3"
    for spec in "fat-tree hosts=64 radix=8 levels=3" "fat-tree hosts=48 radix=8 down=6 up=2"; do
        [ "$(selected "$spec" auto)" = "$(selected "$spec" d-mod-k)" ]
        [ "$(selected "$spec" auto)" != "$(selected "$spec" adaptive)" ]
    done
    [ "$(selected "$uneven" auto)" = "$(selected "$uneven" adaptive)" ]
}

# When all hosts acknowledged the same packets at one time, one packet in a hundred took 2.9 us or more, and 1,024 hosts
# fell out of step.
@test "fabrics: in a tapered tree hosts do not all acknowledge the same packets at one time" {
    report "fat-tree hosts=128 radix=32 down=16 up=8" --clock virtual --message 520KiB --count 0 --duration 200us
    holds '.latency_ns.p99 < 2000 and .share_of_bound > 0.99 and .packets_lost == 0'
}

@test "fabrics: a few shifts of a Slim Fly's all-to-all have the rate of all, by phases without shared links" {
    local seed
    for seed in 1 2 3; do
        hxmesh run "slim-fly q=5 p=3" --clock virtual --shifts 6 --message 256KiB --seed "$seed" --quiet --json - >"$REPORT"
        holds '.packets_lost == 0 and .share_of_injection > 0.95'
    done
}

@test "fabrics: boards of a HammingMesh fail alike by the spec, by failures and by failed_boards of a file" {
    local file="$BATS_TEST_TMPDIR/cut.hxm.yaml" first="" spec line lines=("failures: board2,1 board0,3"
        "failed_boards: [[2, 1], [0, 3]]" $'failures: board2,1\nfailed_boards: [[0, 3]]')
    for line in "" "${lines[@]}"; do
        printf 'fabric: 4x4 Hx2Mesh\n%s\n' "$line" >"$file"
        spec=$file
        [ -n "$line" ] || spec="4x4 hx2mesh FAIL = board2,1 + board0,3"
        hxmesh run "$spec" --clock virtual --traffic permutation --message 64KiB --quiet --json - >"$REPORT"
        holds '.fabric.failed_boards == [[2, 1], [0, 3]] and .packets_lost == 0 and .packets_sent > 0'
        [ -n "$first" ] || first=$(jq 'del(.host, .fabric.name, .name)' "$REPORT")
        [ "$(jq 'del(.host, .fabric.name, .name)' "$REPORT")" = "$first" ]
    done
    refused "fail: every board has failed: nothing is left to run" "1x2 Hx2Mesh fail=board0,0+board0,1"
    refused "'board4,0' is none of its boards" "4x4 Hx2Mesh fail=board4,0"
    refused "is not a fabric" "4x4 Hx2Mesh fail="
}

# took FORWARDS BYTES: picoseconds for so many bytes from one end of a line of three to the other; the middle host
# forwards as FORWARDS says ("NS GBPS").
took() {
    printf '%s\n' "forward west" "forward middle $1" "forward east" west,middle middle,east >line.csv
    printf '%s\n' start,source,destination,bytes "0,0,2,$2" >flows.csv
    hxmesh run "graph line.csv" --clock virtual --traffic flows.csv --quiet --json - >"$REPORT"
    jq '.virtual_seconds * 1e12 | round' "$REPORT"
}

@test "fabrics: hosts take time to forward, and forward at a bounded rate, under the virtual clock" {
    cd "$BATS_TEST_TMPDIR"
    local one many
    one=$(took "" 8192)
    many=$(took "" $((64 * 8192)))
    [ "$(took 700 8192)" -eq $((one + 700000)) ]
    [ "$(took 700 $((64 * 8192)))" -eq $((many + 700000)) ]
    # A packet has 32 blocks of 256 B, each 20,480 ps at 100 Gb/s; 64 of them follow each other, and none is
    # acknowledged in between.
    [ "$(took "0 100" $((64 * 8192)))" -eq $((one + 63 * 32 * 20480)) ]
    [ "$(took "700 100" $((64 * 8192)))" -eq $((one + 700000 + 63 * 32 * 20480)) ]
    [ "$(took "0 1000" $((64 * 8192)))" -eq "$many" ]
    # YAML gives the same, and the bound includes it: the middle host forwards two flows at 100 Gb/s, so each host sends
    # 2 x 50 Gb/s; hosts inject 400, 800 and 400 Gb/s, 1,600 / 3 on average.
    printf '%s\n' "nodes:" " - {name: west, is: forward}" " - {name: middle, is: forward, ns: 700, gbps: 100}" \
        " - {name: east, is: forward}" "links:" " - {a: west, b: middle}" " - {a: middle, b: east}" >line.yaml
    hxmesh info "graph line.yaml" --json - | jq --exit-status '.alltoall_bound == 0.1875'
    many=$(took "700 100" $((64 * 8192)))
    hxmesh run "graph line.yaml" --clock virtual --traffic flows.csv --quiet --json - >"$REPORT"
    jq --exit-status --argjson ps "$many" '.virtual_seconds * 1e12 | round == $ps' "$REPORT"
}

@test "fabrics: slow forwarding gives the same results for any number of workers; live reports that it ignores it" {
    cd "$BATS_TEST_TMPDIR"
    local first="" workers
    printf '%s\n' "forward a 100 50" "forward b 500 100" "forward c 0 30" "forward d" "forward e 700" "f,d" "g,b" \
        a,b b,c c,d d,e e,a a,c >slow.csv
    for workers in 1 2 3; do
        hxmesh run "graph slow.csv" --clock virtual --traffic uniform --message 20000 --duration 50us --check-steps \
            --share-cores --workers "$workers" --quiet --json - >"$REPORT"
        holds "$WHOLE and .packets_sent > 100"
        [ -n "$first" ] || first=$(jq 'del(.host)' "$REPORT")
        [ "$(jq 'del(.host)' "$REPORT")" = "$first" ]
    done
    run --separate-stderr hxmesh run "graph slow.csv" --message 20000 --quiet --name "$NAME"
    [ "$status" -eq 0 ]
    [ "$stderr" = "hxmesh: warning: graph slow.csv: what hosts take to forward, ns and gbps of its file, only --clock virtual keeps to" ]
    printf '%s\n' "switch a 100" a,b a,c >slow.csv
    refused "slow.csv:1:10: 'a' does not forward: only 'forward' takes ns and gbps" "graph slow.csv"
    printf '%s\n' "forward a 100 1x" a,b a,c >slow.csv
    refused "slow.csv:1:15: '1x' is not a number (0 .. 1000000)" "graph slow.csv"
}

# What remains of each of these fabrics connects all hosts.
LESS=(
    "fat-tree hosts=32 radix=8 fail=leaf0/5+leaf3+spine1/2"
    "torus 4x4 fail=router1,1+router2,2/1"
    "torus 3x3x3 fail=group5"
    "slim-fly q=3 fail=router0,1+router1,2/3"
    "dragonfly a=4 p=2 h=2 groups=3 fail=group2"
    "graph $(realpath "$BATS_TEST_DIRNAME/../../examples/graph/cube.csv") fail=switch3"
)

# bats test_tags=all
@test "fabrics: traffic avoids failures, live and simulated, and check proves it" {
    for fabric in "${LESS[@]}"; do
        "$HXMESH" check "$fabric" --quiet --json - | jq -e '.acyclic and .unreachable == 0 and .dead_ends == 0 and .minimal' \
            >/dev/null
        whole "$fabric" --message 12KiB --workers 2 --capture "$BATS_TEST_TMPDIR/less.pcapng"
        # shellcheck disable=SC2016 # $failed is jq's
        holds '.fabric.failed_hosts as $failed | .messages == (.accelerators - ($failed | length)) * (.accelerators - 1 - ($failed | length))'
        "$HXMESH" verify "$BATS_TEST_TMPDIR/less.pcapng" --quiet
        for workers in 1 3; do
            whole "$fabric" --message 12KiB --workers "$workers" --clock virtual --share-cores
            jq --sort-keys 'del(.host)' "$REPORT" >"$BATS_TEST_TMPDIR/$workers.json"
        done
        cmp "$BATS_TEST_TMPDIR/1.json" "$BATS_TEST_TMPDIR/3.json"
    done
    nothing_left
}

@test "fabrics: hosts that failures separate get errors, under both clocks" {
    for clock in wall virtual; do
        CODE=0
        "$HXMESH" run "mesh 5 fail=router2" --clock "$clock" --message 12KiB --quiet --json "$BATS_TEST_TMPDIR/cut.json" \
            >/dev/null || CODE=$?
        [ "$CODE" -eq 1 ]
        jq -e '.messages == 4 and .messages_failed == 8' "$BATS_TEST_TMPDIR/cut.json" >/dev/null
    done
    run -1 "$HXMESH" check "mesh 5 fail=router2" --quiet
    [[ "$output" == *"unreachable   8 of 12 pairs"*"what is left of the fabric does not join"* ]]
}

@test "fabrics: jobs of other fabrics share switches, and only their own hosts communicate" {
    local file="$BATS_TEST_TMPDIR/jobs.hxm.yaml"
    printf '%s\n' "fabric: fat-tree hosts=32 radix=8" "failures: leaf0/5 leaf7" \
        "jobs: [{tag: 7, hosts: [[0, 9], [20, 21]]}, {tag: 9, hosts: [[10, 19]]}]" >"$file"
    for clock in wall virtual; do
        whole "$file" --clock "$clock" --message 12KiB
        holds '[.jobs[] | [.job, .accelerators, .messages]] | sort == [[7, 12, 132], [9, 10, 90]]'
        holds '.fabric.jobs[1].hosts | length == 10'
    done
    "$HXMESH" run "$file" --message 12KiB --quiet --capture "$BATS_TEST_TMPDIR/jobs.pcapng" >/dev/null
    "$HXMESH" verify "$BATS_TEST_TMPDIR/jobs.pcapng" --quiet
    "$HXMESH" check "$file" --quiet --json - | jq -e '.unreachable == 0 and .acyclic' >/dev/null
}

# bats test_tags=all
@test "fabrics: --link is the rate of every link without one in the spec" {
    for fabric in "torus 4x4" "torus 3x3x3" "Ring(4)_FC(4)" "slim-fly q=3"; do
        whole "$fabric" --clock virtual --message 256KiB --link 200
        local slow
        slow=$(jq .virtual_seconds "$REPORT")
        whole "$fabric" --clock virtual --message 256KiB --link 400
        holds ".virtual_seconds < 0.6 * $slow and .link_gbps == 400"
    done
    whole "Ring(4)_FC(4) gbps=200" --clock virtual --message 256KiB --link 200
    local slow
    slow=$(jq .virtual_seconds "$REPORT")
    whole "Ring(4)_FC(4) gbps=200" --clock virtual --message 256KiB --link 400
    holds ".virtual_seconds > 0.9 * $slow"
}

@test "fabrics: a network file of ASTRA-sim is a fabric: a message takes latencies and its bytes at the rate" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 'topology: [ Ring, FullyConnected, Switch ]' 'npus_count: [ 2, 8, 4 ]' \
        'bandwidth: [ 200.0, 100.0, 50.0 ]' 'latency: [ 50.0, 500.0, 2000.0 ]' >network.yml
    # to the neighbour in each dimension: ns of all links, and GB/s of 2^30 bytes
    while read -r to ns rate; do
        printf '%s\n' 'ranks: 64' 'program:' "  - {send: 64 MiB, to: $to, ranks: rank == 0}" \
            "  - {receive: 64 MiB, from: 0, ranks: rank == $to}" >one.schedule.yaml
        hxmesh run network.yml --clock virtual --traffic one.schedule.yaml --place linear --quiet --json - |
            jq -e --argjson ns "$ns" --argjson rate "$rate" \
                '.schedule[0].seconds / ($ns * 1e-9 + 64 / 1024 / $rate) - 1 | . > 0 and . < 0.005' >/dev/null
    done <<<$'1 50 200\n2 500 100\n16 4000 50'
    run -3 --separate-stderr hxmesh info <(printf 'topology: [Ring]\nnpus_count: [4]\n')
    [[ $stderr = *": bandwidth is missing in this ASTRA-sim network" ]]
}
