#!/usr/bin/env bash
# compare.sh [SPEC] [SECONDS] - prints a table of TCP throughput and ping times: between two hosts of an emulated
# fabric, over a bridge with two veth pairs (as Mininet makes), and over one veth pair. Measures each twice, in turn.
# Needs iperf3, ping, jq, ip, but not root.
set -euo pipefail

spec=${1:-2x2 Hx2Mesh}
seconds=${2:-3}
hxmesh=${HXMESH:-$(cd "$(dirname "$0")/../.." && pwd)/build/hxmesh}
name=compare-$$
work=$(mktemp -d)
trap '"$hxmesh" down "$name" --quiet 2>/dev/null || true; rm -rf "$work"' EXIT

# measure TITLE ADDRESS: prints a row of the table. SERVER and CLIENT are arrays: the prefixes of commands on each side.
measure() {
    local rtt gbps again
    rtt=$("${CLIENT[@]}" ping -q -c 200 -i 0.005 "$2" | sed -n 's|.*= [0-9.]*/\([0-9.]*\)/.*|\1|p')
    "${SERVER[@]}" iperf3 --server --daemon --one-off >"$work/server"
    until "${CLIENT[@]}" iperf3 --client "$2" --time "$seconds" --json >"$work/one" 2>&1; do :; done
    gbps=$(jq '.end.sum_received.bits_per_second / 1e7 | round / 100' "$work/one")
    again=$(jq '.end.sum_sent.retransmits' "$work/one")
    printf '| %-44s | %8s | %8s | %6s |\n' "$1" "$gbps" "$rtt" "$again"
}

# on_fabric MTU: between the first host and the last one.
on_fabric() {
    local last
    "$hxmesh" up "$spec" --name "$name" --mtu "$1" --quiet
    last=$("$hxmesh" exec --name "$name" --all -- hostname | sed 's/.*: //' | sort -V | tail -n 1)
    CLIENT=("$hxmesh" exec --name "$name" h0 --)
    SERVER=("$hxmesh" exec --name "$name" "$last" --)
    measure "$spec, MTU $1" "$last"
    "$hxmesh" down "$name" --quiet
}

# between_namespaces TITLE MTU MAKE: MAKE joins e0 of namespace $ONE and e0 of $TWO.
between_namespaces() {
    local ends=() in
    for _ in 1 2; do
        unshare --net sleep 1000 &
        ends+=($!)
        until [ "$(readlink "/proc/$!/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do :; done
    done
    ONE=${ends[0]} TWO=${ends[1]}
    "$3" "$2"
    for i in 0 1; do
        in=(nsenter --net --target "${ends[$i]}")
        "${in[@]}" ip link set lo up
        "${in[@]}" ip link set e0 up mtu "$2"
        "${in[@]}" ip address add "10.9.9.$i/24" dev e0
    done
    CLIENT=(nsenter --net --target "$ONE")
    SERVER=(nsenter --net --target "$TWO")
    measure "$1, MTU $2" 10.9.9.1
    kill "${ends[@]}"
}

bridge() {
    ip link add b0 type bridge
    ip link set b0 mtu "$1" up
    ip link add v1 mtu "$1" type veth peer name e0 netns "$ONE"
    ip link add v2 mtu "$1" type veth peer name e0 netns "$TWO"
    ip link set v1 up master b0
    ip link set v2 up master b0
}

pair() { ip link add e0 netns "$ONE" type veth peer name e0 netns "$TWO"; }

if [ "${1:-}" = --kernel ]; then # this script itself, as root of its own namespaces
    between_namespaces "bridge and two veth pairs" 8192 bridge
    between_namespaces "one veth pair" 8192 pair
    exit
fi
printf '| %-44s | %8s | %8s | %6s |\n|---|---|---|---|\n' "" "Gb/s" "ping, ms" "again"
for _ in 1 2; do
    on_fabric 8192
    on_fabric 65520
    unshare --user --map-root-user --net "$0" --kernel "$seconds"
done
