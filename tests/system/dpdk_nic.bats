#!/usr/bin/env bats
# dpdk_nic.bats - what NICs do that virtual devices do not: modes they refuse, frames they lose, their removal.
# tests/dpdk/nic.c lets virtual devices behave so.
# shellcheck disable=SC2154 # dpdk_support.bash and bats set what a test reads

bats_require_minimum_version 1.5.0

load wait_support
load dpdk_support

# nic SETTING...: the devices of nodes that start after this call behave so (tests/dpdk/nic.c).
nic() {
    printf '#!/bin/sh\nexec env LD_PRELOAD=%s %s %s "$@"\n' "$BUILT/tests/dpdk/nic.so" "$*" \
        "$BUILT/hxmesh-dpdk" >dpdk-with-nic
    chmod +x dpdk-with-nic
    HXMESH_DPDK=$PWD/dpdk-with-nic
}

# shellcheck disable=SC2054 # a comma of DPDK
null_node=(--no-telemetry "--vdev=net_null0,size=64" -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 --ports E=net_null0)

@test "nic: a device without promiscuous mode is refused" {
    for how in refused ignored; do
        nic NIC_PROMISCUOUS=$how
        refused 4 "port E: net_null0: refuses promiscuous mode.*trust on" "${eal[@]}" "${null_node[@]}"
    done
}

@test "nic: pause frames are switched off, or the device is refused" {
    nic NIC_PAUSE=fixed
    refused 4 "port E: net_null0: has pause frames on.*ethtool -A" "${eal[@]}" "${null_node[@]}"
    nic NIC_PAUSE=on
    run -0 "$HXMESH_DPDK" "${eal[@]}" "${null_node[@]}" --check
    grep -qE '^  E +net_null0 .* yes +off +yes ' <<<"$output"
}

@test "nic: a device that brings a frame in several buffers is refused" {
    nic NIC_SCATTERED=1
    refused 4 "port E: net_null0: brings a frame in several buffers" "${eal[@]}" "${null_node[@]}"
}

@test "nic: a device that knows no chained mbufs is refused beside one that brings them" {
    refused 4 "port E: net_null0 (net_null) sends no frames in several" "${eal[@]}" --single-file-segments \
        --vdev=net_memif0,zero-copy=yes,socket="$PWD/m.sock",socket-abstract=no --no-telemetry --vdev=net_null0 -- \
        --fabric "2x1 H2x1Mesh" --node a0,0/p0 --ports E=net_null0,W=net_memif0
}

@test "nic: with --isolate a device takes the two EtherTypes alone" {
    nic NIC_FLOWS=flows
    run -0 "$HXMESH_DPDK" "${eal[@]}" "${null_node[@]}" --isolate --check
    diff flows - <<'END'
isolate
type 88b5 to queue 0
type 88b6 to queue 0
END
    nic
    refused 4 "port E: net_null0: takes all frames or none.*without --isolate" "${eal[@]}" "${null_node[@]}" --isolate
}

@test "nic: a port's buffers are on its NUMA node, and a core of another one is warned of" {
    nic NIC_NUMA=1
    run -0 --separate-stderr "$HXMESH_DPDK" "${eal[@]}" "${null_node[@]}" --check
    grep -qE '^  E +net_null0 +net_null +0 +1 ' <<<"$output"
    [[ $stderr == *"warning: --lcores: port E: net_null0 is on NUMA node 1, its lcore 0 on 0"* ]]
}

