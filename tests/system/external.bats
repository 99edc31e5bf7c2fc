#!/usr/bin/env bats
# shellcheck disable=SC2030,SC2031,SC2153 # what a test sets is meant for that test alone; CODE is the fabric's
# external.bats - live fabrics with a DPDK node as one accelerator, by memif, veth and TAP; deaths of nodes and workers.
# asan

load emulator_support
load external_support

EXAMPLES="$BATS_TEST_DIRNAME/../../examples/dpdk"
MACHINES="$BATS_TEST_DIRNAME/../../examples/machines"

setup() { begin_mixed; }
teardown() { end_mixed; }

# Both sides ended well and agree.
agree() {
    holds "$WHOLE"
    [ "$CODE" -eq 0 ]
    [ "$NODE_CODE" -eq 0 ]
    jq -e --slurpfile fabric "$REPORT" '$fabric[0].external as $e | .endpoint.messages_received == $e.to.messages and
        .endpoint.messages_sent == $e.from.messages and .endpoint.messages_failed == 0 and
        .endpoint.bytes_corrupted == 0 and .drained and ([.ports[].rx_notices] | add) == 0' node.json
}

# mixed KIND: runs mixed.hxm.yaml with its node to the end.
mixed() {
    start mixed.hxm.yaml --workers "${WORKERS:-1}"
    eventually has_cables
    node "$1"
    end_of_node
    finish
}
export -f mixed

# bats test_tags=all
@test "external: the example of a mixed fabric ends well" {
    needs_dpdk
    run timeout 600 "$EXAMPLES/mixed.sh"
    [ "$status" -eq 0 ]
    [[ $output == *'"agree": true'* ]]
}

@test "external: the example of two machines ends well, and leaves nothing" {
    needs_dpdk
    mkdir files
    TMPDIR=$PWD/files run timeout 300 "$MACHINES/live.sh"
    [ "$status" -ne 77 ] || skip "this user may not have network namespaces (unshare --net)"
    [ "$status" -eq 0 ]
    [[ $output == *'"good": true'*"run.pcapng: good"* ]]
    rmdir files
}

@test "external: the example of two machines says in one line that namespaces are not permitted" {
    needs_dpdk
    printf '#!/bin/sh\nexit 1\n' >unshare
    chmod +x unshare
    PATH=$PWD:$PATH run -77 "$MACHINES/live.sh"
    [ "$output" = "live.sh: skipped: this user may not have network namespaces (unshare --net)" ]
}

# bats test_tags=all
@test "external: the example at full load, one credit frame in a hundred lost on both sides" {
    needs_dpdk
    run timeout 600 "$EXAMPLES/mixed.sh" 3 100
    [ "$status" -eq 0 ]
    grep -v '^hxmesh\|link up\|link down' <<<"$output" | jq -e '.agree and
        ([.emulator.external.cables[].credits_lost] | add > 0)'
}

# bats test_tags=all
@test "external: two workers, and buffers smaller than a packet" {
    needs_dpdk
    fabric memif
    WORKERS=2 BSIZE=2048 mixed memif
    agree
    holds '.external.to.messages == 60 and .external.from.messages == 60'
    nothing_left
    [ ! -e hx-e ]
}

# bats test_tags=all
@test "external: frames have checksums although no payload is verified; missing planes of the node" {
    needs_dpdk
    fabric memif
    sed -i '1i planes: 2' mixed.hxm.yaml
    start mixed.hxm.yaml --workers 1 --no-verify
    eventually has_cables
    node memif --no-verify --linger 10s # see below
    end_of_node
    finish
    [ "$CODE" -eq 0 ]
    [ "$NODE_CODE" -eq 0 ]
    holds '.complete and .packets_lost == 0 and .messages == 960 and .drops.checksum == 0'
    jq -e '.endpoint.messages_received == 60 and .endpoint.bytes_corrupted == 0 and .drops.checksum == 0' node.json
}

