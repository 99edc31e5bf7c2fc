#!/usr/bin/env bats
# shellcheck disable=SC2030,SC2031 # what a test sets is meant for that test alone
# dpdk.bats - the DPDK node's command line: without huge pages and privileges, over virtual devices.
# asan

load wait_support
load dpdk_support

@test "two nodes joined by memif move and check every byte" {
    pair --message 1MiB --count 20
    check_pair 20
    jq -e '.drops.malformed == 0 and .drops.overrun == 0' a.json b.json
}

@test "nothing is lost although one credit frame in ten is" {
    pair --message 256KiB --count 20 --credits 64 --lose-credits 10
    check_pair 20
    jq -e '.ports[] | select(.port != "local") | .lost_credits > 0' a.json b.json
}

@test "ports of two lcores pass packets to each other" {
    eal=(--no-huge -m 512 --no-pci --no-shconf --log-level=critical --lcores '0@(0-1),1@(0-1)')
    pair --message 256KiB --count 20 --lcores local=0
    check_pair 20
    jq -e '[.lcores[] | select(.packets > 0)] | length == 2' a.json b.json
}

@test "a node file equals options, and options override it" {
    cat >a.yaml <<'EOF'
fabric: 1x1 H2x1Mesh
node: a0,0/p0
ports:
  - {port: E, device: net_memif0}
  - {port: local, device: endpoint}
idle_wait: 100us
linger: 500ms
traffic: {message: 64KiB, count: 3}
EOF
    node a --no-telemetry "$(memif server)" -- --config a.yaml --count 5 &
    local first=$!
    (node b --no-telemetry "$(memif client)" -- --fabric "1x1 H2x1Mesh" --node a1,0/p0 \
        --ports W=net_memif0,local=endpoint --linger 500ms --count 5)
    wait "$first"
    check_pair 5
}

@test "SIGTERM ends a node, which reports and exits with 130" {
    node a --no-telemetry --vdev=net_null0,size=64 -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 --ports E=net_null0 \
        --statistics 100ms &
    local pid=$!
    eventually has_dropped a 1
    kill -TERM $pid
    local status=0
    wait $pid || status=$?
    [ "$status" -eq 130 ]
    # net_null hands out frames of zeros: each is dropped, and counted.
    jq -e '.interrupted and .drained and .drops.malformed > 0 and .ports[0].rx_packets == 0' a.json
}

# bats test_tags=all
@test "a second signal ends a node that still waits" {
    # Its messages have no destination, so it would drain for two seconds. Signals within 200 ms are one request.
    (timeout --foreground 60 "$HXMESH_DPDK" "${eal[@]}" --no-telemetry --file-prefix a "$(memif server)" -- \
        --fabric "1x1 H2x1Mesh" --node a0,0/p0 --ports E=net_memif0,local=endpoint --idle-wait 100us --statistics 100ms >a.txt 2>a.err 3>&- &
        echo $! >pid
        status=0
        wait $! || status=$?
        echo $status >status) &
    local node=$!
    eventually has_samples a 60 # it waits five seconds for its link, then starts
    local pid
    pid=$(cat pid)
    kill -TERM "$pid"
    eventually has_samples a $(($(samples a) + 4))
    kill -TERM "$pid"
    wait "$node"
    [ "$(cat status)" -eq 130 ]
    grep -q ABORTED a.txt
}

@test "telemetry answers" {
    command -v dpdk-telemetry.py >/dev/null || skip "dpdk-telemetry.py is not installed (package dpdk)"
    eal=(--no-huge -m 512 --no-pci --log-level=critical --lcores '0@(0-1)')
    node tel --vdev=net_null0,size=64 -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 --ports E=net_null0 &
    local pid=$!
    ask() { printf '%s\n' /hxmesh/ports /hxmesh/credits,E /hxmesh/drops /hxmesh/route,1,0 | timeout 120 dpdk-telemetry.py -f tel; }
    is_answered() { ask | grep -q malformed; }
    eventually is_answered
    local answers
    answers=$(ask)
    kill -TERM $pid
    wait $pid || true
    [[ $answers == *'"device": "net_null0"'* ]]
    [[ $answers == *'"room0"'* ]]
    [[ $answers == *'"malformed"'* ]]
    [[ $answers == *'"carrier": 1'* ]]
    [[ $answers == *'"up": 0'* ]]      # net_null sends nothing:
    [[ $answers == *'"local": ""'* ]] # no peer is there
}

