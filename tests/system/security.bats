#!/usr/bin/env bats
# shellcheck disable=SC2030,SC2031 # what a test sets is meant for that test alone
# security.bats - attacks from inside the machine and from cables, on running fabrics and DPDK nodes (docs/security.md).
# asan

load emulator_support

setup_file() {
    export HXMESH_DPDK="${HXMESH%/*}/hxmesh-dpdk"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR
    fresh_name
}

teardown() {
    [ -z "${NODE:-}" ] || kill -KILL "$NODE" 2>/dev/null || true
    rm -f "/dev/shm/hxmesh-$NAME"
    end_started
}

needs_dpdk() {
    [ -x "$HXMESH_DPDK" ] || skip "hxmesh-dpdk is not built: pkg-config finds no libdpdk (package libdpdk-dev)"
}

# is_private FILE: nobody but its user may do anything with it.
is_private() { [ -e "$1" ] && [ -z "$(find "$1" -maxdepth 0 -perm /077)" ]; }

# ---- what stands in /dev/shm under a fabric's name ----

# is_refused VERB...: in one line, with the code of an environment that refuses.
is_refused() {
    run -4 --separate-stderr hxmesh "$@" --name "$NAME"
    # shellcheck disable=SC2154 # set by run
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [[ $stderr == "hxmesh: error: $NAME: "*"is not "*" of this user"* ]]
}

@test "security: a link, a hard link, a FIFO or another user's file under a fabric's name is refused, and left as it is" {
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

# inet_sockets PROCESS...: sockets by which anybody beyond this machine could reach one of them.
inet_sockets() {
    local pid inode
    for pid in "$@"; do
        for inode in $(find "/proc/$pid/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null | tr -dc '0-9\n'); do
            awk -v inode="$inode" '$10 == inode { print FILENAME, $2 }' \
                /proc/net/{tcp,tcp6,udp,udp6,udplite,raw,raw6} 2>/dev/null
        done
    done
}

@test "security: nothing listens beyond this machine, and the sockets of cables are their user's alone" {
    needs_dpdk
    umask 0
    printf 'fabric: 1x2 H2x1Mesh\ntraffic: {pattern: all-to-all, message: 64KiB, count: 0, duration: 1m}\nexternal:\n' >f.hxm.yaml
    printf '  - {at: [1, 0], ports: {W: "memif:w.sock"}, wait: 1m}\n' >>f.hxm.yaml
    start f.hxm.yaml --workers 1
    has_socket() { [ -e w.sock ]; }
    eventually has_socket
    is_private w.sock
    # It polls: whatever becomes of this test, its processor time is bounded.
    (ulimit -t 60 && RUNTIME_DIRECTORY=$PWD exec "$HXMESH_DPDK" --no-huge -m 512 --no-pci --no-shconf --log-level=critical \
        --lcores '0@(0-1)' --file-prefix "$NAME" --vdev=net_memif0,role=client,socket="$PWD/w.sock",socket-abstract=no,bsize=8448 \
        --vdev=net_memif1,role=server,socket="$PWD/n.sock",socket-abstract=no,bsize=8448 -- \
        --fabric f.hxm.yaml --node a1,0/p0 --ports W=net_memif0,N=net_memif1,local=endpoint --nap 1ms >node.out 2>&1 3>&-) &
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

@test "security: a memif whose socket every user could connect to is refused" {
    needs_dpdk
    run timeout 20 "$HXMESH_DPDK" --no-huge -m 64 --no-pci --no-shconf --no-telemetry --log-level=critical \
        --lcores '0@(0-1)' --vdev=net_memif0,role=server,socket="$PWD/x.sock" -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 \
        --ports E=net_memif0 --credits 32 --queue 32
    [ "$status" -eq 3 ]
    grep -q '^hxmesh: error: port E: net_memif0: every user of this machine could connect' <<<"$output"
}
