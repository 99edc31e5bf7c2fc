# external_support.bash - shared by command line tests of fabrics with a DPDK node as one accelerator ($HXMESH_DPDK,
# beside $HXMESH). Their files are in $BATS_TEST_TMPDIR.

export HXMESH_DPDK="${HXMESH%/*}/hxmesh-dpdk"

needs_dpdk() {
    [ -x "$HXMESH_DPDK" ] || skip "hxmesh-dpdk is not built: pkg-config finds no libdpdk (package libdpdk-dev)"
}

# setup() and teardown() of each such file.
begin_mixed() {
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR
    fresh_name
}
end_mixed() {
    [ -z "${NODE:-}" ] || kill -KILL "$NODE" 2>/dev/null || true
    end_started
}

# fabric KIND [MORE KEYS...]: writes mixed.hxm.yaml, with an external a1,1.
fabric() {
    local kind=$1 key
    shift
    {
        printf 'fabric: 2x2 Hx2Mesh\ntraffic: {pattern: all-to-all, message: 256KiB, count: 4}\nexternal:\n'
        printf '  - at: [1, 1]\n    ports: {E: %s:hx-e, W: %s:hx-w, N: %s:hx-n, S: %s:hx-s}\n' \
            "$kind" "$kind" "$kind" "$kind"
        for key in "$@"; do
            printf '    %s\n' "$key"
        done
    } >mixed.hxm.yaml
}

memif() { echo "net_memif_$1,role=client,socket=$BATS_TEST_TMPDIR/${INTERFACE:-hx}-$1,socket-abstract=no,bsize=${BSIZE:-8448}"; }
# Its frame size divides its blocks, as the driver requires, and fills an mbuf. `SEALED=1`: of a node with a key.
packet() {
    local ring=framesz=8352,blocksz=1069056,framecnt=128
    [ "${SEALED:-0}" -eq 0 ] || ring=framesz=8448,blocksz=135168,framecnt=128
    echo "net_af_packet_$1,iface=${INTERFACE:-hx}-$1,$ring"
}

# node KIND ARGUMENTS...: starts the node of a1,1 (or $AT) as process $NODE; its report goes to node$AT.json. It leaves
# after LINGER without packets (500ms; 0: on a signal).
node() {
    local kind=$1 port ports=local=endpoint devices=()
    shift
    for port in e w n s; do
        devices+=("--vdev=$("$kind" "$port")")
        ports+=",${port^^}=$("$kind" "$port" | cut -d, -f1)"
    done
    rm -f "node${AT:-}".{json,out}
    # It polls, so its processor time is bounded if the test fails.
    (exec "$HXMESH_DPDK" --no-huge -m 768 --no-pci --no-shconf --no-telemetry --log-level=critical --lcores '0@(0-1)' \
        --file-prefix "$NAME${AT:-}" "${devices[@]}" -- --fabric mixed.hxm.yaml --node "a${AT:-1,1}/p0" --ports "$ports" \
        --idle-wait 100us --json "node${AT:-}.json" --linger "${LINGER:-500ms}" "$@") >"node${AT:-}.out" 2>&1 3>&- &
    NODE=$!
}

# Its links are up, and there is traffic.
await_links() { eventually has_links && await_traffic $(($(delivered) + 100)); }
has_links() { [ "$(grep -c 'link up$' node.out)" -ge 5 ]; }

end_of_node() {
    NODE_CODE=0
    wait "$NODE" || NODE_CODE=$?
    NODE=
}

has_cables() {
    local port
    for port in e w n s; do
        [ -e "hx-$port" ] || grep -q "hx-$port:" /proc/net/dev || return 1
    done
}

# veths: makes the cables of KIND veth: hx-e to hx-s, and nd-e to nd-s for the node at their other ends.
veths() {
    local port
    for port in e w n s; do
        ip link add "hx-$port" type veth peer name "nd-$port"
        ip link set "hx-$port" mtu 9000 up
        ip link set "nd-$port" mtu 9000 up
    done
}

# in_network COMMANDS: runs them in a private network, then takes over $CODE and $NODE_CODE. A test exports its own
# functions for it.
in_network() {
    unshare --net true 2>/dev/null || skip "no network of its own without root: unshare --net"
    export -f node packet veths end_of_node start begin finish hxmesh eventually has_cables has_links
    export -f await_links await_traffic has_delivered delivered
    export NAME REPORT HXMESH HXMESH_DPDK BATS_TEST_TMPDIR
    # shellcheck disable=SC2016 # for the inner shell
    unshare --net bash -ec 'trap "kill -KILL \$NODE 2>/dev/null || true" EXIT; '"$1"'; echo "$CODE $NODE_CODE" >codes'
    # shellcheck disable=SC2034 # for the tests
    read -r CODE NODE_CODE <codes
}