@test "impossible settings are refused in one line" {
    refused 2 "which fabric"
    refused 2 "which node" -- --fabric "1x1 H2x1Mesh"
    refused 3 "no such node" -- --fabric "1x1 H2x1Mesh" --node a7,0/p0
    refused 2 "no port has a device" -- --fabric "1x1 H2x1Mesh" --node a0,0/p0
    refused 3 "'X' is no port" -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 --ports X=net_null0
    refused 3 "only the local port" -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 --ports E=endpoint
    refused 3 "two ports" -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 --ports E=net_null0,W=net_null0
    refused 3 "there is no device 'net_null7'" "${eal[@]}" --no-telemetry -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 \
        --ports E=net_null7
    refused 3 "EAL runs no lcore 5" "${eal[@]}" --no-telemetry --vdev=net_null0 -- --fabric "1x1 H2x1Mesh" \
        --node a0,0/p0 --ports E=net_null0 --lcores E=5
    refused 3 "frames are too few" "${eal[@]}" --no-telemetry --vdev=net_null0 -- --fabric "1x1 H2x1Mesh" \
        --node a0,0/p0 --ports E=net_null0 --frames 100
    refused 4 "no memory for" "${eal[@]}" --no-telemetry --vdev=net_null0 -- --fabric "1x1 H2x1Mesh" \
        --node a0,0/p0 --ports E=net_null0 --frames 400000
}

@test "more devices than DPDK supports are refused" {
    local ports=''
    for port in {0..63}; do
        ports+=$port=net_null$port,
    done
    refused 4 "this DPDK was built for" "${eal[@]}" --no-telemetry -- --fabric "32x1 Hx1Mesh" --node row0/p0/leaf0 \
        --ports "$ports"
}

@test "a network's switch has as many ports as DPDK has devices" {
    local ports='' devices=()
    for port in {0..31}; do
        ports+=$port=net_null$port,
        devices+=("--vdev=net_null$port,size=64")
    done
    eal=(--no-huge -m 1024 --no-pci --no-shconf --log-level=critical --lcores '0@(0-1)')
    node tree --no-telemetry "${devices[@]}" -- --fabric "32x1 Hx1Mesh" --node row0/p0/leaf0 --ports "$ports" \
        --credits 32 --queue 32 --statistics 100ms &
    local pid=$!
    eventually has_dropped tree 100000 # many bursts of 32 frames of each
    kill -TERM $pid
    wait $pid || [ $? -eq 130 ]
    jq -e '.drained and (.ports | length == 32) and
        ([.ports[] | select(.carrier and .rx_dropped > 0)] | length == 32)' tree.json
}

# huge_pages FOLDER MIB: mounts huge pages there, or skips. HX_HUGE_PAGES=1 lets it take them from the kernel and return
# them.
huge_pages() {
    local all=/proc/sys/vm/nr_hugepages wanted=$(($2 / 2)) free
    [ "$(id -u)" -eq 0 ] || skip "dpdk-dumpcap needs a node with huge pages, and mounting them is for root"
    free=$(awk '/^HugePages_Free/ { print $2 }' /proc/meminfo)
    if [ "$free" -lt "$wanted" ]; then
        [ "${HX_HUGE_PAGES:-0}" = 1 ] ||
            skip "dpdk-dumpcap needs $wanted free huge pages of 2 MiB; HX_HUGE_PAGES=1 takes them while the test runs"
        huge_pages_before=$(cat $all)
        echo $((huge_pages_before + wanted)) >$all
    fi
    mkdir "$1"
    mount -t hugetlbfs -o pagesize=2M nodev "$1" || skip "huge pages cannot be mounted here"
    huge_pages_at=$1
}