# bats test_tags=all
@test "external: packets around links that an external accelerator lacks are good in a capture, and traced" {
    needs_dpdk
    fabric memif
    sed -i -e '1i planes: 2' -e 's/256KiB, count: 4/64KiB, count: 2/' mixed.hxm.yaml # larger captures take gigabytes
    start mixed.hxm.yaml --workers 1 --capture run.pcapng
    eventually has_cables
    # The missing plane loses acknowledgements, which are requested again up to twice four seconds later: the node must
    # still be there.
    node memif --linger 10s
    end_of_node
    finish
    [ "$CODE" -eq 0 ]
    holds '.complete and .packets_lost == 0'
    run "$HXMESH-verify" --quiet run.pcapng --json -
    jq --exit-status '.passed and .findings == [] and any(.not_verified[]; contains("bypassed links that are down"))' <<<"$output"
    # Packets to a1,1 were delivered outside of the captures.
    "$HXMESH-trace" --quiet run.pcapng --json - | jq --exit-status '.packets.delivered > 0'
    for what in vc detour; do
        frame=$("$(dirname "$HXMESH")/tests/system/break_capture" run.pcapng broken.pcapng "$what")
        run "$HXMESH-verify" --quiet broken.pcapng
        [ "$status" -eq 1 ]
        # The port in its place may be as good; then it leaves by a port that it did not leave by.
        [[ "${lines[0]}" == "broken.pcapng: BAD: frame $frame: "* ]] ||
            [[ "$what ${lines[0]}" == "detour broken.pcapng: BAD: frame "*": delivery: arrives at "*", but never left "* ]]
    done
}

@test "external: two external neighbours" {
    needs_dpdk
    fabric memif
    printf '  - {at: [1, 0], ports: {E: memif:n2-e, W: memif:n2-w, N: memif:n2-n, S: memif:n2-s}}\n' >>mixed.hxm.yaml
    start mixed.hxm.yaml --workers 2
    eventually has_cables
    node memif
    local first=$NODE
    AT=1,0 INTERFACE=n2 node memif
    end_of_node
    [ "$NODE_CODE" -eq 0 ]
    NODE=$first
    end_of_node
    finish
    [ "$CODE" -eq 0 ]
    [ "$NODE_CODE" -eq 0 ]
    holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and
        .external.to.messages == 112 and .external.from.messages == 112'
    jq -se 'all(.endpoint.messages_received == 60 and .endpoint.messages_sent == 60 and
        .endpoint.bytes_corrupted == 0)' node.json node1,0.json
}

@test "external: by veth" {
    needs_dpdk
    command -v ip >/dev/null || skip "ip is not installed (package iproute2)"
    fabric veth
    in_network 'veths
        INTERFACE=nd
        mixed packet'
    agree
}

# bats test_tags=all
@test "external: by TAP" {
    needs_dpdk
    [ -w /dev/net/tun ] || skip "/dev/net/tun is not there or not ours"
    fabric tap
    in_network 'mixed packet'
    agree
}

# bats test_tags=all
@test "external: a killed and restarted node joins again" {
    needs_dpdk
    fabric memif "wait: 1m" # for a node to start on a busy machine
    start mixed.hxm.yaml --workers 1 --duration 4s
    node memif --duration 4s
    await_links
    kill -KILL "$NODE"
    end_of_node
    [ "$NODE_CODE" -eq 137 ]
    sleep 2.5 # and attempts to reach it fail
    node memif --duration 4s
    end_of_node
    finish
    [ "$CODE" -eq 0 ]
    [ "$NODE_CODE" -eq 0 ]
    holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and
        .messages_failed == 0 and ([.external.cables[].sessions] | min == 2)'
    jq -e '.endpoint.messages_failed == 0 and .endpoint.bytes_corrupted == 0 and
        .endpoint.messages_received > 0 and .endpoint.messages_sent > 0' node.json
}

# bats test_tags=all
@test "external: a killed worker of a bridge costs its cables a session, and not the connection" {
    needs_dpdk
    fabric memif
    start mixed.hxm.yaml --workers 2 --count 60
    node memif --count 60
    await_workers 2
    await_links
    kill -KILL "$(workers_of "$PID" | head -n 1)"
    end_of_node
    finish
    [ "$CODE" -eq 0 ]
    [ "$NODE_CODE" -eq 0 ]
    holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and
        .messages_failed == 0 and .host.worker_deaths == 1 and all(.external.cables[]; .sessions == 2)'
    jq -e '.endpoint.messages_sent == 900 and .endpoint.messages_received >= 900 and
        .endpoint.messages_failed == 0 and .endpoint.bytes_corrupted == 0' node.json
}

