#!/usr/bin/env bash
# live.sh - runs a live fabric over two machines: two network namespaces, joined by four veth pairs. The left one
# emulates a 2x2 Hx2Mesh but for one accelerator, which is a DPDK node on the right one. Each cable between them has a
# packet socket at both ends. All-to-all, every byte checked, captured, and the capture verified.
#
# HXMESH, HXMESH_DPDK: the programs (build/hxmesh, build/hxmesh-dpdk). Exits with 0 if nothing was lost or corrupted,
# both sides agree on every message and on every frame of every cable, and the capture has no finding. Exits with 77 if
# this user may not have network namespaces, or hxmesh-dpdk is not built. Namespaces and files end with this script.
set -euo pipefail

examples=$(realpath "$(dirname "$0")")
# shellcheck source=examples/machines/two_machines.bash
. "$examples/two_machines.bash"
hxmesh=$(realpath -m "${HXMESH:-$examples/../../build/hxmesh}")
dpdk=$(realpath -m "${HXMESH_DPDK:-$examples/../../build/hxmesh-dpdk}")
[ -x "$dpdk" ] || {
    echo "live.sh: skipped: hxmesh-dpdk is not built (package libdpdk-dev)" >&2
    exit 77
}
enter_machines "$0"
open_machines
export XDG_RUNTIME_DIR=$folder
cp "$examples"/live*.yaml "$folder"
cd "$folder"

devices=()
for port in e w n s; do
    cable "cable-$port"
    devices+=("--vdev=net_af_packet_$port,iface=cable-$port,framesz=8352,blocksz=1069056,framecnt=128")
done

timeout --foreground 300 "$hxmesh" run live.hxm.yaml --name "machines-$$" --verify --capture run.pcapng --quiet \
    --json left.json >/dev/null &
emulator=$!
node_status=0
timeout --foreground 300 "${in_right[@]}" "$dpdk" --no-huge -m 768 --no-pci --no-shconf --no-telemetry \
    --log-level=error --lcores '0@(0-1)' --file-prefix "machines-$$" "${devices[@]}" -- --config live-node.yaml \
    --json right.json || node_status=$?
status=0
wait "$emulator" || status=$?
jq --slurp --from-file "$examples/../dpdk/agree.jq" left.json right.json | tee both.json || true
if [ "$status" -ne 0 ] || [ "$node_status" -ne 0 ] || ! jq -e .good both.json >/dev/null; then
    echo "live.sh: the emulator ended with $status, the node with $node_status, or they disagree" >&2
    exit 1
fi
"$hxmesh" verify run.pcapng