teardown() {
    [ -z "${hogs:-}" ] || kill "${hogs[@]}" || true
    [ -z "${space:-}" ] || kill "$space"
    [ -z "${huge_pages_at:-}" ] || umount "$huge_pages_at"
    [ -z "${huge_pages_before:-}" ] || echo "$huge_pages_before" >/proc/sys/vm/nr_hugepages
}

@test "dpdk-dumpcap captures what a node sends and receives" {
    command -v dpdk-dumpcap >/dev/null || skip "dpdk-dumpcap is not installed (package dpdk-dev)"
    [[ $HXMESH != */asan/* ]] || skip "a second process cannot map the memory of one with the address sanitizer"
    huge_pages "$PWD/huge" 192
    eal=(-m 128 --huge-dir "$PWD/huge" --no-pci --log-level=critical --lcores '0@(0-1)')
    node cap "$(memif server)" -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 --ports E=net_memif0,local=endpoint \
        --credits 64 --queue 64 --duration 6s --linger 500ms &
    local first=$!
    eal=(--no-huge -m 512 --no-pci --no-shconf --log-level=critical --lcores '0@(0-1)')
    node b --no-telemetry "$(memif client)" -- --fabric "1x1 H2x1Mesh" --node a1,0/p0 \
        --ports W=net_memif0,local=endpoint --credits 64 --duration 6s --linger 500ms &
    local second=$!
    eventually has_link cap
    eventually has_link b
    timeout 120 dpdk-dumpcap --file-prefix=cap -i net_memif0 -s 9000 -c 300 -q -w e.pcapng
    kill -TERM $first $second
    wait $first || [ $? -eq 130 ]
    wait $second || [ $? -eq 130 ]
    jq -e '.endpoint.bytes_corrupted == 0' cap.json b.json
    # In both directions, complete, and in hxmesh format: the EtherType, and the sources of both ends.
    local frames
    frames=$(tshark -r e.pcapng -T fields -e eth.src -e eth.type -e frame.len)
    grep -q '^02:00:00:00:00:00.0x88b5.8256$' <<<"$frames"
    grep -q '^02:00:00:01:00:00.0x88b5.8256$' <<<"$frames"
    grep -q '0x88b6.64$' <<<"$frames"
}

@test "errors of a node file have line and column" {
    printf 'fabric: 1x1 H2x1Mesh\nnode: a0,0/p0\nidle_wai: 1us\n' >bad.yaml
    refused 3 "bad.yaml:3:1: unknown key 'idle_wai' (did you mean 'idle_wait'?)" -- --config bad.yaml
    printf 'fabric: 1x1 H2x1Mesh\nnode: a0,0/p0\nmtu: 9\n' >bad.yaml
    refused 3 "bad.yaml:3:6: mtu" -- --config bad.yaml
    # The old name of a key is one, too.
    printf 'fabric: 1x1 H2x1Mesh\nnode: a0,0/p0\nnap: 9\n' >bad.yaml
    refused 3 "bad.yaml:3:6: nap" -- --config bad.yaml
    grep -q "^hxmesh: warning: bad.yaml:3:1: 'nap' is the old name of 'idle_wait'" <<<"$output"
}

@test "a device without jumbo frames is refused, unless short messages are promised" {
    [ -w /dev/net/tun ] && [ "$(id -u)" -eq 0 ] || skip "TAP devices are for root with /dev/net/tun"
    refused 4 "carries an MTU of" "${eal[@]}" --no-telemetry --vdev=net_tap0,iface=hxbats0 -- \
        --fabric "1x1 H2x1Mesh" --node a0,0/p0 --ports E=net_tap0
    refused 2 "messages have at most" "${eal[@]}" --no-telemetry -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 \
        --ports E=net_tap0,local=endpoint --mtu 1500
}

@test "the example of two nodes ends well" {
    run env HXMESH_DPDK="$HXMESH_DPDK" "$BATS_TEST_DIRNAME/../../examples/dpdk/pair.sh"
    [ "$status" -eq 0 ]
    [ "$(grep -c '50 of 50 sent, 50 received, 0 given up' <<<"$output")" -eq 2 ]
    [ "$(grep -c 'every byte checked, 0 corrupted' <<<"$output")" -eq 2 ]
}

# open_ring: a network namespace with a veth pair; nodes started from here on run in it.
open_ring() {
    unshare --net true 2>/dev/null || skip "this user may not have network namespaces (unshare --net)"
    unshare --net sleep 300 3>&- &
    space=$!
    is_apart() { [ "$(readlink "/proc/$space/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
    eventually is_apart
    in_net=(nsenter "--net=/proc/$space/ns/net")
    "${in_net[@]}" ip link add c0a type veth peer name c0b 2>/dev/null || skip "no veth devices"
    for end in c0a c0b; do
        "${in_net[@]}" sh -c "echo 1 >/proc/sys/net/ipv6/conf/$end/disable_ipv6" 2>/dev/null || true
        "${in_net[@]}" ip link set "$end" mtu 9000 up
    done
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${in_net[*]}" "$HXMESH_DPDK" >dpdk-in-net
    chmod +x dpdk-in-net
    HXMESH_DPDK=$PWD/dpdk-in-net
    (umask 077 && printf '000102030405060708090a0b0c0d0e0f\n' >key)
}

# ring DURATION LINGER: the four nodes of a 2x2 board with a key, three cables by memif, the northern one by the veth
# pair.
ring() {
    local duration=$1 linger=$2 ring_nodes=()
    packet() { echo "--vdev=net_af_packet0,iface=$1,framesz=8448,blocksz=135168,framecnt=128"; }
    cable() { echo "--vdev=net_memif$1,role=$2,socket=$PWD/$3.sock,socket-abstract=no,bsize=8512"; }
    of_ring() { # NAME AT PORTS DEVICE...
        node "$1" --no-telemetry "${@:4}" -- --fabric "1x1 H2x2Mesh" --node "$2/p0" --ports "$3,local=endpoint" \
            --credits 64 --key-file key --message 64KiB --rate 0.002 --duration "$duration" --statistics 100ms \
            --linger "$linger" &
        ring_nodes+=($!)
    }
    of_ring n00 a0,0 E=net_af_packet0,S=net_memif1 "$(packet c0a)" "$(cable 1 server w)"
    of_ring n10 a1,0 W=net_af_packet0,S=net_memif1 "$(packet c0b)" "$(cable 1 server e)"
    of_ring n01 a0,1 N=net_memif1,E=net_memif2 "$(cable 1 client w)" "$(cable 2 server s)"
    of_ring n11 a1,1 N=net_memif1,W=net_memif2 "$(cable 1 client e)" "$(cable 2 client s)"
    ring_pids=("${ring_nodes[@]}")
}

# All nodes of the ring ended well, and what they sent to each other came.
end_ring() {
    local status=0
    for pid in "${ring_pids[@]}"; do
        wait "$pid" || status=$?
    done
    [ "$status" -eq 0 ] || { cat n??.err && return 1; }
    jq -es 'all(.[].endpoint; .messages_failed == 0 and .bytes_corrupted == 0) and
        (map(.endpoint.messages_sent) | add) > 0 and
        (map(.endpoint.messages_sent) | add) == (map(.endpoint.messages_received) | add) and
        all(.[].drops; .malformed == 0 and .forged == 0 and .replayed == 0)' n??.json || { cat n??.json && return 1; }
}

has_packets() { [ "$(sed -n 's/.* \([0-9]*\) packets in all.*/\1/p' "$1.err" | tail -n 1)" -ge "$2" ]; }

@test "two nodes with packet sockets start in one namespace, whatever their process numbers" {
    open_ring
    # waits NAME NODE PORT: a shell that becomes a node on interface NAME when it may; NAME.pid has its process number.
    waits() {
        # shellcheck disable=SC2016 # for the other shell
        timeout --foreground 60 sh -c 'echo $$ >$1.pid; until [ -e go ]; do sleep 0.05; done; shift; exec "$@"' - "$1" "$HXMESH_DPDK" \
            "${eal[@]}" --no-telemetry --file-prefix "$1" \
            "--vdev=net_af_packet0,iface=$1,framesz=8352,blocksz=1069056,framecnt=128" -- --fabric "1x1 H2x1Mesh" \
            --node "$2/p0" --ports "$3=net_af_packet0,local=endpoint" --linger 500ms --json "$1.json" \
            --idle-wait 100us 2>"$1.err" 3>&- &
        started+=($!)
    }
    has_number() { [ -s "$1.pid" ]; }
    local started=()
    waits one a0,0 E
    waits two a1,0 W
    eventually has_number one
    eventually has_number two
    # Process ^ interface is the same for both.
    "${in_net[@]}" ip link add one index 20000 type veth peer name two \
        index $((20000 ^ $(cat one.pid) ^ $(cat two.pid)))
    for end in one two; do "${in_net[@]}" ip link set "$end" mtu 9000 up; done
    touch go
    for pid in "${started[@]}"; do wait "$pid"; done
    jq -e '.endpoint.messages_received > 0 and .endpoint.messages_failed == 0' one.json two.json
}

@test "nodes that lose no cable send no notices" {
    open_ring
    ring 500ms 500ms
    end_ring
    # A node that ends first is a lost cable to its neighbours, which may tell of it; but none is lost before traffic
    # ends.
    for node in n??.err; do
        awk '/link down/ { down = 1 } down && / M packets\/s/ && $2 > 0 { exit 1 }' "$node" ||
            { cat "$node" && return 1; }
    done
    jq -es 'any(.[].ports[]; .carrier == false) or all(.[].ports[]; .rx_notices == 0 and .tx_notices == 0)' n??.json
}

# bats test_tags=all
@test "a cut cable fails no message: other nodes learn of it, and traffic goes the other way" {
    open_ring
    ring 6s 3s
    for name in n00 n10 n01 n11; do
        eventually has_packets "$name" 50
    done
    "${in_net[@]}" ip link set c0a down
    end_ring
    jq -e '(.ports[] | select(.port == "E") | .up) == false' n00.json
    jq -e '(.ports[] | select(.port == "W") | .up) == false' n10.json
    # The two that lost no cable heard of it from both sides.
    jq -es 'all(.[].ports[] | select(.port != "local"); .rx_notices > 0 and .tx_notices > 0)' n01.json n11.json
}

# Memory of a memif goes away when its other side does. The node shares its processor, so it is often within a burst
# then.
# bats test_tags=all
@test "a node outlives neighbours that are killed" {
    eal=(--no-huge -m 256 --no-pci --no-shconf --log-level=critical --lcores '0@0')
    for _ in 1 2; do
        timeout 100 taskset -c 0 sh -c 'while :; do :; done' 3>&- &
        hogs+=($!)
    done
    killed() { # TIMES
        node b --no-telemetry "$(memif client)" -- --fabric "1x1 H2x1Mesh" --node a1,0/p0 --ports W=net_memif0,local=endpoint \
            --message 64KiB --duration 60s &
        local neighbour=$!
        times_up() { [ "$(grep -c 'E: link up$' a.err)" -ge "$1" ]; }
        eventually times_up "$1"
        sleep 0.1
        pkill -KILL -P "$neighbour"
        wait "$neighbour" || true
        times_down() { [ "$(grep -c 'E: link down$' a.err)" -ge "$1" ]; }
        eventually times_down "$1"
    }
    node a --no-telemetry "$(memif server)" -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 --ports E=net_memif0,local=endpoint \
        --message 64KiB --duration 60s --idle-wait 0s &
    local first=$!
    for times in $(seq 12); do
        killed "$times"
    done
    kill -INT "$first"
    local status=0
    wait "$first" || status=$?
    [ "$status" -eq 130 ]
}

# bats test_tags=all
@test "the benchmark of the node runs to its end" {
    bench=$(dirname "$HXMESH")/bench/dpdk/bench_dpdk
    [ -x "$bench" ] || skip "no benchmark of this build"
    HXMESH=$HXMESH "$bench" --json figures.json
    jq -e '.dpdk_packets_per_second > 0 and .dpdk_latency_ns.p50 > 0' figures.json
}

# follows TIMES: the node a has followed its file so often.
follows() { [ "$(grep -c 'follows a.yaml as it is now$' a.err)" -ge "$1" ]; }

@test "SIGHUP: a node follows its file without losing a packet or a session" {
    cat >a.yaml <<'EOF'
fabric: 1x1 H2x1Mesh
node: a0,0/p0
ports: [{port: E, device: net_memif0}, {port: local, device: endpoint}]
idle_wait: 100us
linger: 500ms
EOF
    node a --no-telemetry "$(memif server)" -- --config a.yaml --message 64KiB --rate 0.01 --duration 6s &
    local first=$!
    (node b --no-telemetry "$(memif client)" -- --fabric "1x1 H2x1Mesh" --node a1,0/p0 --ports W=net_memif0,local=endpoint \
        --message 64KiB --rate 0.01 --duration 6s --linger 500ms) &
    local second=$!
    eventually has_link a
    sed -i 's/linger: 500ms/linger: 600ms/' a.yaml
    echo 'credit_period: 50us' >>a.yaml
    echo 'statistics: 100ms' >>a.yaml
    kill -HUP "$(pgrep -P "$first")"
    eventually follows 1
    eventually has_samples a 3 # the new time between lines
    # What is wrong, or needs a restart, changes nothing.
    echo 'queue: 256' >>a.yaml
    kill -HUP "$(pgrep -P "$first")"
    eventually grep -q '^hxmesh: error: a.yaml: queue: is not that of the running node: it needs a restart$' a.err
    sed -i 's/^queue: .*/idle_wai: 1us/' a.yaml
    kill -HUP "$(pgrep -P "$first")"
    eventually grep -q "^hxmesh: error: a.yaml:8:1: unknown key 'idle_wai'" a.err
    [ "$(grep -c 'a0,0/p0: stays as it is$' a.err)" -eq 2 ]
    sed -i '/^idle_wai:/d' a.yaml
    kill -HUP "$(pgrep -P "$first")"
    eventually follows 2
    wait "$first"
    wait "$second"
    jq -es '(map(.endpoint.messages_sent) | add) > 0 and
        (map(.endpoint.messages_sent) | add) == (map(.endpoint.messages_received) | add) and
        all(.[].endpoint; .messages_failed == 0 and .bytes_corrupted == 0 and .packets_repeated == 0)' a.json b.json
    # Packets may be unreachable before the other node is there.
    jq -e '.reloads == 2 and (.drops | del(.unreachable) | to_entries | all(.value == 0))' a.json
    awk '/E: link down$/ { down = 1 } /follows a.yaml/ && down { exit 1 }' a.err
}

@test "SIGHUP: jobs of the fabric's file may change" {
    local job='jobs: [{tag: 7, rectangle: [[0, 0], [1, 0]]}]'
    echo 'fabric: 2x1 Hx1Mesh' >f.hxm.yaml
    local port=E
    for name in a b; do
        printf 'fabric: f.hxm.yaml\nnode: a%s,0/p0\nports: [{port: %s, device: net_memif0}, {port: local, device: endpoint}]\n' \
            "$([ $name = a ] && echo 0 || echo 1)" $port >$name.yaml
        port=W
    done
    node a --no-telemetry "$(memif server)" -- --config a.yaml --message 64KiB --rate 0.01 --duration 5s --linger 1s &
    local first=$!
    node b --no-telemetry "$(memif client)" -- --config b.yaml --message 64KiB --rate 0.01 --duration 5s --linger 1s &
    local second=$!
    eventually has_link a
    eventually has_link b
    echo "$job" >>f.hxm.yaml
    kill -HUP "$(pgrep -P "$first")" "$(pgrep -P "$second")"
    wait "$first"
    wait "$second"
    jq -es 'all(.[]; .job == 7 and .reloads == 1 and .endpoint.messages_failed == 0 and .endpoint.bytes_corrupted == 0) and
        (map(.endpoint.messages_sent) | add) == (map(.endpoint.messages_received) | add)' a.json b.json
}
