#!/usr/bin/env bash
# qemu.sh [SECONDS [RATE]] - runs all-to-all for SECONDS (60) on a 2x2 Hx2Mesh with four accelerators as RISC-V images
# in QEMU. Every byte is checked at arrival. One image is killed during the run, and the fabric starts it again. The
# heads of all frames are captured and verified. RATE: share of injection (1e-5: some 200 MB a minute of capture). Needs
# no privileges.
#
# HXMESH: the program (build/hxmesh). Exits with 0 if nothing was lost, corrupted or given up, the image came back, and
# the capture is good.
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:-60}
rate=${2:-1e-5}
name=bare-metal-$$
hxmesh=$(realpath -m "${HXMESH:-../../build/hxmesh}")
folder=$(mktemp -d)
fabric=
# shellcheck disable=SC2317 # called by the trap
cleanup() {
    [ -z "$fabric" ] || kill -TERM "$fabric" 2>/dev/null || true
    rm -rf "$folder"
}
trap cleanup EXIT

# has_delivered N: whether the accelerators have received N messages.
has_delivered() {
    local now
    now=$("$hxmesh" top "$name" --json - --count 1 --interval 100ms 2>/dev/null | jq .messages)
    [ "${now:-0}" -ge "$1" ]
}

"$hxmesh" run qemu.hxm.yaml --name "$name" --duration "${seconds}s" --rate "$rate" --capture "$folder/run.pcapng" \
    --snaplen 128 --quiet --json "$folder/report.json" >/dev/null &
fabric=$!
until has_delivered 200; do kill -0 "$fabric"; done
kill -KILL "$(pgrep --parent "$fabric" qemu | head -n 1)"
status=0
wait "$fabric" || status=$?
fabric=

"$hxmesh-verify" --quiet "$folder/run.pcapng" >&2 || status=1
jq '{packets_sent, packets_lost, packets_repeated, bytes_corrupted, messages_failed, seconds,
     external: (.external | {to, from}), images: .external.machines}' "$folder/report.json"
jq -e '.packets_lost == 0 and .bytes_corrupted == 0 and .messages_failed == 0 and
       ([.external.machines[].starts] | sort == [1, 1, 1, 2]) and
       (.external.machines | all(.bytes_corrupted == 0 and .messages_failed == 0 and .messages_received > 0))' \
    "$folder/report.json" >/dev/null || status=1
exit "$status"