@test "nic: a trial names everything that is wrong, and sends nothing" {
    run -4 --separate-stderr "$HXMESH_DPDK" "${eal[@]}" --no-telemetry --vdev=net_null0 --vdev=net_memif0 -- \
        --fabric "2x2 Hx2Mesh" --node a0,0/p0 --ports E=net_null0,W=net_memif0,S=net_null7,local=endpoint --check
    [ "$(grep -c '^hxmesh: error: port' <<<"$stderr")" -eq 2 ]
    [[ $stderr == *"port W: net_memif0: every user"* && $stderr == *"port S: there is no device 'net_null7'"* ]]
    grep -qE '^  W +net_memif0 +refused$' <<<"$output"
    grep -qx 'refused: 2 of 4 devices' <<<"$output"
    run -0 "$HXMESH_DPDK" "${eal[@]}" --no-telemetry --vdev=net_null0 -- --fabric "2x2 Hx2Mesh" --node a0,0/p0 --ports E=net_null0 --check
    [ "$(tail -n 1 <<<"$output")" = "all devices carry frames of an MTU of 8242" ]
    run -0 "$HXMESH_DPDK" "${eal[@]}" --no-telemetry "$(memif client)" -- --fabric "2x2 Hx2Mesh" --node a0,0/p0 \
        --ports E=net_memif0 --check
    [ "$(tail -n 1 <<<"$output")" = "all devices carry frames of an MTU of 8242; 1 wait for their other side" ]
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

@test "nic: frames that a device lost are in the report, the statistics and the metrics" {
    local port
    port=$(free_port)
    nic NIC_MISSED=7
    node a "${null_node[@]}" --statistics 100ms --metrics "$port" &
    local pid=$!
    eventually has_samples a 2
    curl -sf "http://127.0.0.1:$port/metrics" >page
    curl -sfI "http://127.0.0.1:$port/metrics" >headers
    [ "$(curl -so /dev/null -w '%{http_code}' "http://127.0.0.1:$port/other")" -eq 404 ]
    kill -TERM $pid
    wait $pid || [ $? -eq 130 ]
    jq -e '.ports[0].device_missed == 7' a.json
    grep -q ' 7 lost by devices, ' a.err
    grep -qx 'hxmesh_port_device_missed_total{node="a0,0/p0",port="E",device="net_null0"} 7' page
    [ "$(tr -d '\r' <headers | sed -n 's/^Content-Length: //p')" -gt 1000 ]
    # Prometheus' own reader takes it, and each family and sample comes once.
    /usr/bin/python3 - <<'END'
from prometheus_client.parser import text_string_to_metric_families
families = list(text_string_to_metric_families(open("page").read()))
names = [f.name for f in families]
assert len(names) == len(set(names)) > 20, names
samples = [(s.name, tuple(sorted(s.labels.items()))) for f in families for s in f.samples]
assert len(samples) == len(set(samples)), samples
assert all(f.type in ("counter", "gauge") and f.documentation for f in families)
assert {"hxmesh_drops", "hxmesh_port_up", "hxmesh_lcore_loops"} <= set(names)
END
}

@test "nic: a client of the metrics that says nothing delays neither others nor the end" {
    local port
    port=$(free_port)
    node a "${null_node[@]}" --statistics 100ms --metrics "127.0.0.1:$port" &
    local pid=$!
    eventually has_samples a 2
    exec 7<>"/dev/tcp/127.0.0.1/$port"
    curl -sf -m 30 "http://127.0.0.1:$port/metrics" | grep -q hxmesh_drops_total
    exec 7>&-
    kill -TERM $pid
    wait $pid || [ $? -eq 130 ]
    jq -e '.drained' a.json
}

@test "nic: a client that sends its request byte by byte is left after two seconds" {
    local port began
    port=$(free_port)
    node a "${null_node[@]}" --statistics 100ms --metrics "$port" &
    local pid=$!
    eventually has_samples a 2
    (
        exec 7<>"/dev/tcp/127.0.0.1/$port"
        for _ in {1..60}; do printf x >&7 && sleep 0.5; done
    ) 2>/dev/null &
    local drips=$!
    sleep 0.5
    began=$SECONDS
    curl -sf -m 20 "http://127.0.0.1:$port/metrics" | grep -q hxmesh_drops_total
    [ $((SECONDS - began)) -lt 15 ]
    kill $drips
    kill -TERM $pid
    wait $pid || [ $? -eq 130 ]
}

@test "nic: an address of metrics that cannot be is refused in one line" {
    refused 2 "'x:1' is no .ADDRESS:.PORT" "${eal[@]}" "${null_node[@]}" --metrics x:1
    refused 4 "192.0.2.1:1: " "${eal[@]}" "${null_node[@]}" --metrics 192.0.2.1:1
}

# True if the lines of the node PREFIX have so many that end with TEXT.
has_lines() { [ "$(grep -c "$2\$" "$1.err")" -ge "$3" ]; }

@test "nic: a device that is removed is a dead link, and is used again when it returns" {
    nic NIC_REMOVAL="$PWD/remove"
    node a --no-telemetry "$(memif server)" -- --fabric "1x1 H2x1Mesh" --node a0,0/p0 \
        --ports E=net_memif0,local=endpoint --linger 500ms --message 64KiB --rate 0.01 --duration 12s &
    local first=$!
    HXMESH_DPDK=$BUILT/hxmesh-dpdk
    node b --no-telemetry "$(memif client)" -- --fabric "1x1 H2x1Mesh" --node a1,0/p0 \
        --ports W=net_memif0,local=endpoint --linger 500ms --message 64KiB --rate 0.01 --duration 12s &
    local second=$!
    for times in 1 2; do
        eventually has_lines a '/E: link up' $times
        eventually has_lines b '/W: link up' $times
        touch remove
        eventually has_lines a 'net_memif0 is gone; it is used again when it returns' $times
        eventually has_lines a '/E: link down' $times
    done
    wait $first
    wait $second
    jq -es '(map(.endpoint.messages_sent) | add) > 0 and
        (map(.endpoint.messages_sent) | add) == (map(.endpoint.messages_received) | add) and
        all(.[].endpoint; .messages_failed == 0 and .bytes_corrupted == 0)' a.json b.json
}
