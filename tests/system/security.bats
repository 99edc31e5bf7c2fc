#!/usr/bin/env bats
# shellcheck disable=SC2030,SC2031,SC2153 # what a test sets is meant for that test alone; CODE is the fabric's
# security.bats - attacks from inside the machine and from cables, on running fabrics and DPDK nodes (docs/security.md).
# asan

load emulator_support
load external_support

setup() { begin_mixed; }
teardown() {
    rm -f "/dev/shm/hxmesh-$NAME"
    end_mixed
}

# is_private FILE: only its user has access.
is_private() { [ -e "$1" ] && [ -z "$(find "$1" -maxdepth 0 -perm /077)" ]; }

# ---- objects in /dev/shm under a fabric's name ----

# is_refused VERB...: in one line, with the exit code of a refusing environment.
is_refused() {
    run -4 --separate-stderr hxmesh "$@" --name "$NAME"
    # shellcheck disable=SC2154 # set by run
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [[ $stderr == "hxmesh: error: $NAME: "*"is not "*" of this user"* ]]
}

@test "security: a link, a hard link, a FIFO or another user's file under a fabric's name is refused, and stays unchanged" {
    local at="/dev/shm/hxmesh-$NAME"
    echo precious >precious
    ln -s "$PWD/precious" "$at"
    is_refused run "1x1 Hx2Mesh"
    [ -L "$at" ]
    rm "$at"
    mkfifo "$at"
    is_refused run "1x1 Hx2Mesh"
    [ -p "$at" ]
    rm "$at"
    echo precious >"$at"
    ln "$at" "$at.too"
    is_refused run "1x1 Hx2Mesh"
    rm "$at.too"
    [ "$(cat "$at")" = precious ]
    if [ "$(id -u)" -eq 0 ]; then # only root can give a file to another user
        chown nobody "$at"
        is_refused run "1x1 Hx2Mesh"
    fi
    [ "$(cat "$at" precious)" = $'precious\nprecious' ]
}

@test "security: another user can neither read nor write a running fabric" {
    [ "$(id -u)" -eq 0 ] || skip "only root can be another user"
    start "2x1 Hx2Mesh" --workers 1 --duration 1m
    await_traffic
    is_private "/dev/shm/hxmesh-$NAME"
    local as_nobody=(setpriv --reuid nobody --clear-groups --regid nogroup)
    run "${as_nobody[@]}" head -c 1 "/dev/shm/hxmesh-$NAME"
    [ "$status" -ne 0 ]
    run "${as_nobody[@]}" bash -c "echo >>/dev/shm/hxmesh-$NAME"
    [ "$status" -ne 0 ]
    run "${as_nobody[@]}" rm -f "/dev/shm/hxmesh-$NAME"
    [ "$status" -ne 0 ]
    end_long
}

# ---- sockets ----

