# dpdk_support.bash - nodes of DPDK over virtual devices, without huge pages and privileges.
# shellcheck disable=SC2034,SC2154 # the tests that load it use these; bats sets output

setup_file() {
    BUILT=$(dirname "$(realpath -m "${HXMESH:-build/hxmesh}")")
    export BUILT HXMESH_DPDK=$BUILT/hxmesh-dpdk
}

setup() {
    [ -x "$HXMESH_DPDK" ] || skip "hxmesh-dpdk is not built: pkg-config finds no libdpdk (package libdpdk-dev)"
    cd "$BATS_TEST_TMPDIR" || return
    export RUNTIME_DIRECTORY=$BATS_TEST_TMPDIR # EAL's files
    eal=(--no-huge -m 512 --no-pci --no-shconf --log-level=critical --lcores '0@(0-1)')
}

# node PREFIX EAL... -- OWN...: becomes a node with report PREFIX.json and its own lines in PREFIX.err.
node() {
    local prefix=$1
    shift
    local devices=()
    while [ "$1" != -- ]; do
        devices+=("$1")
        shift
    done
    shift
    exec timeout --foreground 60 "$HXMESH_DPDK" "${eal[@]}" --file-prefix "$prefix" "${devices[@]}" -- \
        --json "$prefix.json" --idle-wait 100us "$@" 2>"$prefix.err" 3>&-
}

# Lines of the node PREFIX so far, every 100 ms if it runs with `--statistics 100ms`: their number, and dropped frames.
samples() { grep -c ' packets in all' "$1.err"; }
has_samples() { [ "$(samples "$1")" -ge "$2" ]; }
has_dropped() { [ "$(sed -n 's/.* \([0-9]*\) dropped$/\1/p' "$1.err" | tail -n 1)" -ge "$2" ]; }
has_link() { grep -q 'link up$' "$1.err"; }

memif() {
    echo "--vdev=net_memif0,role=$1,socket=$BATS_TEST_TMPDIR/memif.sock,socket-abstract=no,bsize=8448"
}

pair() {
    node a --no-telemetry "$(memif server)" -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 \
        --ports E=net_memif0,local=endpoint --linger 500ms "$@" &
    local first=$!
    (node b --no-telemetry "$(memif client)" -- --fabric "1x1 H2x1Mesh" --node a1,0/p0 \
        --ports W=net_memif0,local=endpoint --linger 500ms "$@")
    wait "$first"
}

check_pair() {
    jq -e --argjson n "$1" '.endpoint.messages_received == $n and .endpoint.messages_failed == 0 and
        .endpoint.bytes_corrupted == 0 and .drained' a.json b.json
}

# refused CODE TEXT ARGUMENT...: ends at once with that code and one line of hxmesh that contains the text.
refused() {
    local code=$1 text=$2
    shift 2
    run timeout 120 "$HXMESH_DPDK" "$@"
    [ "$status" -eq "$code" ]
    [ "$(grep -c '^hxmesh: error: ' <<<"$output")" -eq 1 ]
    grep -q -- "^hxmesh: error: .*$text" <<<"$output"
}
