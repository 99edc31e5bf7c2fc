#!/usr/bin/env bash
# pair.sh - runs all-to-all between two DPDK nodes joined by memif, without an emulator. Every byte is checked. Needs no
# privileges. HXMESH_DPDK: the program (build/hxmesh-dpdk). Exits with 0 if nothing was lost or corrupted on either
# side.
set -euo pipefail
cd "$(dirname "$0")"

program=$(realpath -m "${HXMESH_DPDK:-../../build/hxmesh-dpdk}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export RUNTIME_DIRECTORY=$folder

node() {
    local role=$1 name=$2
    timeout --foreground 60 "$program" --no-huge -m 512 --no-pci --no-shconf --no-telemetry --log-level=error \
        --lcores '0@(0-1)' --file-prefix "$name" \
        --vdev="net_memif0,role=$role,socket=$folder/memif.sock,socket-abstract=no,bsize=8448" -- \
        --config "pair-$name.yaml"
}

node server west >"$folder/west" &
west=$!
node client east
wait "$west"
cat "$folder/west"
