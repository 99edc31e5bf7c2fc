#!/usr/bin/env bash
# mixed.sh [SECONDS [N]] - runs all-to-all on an emulated 2x2 Hx2Mesh with one accelerator as a DPDK node, joined by
# memif. Every byte is checked. Needs no privileges. SECONDS: duration at full load. N: one credit frame in N is dropped
# on both sides.
#
# HXMESH, HXMESH_DPDK: the programs (build/hxmesh, build/hxmesh-dpdk). Exits with 0 if nothing was lost or corrupted,
# and both sides agree on every message and on every frame of every cable.
set -euo pipefail
cd "$(dirname "$0")"
examples=$PWD

seconds=${1:-0}
lose=${2:-0}
hxmesh=$(realpath -m "${HXMESH:-../../build/hxmesh}")
dpdk=$(realpath -m "${HXMESH_DPDK:-../../build/hxmesh-dpdk}")
folder=$(mktemp -d)
emulator=
cleanup() {
    [ -z "$emulator" ] || kill -TERM "$emulator" 2>/dev/null || true
    rm -rf "$folder"
}
trap cleanup EXIT
export XDG_RUNTIME_DIR=$folder
cp mixed-node.yaml "$folder"
sed "s/lose_credits: 0/lose_credits: $lose/" mixed.hxm.yaml >"$folder/mixed.hxm.yaml"
cd "$folder"

load=()
[ "$seconds" -eq 0 ] || load=(--duration "${seconds}s" --message 1MiB)
devices=()
for port in e w n s; do
    devices+=("--vdev=net_memif_$port,role=client,socket=$folder/$port.sock,socket-abstract=no,bsize=8448")
done

timeout --foreground $((seconds + 90)) "$hxmesh" run mixed.hxm.yaml "${load[@]}" --json emulator.json >/dev/null &
emulator=$!
node_status=0
timeout --foreground $((seconds + 90)) "$dpdk" --no-huge -m 768 --no-pci --no-shconf --no-telemetry \
    --log-level=error --lcores '0@(0-1)' --file-prefix mixed "${devices[@]}" -- --config mixed-node.yaml \
    "${load[@]}" --lose-credits "$lose" --json node.json || node_status=$?
status=0
wait "$emulator" || status=$?
emulator=

jq --slurp --from-file "$examples/agree.jq" emulator.json node.json | tee both.json
if [ "$status" -ne 0 ] || [ "$node_status" -ne 0 ] || ! jq -e .good both.json >/dev/null; then
    echo "mixed.sh: the emulator ended with $status, the node with $node_status, or they disagree" >&2
    exit 1
fi