# inet_sockets PROCESS...: sockets by which other machines could reach one of them.
inet_sockets() {
    local pid inode
    for pid in "$@"; do
        for inode in $(find "/proc/$pid/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null | tr -dc '0-9\n'); do
            awk -v inode="$inode" '$10 == inode { print FILENAME, $2 }' \
                /proc/net/{tcp,tcp6,udp,udp6,udplite,raw,raw6} 2>/dev/null
        done
    done
}

@test "security: nothing listens beyond this machine, and only their user can use the sockets of cables" {
    needs_dpdk
    umask 0
    printf 'fabric: 1x2 H2x1Mesh\ntraffic: {pattern: all-to-all, message: 64KiB, count: 0, duration: 1m}\nexternal:\n' >f.hxm.yaml
    printf '  - {at: [1, 0], ports: {W: "memif:w.sock"}, wait: 1m}\n' >>f.hxm.yaml
    start f.hxm.yaml --workers 1
    has_socket() { [ -e w.sock ]; }
    eventually has_socket
    is_private w.sock
    # It polls, so its processor time is bounded if this test fails.
    (RUNTIME_DIRECTORY=$PWD exec "$HXMESH_DPDK" --no-huge -m 512 --no-pci --no-shconf --log-level=critical \
        --lcores '0@(0-1)' --file-prefix "$NAME" --vdev=net_memif0,role=client,socket="$PWD/w.sock",socket-abstract=no,bsize=8448 \
        --vdev=net_memif1,role=server,socket="$PWD/n.sock",socket-abstract=no,bsize=8448 -- \
        --fabric f.hxm.yaml --node a1,0/p0 --ports W=net_memif0,N=net_memif1,local=endpoint --idle-wait 1ms >node.out 2>&1 3>&-) &
    NODE=$!
    await_traffic
    is_private n.sock
    local telemetry
    telemetry=$(find . -name 'dpdk_telemetry*')
    is_private "$telemetry"
    local processes
    processes="$PID $(workers_of "$PID") $NODE"
    # shellcheck disable=SC2086 # one by one
    [ -z "$(inet_sockets $processes)" ]
    kill -TERM "$NODE" "$PID"
    wait "$NODE" || true
    NODE=
    finish
}

@test "security: a memif with a socket that every user can connect to is refused" {
    needs_dpdk
    run timeout 120 "$HXMESH_DPDK" --no-huge -m 64 --no-pci --no-shconf --no-telemetry --log-level=critical \
        --lcores '0@(0-1)' --vdev=net_memif0,role=server,socket="$PWD/x.sock" -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 \
        --ports E=net_memif0 --credits 32 --queue 32
    [ "$status" -eq 3 ]
    grep -q '^hxmesh: error: port E: net_memif0: every user of this machine could connect' <<<"$output"
}

# ---- frames on cables ----

ATTACK="$(dirname "$HXMESH")/tests/system/attack"

# lost_at SIDE OTHER: number of frames to the interfaces SIDE-* that the kernel lost: in full socket queues, and on the
# path from OTHER-*.
lost_at() {
    local at_sockets on_the_way
    at_sockets=$(ss --packet --memory --oneline --no-header | awk -v at=":$1-" '
        index($0, at) && match($0, /,d[0-9]+\)/) { sum += substr($0, RSTART + 2, RLENGTH - 3) } END { print sum + 0 }')
    # shellcheck disable=SC2016 # for jq
    on_the_way=$(ip -statistics -json link show | jq --arg from "$2-" '
        [.[] | select(.ifname | startswith($from)) | .stats64.tx.dropped] | add')
    echo $((at_sockets + on_the_way))
}

# attacked KIND [NODE ARGUMENTS...]: runs mixed.hxm.yaml and its node by veths under full load for five seconds, and
# puts frames on the cables for three of them, in both directions. The node stays until the fabric has ended: losses in
# full queues are requested again for longer than a node lingers, and a cable without its node would start a session.
attacked() {
    local kind=$1
    shift
    veths
    start mixed.hxm.yaml --workers 1
    INTERFACE=nd LINGER=0 node packet "$@"
    await_links
    timeout --preserve-status 3 "$ATTACK" "$kind" 15000 hx-{e,w,n,s} nd-{e,w,n,s} >sent
    lost_at hx nd >lost
    finish
    kill -TERM "$NODE"
    end_of_node
}
export -f attacked lost_at
export ATTACK

# jobs [MORE KEYS...]: mixed.hxm.yaml with two jobs, as in tests/system/attack.c.
jobs() {
    needs_dpdk
    command -v ip >/dev/null || skip "ip is not installed (package iproute2)"
    fabric veth "$@"
    sed -i 's/^traffic: .*/traffic: {pattern: all-to-all, message: 256KiB, duration: 6s}/' mixed.hxm.yaml
    sed -i '1i jobs: [{tag: 5, rectangle: [[0, 0], [1, 0]]}, {tag: 6, rectangle: [[0, 1], [1, 1]]}]' mixed.hxm.yaml
}

sealed() {
    (umask 077 && od -An -N16 -tx8 /dev/urandom | tr -d ' ' >cable.key)
    jobs "key: cable.key"
}

# Both sides sent and checked all messages during the attack; no session ended, and no endpoint got a foreign frame.
unharmed() {
    [ "$(cat sent)" -ge 5000 ]
    [ "$CODE" -eq 0 ]
    [ "$NODE_CODE" -eq 130 ] # it was ended by a signal
    holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and .messages_failed == 0 and
        .messages > 100 and .drops.checksum + .drops.stale + .drops.unexpected == 0 and
        ([.external.cables[].sessions] | max == 1) and .external.to.messages > 0 and .external.from.messages > 0'
    jq -e '.drained and .endpoint.messages_sent == .endpoint.messages_begun and .endpoint.messages_failed == 0 and .endpoint.bytes_corrupted == 0 and
        .endpoint.messages_received > 0 and .drops.checksum + .drops.stale + .drops.unexpected == 0' node.json
}

# counted FILTER: the fabric, which got half of the injected frames, dropped all of them for this reason, except the
# kernel's losses. The node dropped most of its half: its device sees departures too, and does not report losses of its
# ring.
counted() {
    local half=$(($(cat sent) / 2))
    echo "sent: $(cat sent), lost: $(cat lost)"
    holds ".drops | $1 >= ([\$half * 0.99 - \$lost, 1000] | max)" --argjson half "$half" --argjson lost "$(cat lost)"
    jq -e --argjson half "$half" ".drops | $1 > \$half * 0.9" node.json
}

# bats test_tags=all
@test "security: packets with a forged tag are counted and never delivered, under full traffic" {
    jobs
    in_network 'attacked forged-tag'
    unharmed
    counted '.foreign_job + .overrun' # frames that met a full buffer were not checked
    holds '.drops.foreign_job > .drops.overrun'
}

# bats test_tags=all
@test "security: packets of a foreign job are counted and never delivered, under full traffic" {
    jobs
    in_network 'attacked foreign-job'
    unharmed
    counted '.foreign_job + .overrun'
    holds '.drops.foreign_job > .drops.overrun'
}

# bats test_tags=all
@test "security: malformed frames on each port are counted and never delivered, under full traffic" {
    jobs
    in_network 'attacked malformed'
    unharmed
    counted .malformed
    # shellcheck disable=SC2016 # for jq
    holds '.drops.overrun == 0 and ([.external.cables[].dropped] | min >= ([$each * 0.99 - $lost, 100] | max))' \
        --argjson each $(($(cat sent) / 8)) --argjson lost "$(cat lost)"
}

# bats test_tags=all
@test "security: on cables with a key forged packets and credit frames are counted and do nothing, under full traffic" {
    sealed
    SEALED=1 in_network 'export SEALED; attacked forged --key-file cable.key'
    unharmed
    counted .forged
    holds '.drops.overrun == 0'
}

# bats test_tags=all
@test "security: a session that is replayed into itself and into the next one is counted and does nothing" {
    sealed
    sed -i 's/^    key: .*/&\n    wait: 1m/' mixed.hxm.yaml
    # shellcheck disable=SC2016 # for the inner shell
    SEALED=1 in_network 'export SEALED INTERFACE=nd
        veths
        start mixed.hxm.yaml --workers 1
        node packet --key-file cable.key
        await_links
        timeout --preserve-status 60 "$ATTACK" replay 15000 hx-{e,w,n,s} nd-{e,w,n,s} >sent &
        attack=$!
        sleep 1 # some replayed frames arrive in their own session
        kill -KILL "$NODE"
        end_of_node
        node packet --key-file cable.key
        await_links
        sleep 1 # and some in the next
        kill -TERM "$attack"
        wait "$attack"
        end_of_node
        finish'
    [ "$(cat sent)" -ge 5000 ]
    [ "$CODE" -eq 0 ]
    [ "$NODE_CODE" -eq 0 ]
    # A session with each node, and one that began when the second had left.
    holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .messages_failed == 0 and
        .drops.forged > 1000 and .drops.replayed > 100 and .drops.checksum + .drops.unexpected == 0 and
        ([.external.cables[].sessions] | max == 3)'
    jq -e '.endpoint.messages_failed == 0 and .endpoint.bytes_corrupted == 0 and .drops.forged > 1000' node.json
}

# bats test_tags=all
@test "security: a fabric with another key, or none, is refused, and its operator gets the reason" {
    needs_dpdk
    (umask 077 && od -An -N16 -tx8 /dev/urandom | tr -d ' ' >cable.key && od -An -N16 -tx8 /dev/urandom | tr -d ' ' >other.key)
    fabric memif "key: cable.key" "wait: 5s" # for a node to start under other load
    local arguments
    for arguments in "--key-file other.key" ""; do
        start mixed.hxm.yaml --workers 1
        eventually has_cables
        # shellcheck disable=SC2086 # words
        node memif $arguments
        finish
        kill -KILL "$NODE"
        end_of_node
        [ "$CODE" -eq 4 ]
        grep -q "without an authentication tag by this cable's key" "$BATS_TEST_TMPDIR/stderr"
        holds '.drops.forged > 100 and .messages == 0 and ([.external.cables[].data_in] | add == 0)'
    done
}

@test "security: a key that others can read is refused" {
    needs_dpdk
    echo 000102030405060708090a0b0c0d0e0f >cable.key
    chmod 640 cable.key
    fabric memif "key: cable.key"
    run -3 --separate-stderr hxmesh run mixed.hxm.yaml --name "$NAME"
    [[ $stderr == "hxmesh: error: cable.key: is not for its user alone: its mode is 0640 (chmod 600 cable.key)" ]]
    run timeout 120 "$HXMESH_DPDK" -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 --ports E=net_null0 --key-file cable.key
    [ "$status" -eq 3 ]
    [[ $output == "hxmesh: error: cable.key: is not for its user alone: its mode is 0640 (chmod 600 cable.key)" ]]
}