# says CODE TEXT: the run ended with this code and one error line.
says() {
    [ "$CODE" -eq "$1" ]
    [ "$(grep -c '^hxmesh: error: ' "$BATS_TEST_TMPDIR/stderr")" -eq 1 ]
    grep -q -- "^hxmesh: error: $2" "$BATS_TEST_TMPDIR/stderr"
    nothing_left
}

@test "external: a missing node ends the run at the configured time" {
    fabric memif "wait: 2s"
    start mixed.hxm.yaml
    finish
    says 4 'a1,1/p0/E: no node came to memif:hx-e within 2 s'
    [ ! -e hx-e ]
    fabric veth "wait: 2s"
    sed -i 's/ports: .*/ports: {E: veth:lo}/' mixed.hxm.yaml
    start mixed.hxm.yaml
    finish
    if [ "$(id -u)" -eq 0 ]; then # returning frames are recognized as its own
        says 4 'a1,1/p0/E: no neighbour came to veth:lo within 2 s: only our own frames came back'
        holds '.external.cables[0].reflected > 0'
    else
        says 4 'veth:lo: cannot be the cable of a1,1/p0/E: no permission'
    fi
}

# bats test_tags=all
@test "external: a dead node ends the run, and so does one that sends too little" {
    needs_dpdk
    fabric memif "wait: 6s"
    start mixed.hxm.yaml --workers 1 --count 100000
    node memif --count 100000
    await_links
    kill -KILL "$NODE"
    end_of_node
    finish
    says 1 'a1,1/p0: its node has been away for 6 s'
    start mixed.hxm.yaml --workers 1 --count 3
    node memif --count 1 --linger 0
    finish
    says 1 'a1,1/p0: 15 of its 45 messages came, and then nothing for 6 s'
    kill -TERM "$NODE"
    end_of_node
}

# bats test_tags=all
@test "external: acknowledgements go around a node that left, off their minimal path" {
    needs_dpdk
    fabric memif "wait: 6s" # a node needs some of it to start on a busy machine
    # On the board a0,1 answers a1,0 by a1,1, which is gone when the second messages begin, after five seconds.
    sed -i 's/^traffic: .*/traffic: {pattern: incast, target: "0,1", message: 1MiB, count: 2}/' mixed.hxm.yaml
    start mixed.hxm.yaml --workers 1 --rate 1e-6
    eventually has_cables
    LINGER=2s node memif --rate 1 # on a busy machine the first messages pause for a second
    end_of_node
    finish
    [ "$CODE" -eq 0 ]
    [ "$NODE_CODE" -eq 0 ]
    holds '.messages_failed == 0 and .messages == 30 and .packets_lost == 0 and .seconds > 5'
    nothing_left
}

@test "external: SIGINT ends a run that waits for its node" {
    fabric memif "wait: 1m"
    start mixed.hxm.yaml
    eventually has_cables
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
    nothing_left
    [ ! -e hx-e ]
}

@test "external: a socket in use, a missing interface, and impossible settings" {
    fabric memif "wait: 20s"
    start mixed.hxm.yaml
    eventually has_cables
    run -4 --separate-stderr hxmesh run mixed.hxm.yaml --name "$NAME-2"
    # shellcheck disable=SC2154 # set by run
    [[ $stderr == "hxmesh: error: memif:hx-e: cannot be the cable of a1,1/p0/E: another process listens there already" ]]
    [ -e hx-e ]
    kill -INT "$PID"
    finish
    fabric veth
    run -4 --separate-stderr hxmesh run mixed.hxm.yaml --name "$NAME"
    [[ $stderr == "hxmesh: error: veth:hx-e: cannot be the cable of a1,1/p0/E: there is no such interface" ]]
    run -3 --separate-stderr hxmesh run mixed.hxm.yaml --clock virtual
    [[ $stderr == *"the virtual clock has to do without external accelerators, and a1,1 is one" ]]
    run -3 --separate-stderr hxmesh run mixed.hxm.yaml --traffic all-reduce
    [[ $stderr == *"all-reduce has to do without external accelerators, and a1,1 is one" ]]
    run -3 --separate-stderr hxmesh send mixed.hxm.yaml --fabric mixed.hxm.yaml
    [[ $stderr == *"hxmesh send has to do without external accelerators, and a1,1 is one" ]]
    nothing_left
}
