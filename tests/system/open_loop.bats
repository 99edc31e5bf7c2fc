# open_loop.bats - hxmesh run at a rate for a time: what its latency counts, and when the load is unstable.

# shellcheck disable=SC2016 # what stands in quotes is for jq
load emulator_support

setup() { fresh_name; }

simulate() { hxmesh run "$@" --clock virtual --share-cores --quiet --json - >"$REPORT"; }

# always_same ARGUMENTS...: the same report with 1 to 3 workers, but for `host`.
always_same() {
    local workers first
    for workers in 1 2 3; do
        simulate "$@" --workers "$workers"
        [ "$workers" -gt 1 ] || first=$(jq --compact-output 'del(.host)' "$REPORT")
        [ "$(jq --compact-output 'del(.host)' "$REPORT")" = "$first" ] || { echo "differs with $workers: $*"; return 1; }
    done
}

@test "open loop: past saturation a load is unstable, and has no latency" {
    # 15 hosts offer 7.5 times what the target's links take.
    always_same "4x4 Hx1Mesh" -t incast -m 8KiB --rate 0.5 -d 60us --warm-up 20us
    holds '.complete and .open_loop.stable == false and .open_loop.unstable_because == "late" and
           .open_loop.arrived_messages < .open_loop.marked_messages and .open_loop.warm_up == "given" and
           ([.latency_ns[], .network_latency_ns[]] | all(. == null))'
    # So much is generated in 40 us, by each of 15 at 100 GB/s, whether or not it could begin.
    holds '.open_loop.marked_messages - 15 * 40e-6 * 100e9 / 8192 | fabs <= 15'
    # The transpose of docs/traffic.md: hosts offer 7/8 of each rate, and less than a tenth arrives.
    for rate in 0.1 0.25 0.45 0.8; do
        simulate "4x4 Hx2Mesh" -t transpose -m 64KiB --rate "$rate" -d 120us --warm-up 40us
        holds '.open_loop.stable == false and .latency_ns.p50 == null and .share_of_injection < .share_offered'
        holds ".share_offered - 0.875 * $rate | fabs < 1e-9"
    done
    run -0 hxmesh run "4x4 Hx1Mesh" --clock virtual -t incast -m 8KiB --rate 0.5 -d 60us \
        --csv "$BATS_TEST_TMPDIR/c.csv"
    [[ "$output" == *"packet latency UNSTABLE: "*" messages had not arrived "* ]]
    [[ "$output" == *", of 46.8750 % offered"* ]]
    head -n 1 "$BATS_TEST_TMPDIR/c.csv" | grep -q ',measured_packets,share_offered,stable,unstable_because,'
    tail -n 1 "$BATS_TEST_TMPDIR/c.csv" | grep -q ',0.46875,false,late,'
}

@test "open loop: the latency grows by what the fabric lacks" {
    # Links carry a quarter of the injection. At a rate r > 1/4 the latency grows by 4 r - 1 of the time.
    local rate
    for rate in 0.26 0.28 0.3; do
        simulate "mlfm h=4" -t worst-case -m 8KiB --rate "$rate" -d 100us --warm-up 20us
        holds ".open_loop.unstable_because == \"growing\" and (.open_loop.growth - (4 * $rate - 1) | fabs) < 0.01"
    done
    run -0 hxmesh run "mlfm h=4" --clock virtual -t worst-case -m 8KiB --rate 0.3 -d 100us --warm-up 20us
    [[ "$output" == *"packet latency UNSTABLE: it grew by 20"*" us in each 100 us of the measured interval"* ]]
    # Below it all arrive, and nothing grows.
    always_same "mlfm h=4" -t worst-case -m 8KiB --rate 0.24 -d 100us --warm-up 20us
    holds '.open_loop.stable and (.open_loop.growth | fabs) < 0.001 and .latency_ns.max < 3000 and
           .open_loop.arrived_messages == .open_loop.marked_messages and .open_loop.drain_seconds < 5e-6 and
           .measured_packets == .open_loop.marked_messages'
}

@test "open loop: latency is of the messages generated in the measured interval, from then on" {
    # Equal intervals of 409.6 ns: 50 messages of each host in 20 us, with a load before and after.
    simulate "2x2 Hx2Mesh" -t permutation -m 8KiB --rate 0.1 -d 30us --warm-up 10us
    holds '.open_loop.marked_messages as $n | $n >= 16 * 48 and $n <= 16 * 49 and .measured_packets == $n and
           .messages > $n and .virtual_seconds == 20e-6 and .warm_up_seconds == 10e-6'
    # The wait at the source is in it: the last packets of a message wait for its first ones.
    simulate "Switch(4)" -t permutation -m 64KiB --rate 0.1 -d 300us --warm-up 50us
    holds '.open_loop.stable and .latency_ns.max >= .network_latency_ns.max and .latency_ns.mean > .network_latency_ns.mean'
}

@test "open loop: the run chooses its warm-up when the load is steady" {
    always_same "4x4 Hx2Mesh" -t uniform -m 8KiB --rate 0.2 -d 60us
    holds '.open_loop.warm_up == "steady" and .warm_up_seconds >= 6e-6 and .warm_up_seconds < 31e-6 and
           (.warm_up_seconds + .virtual_seconds - 60e-6 | fabs) < 1e-12 and .open_loop.stable and
           (.settings["warm-up"] | rtrimstr("ns") | tonumber) == (.warm_up_seconds * 1e9 | round)'
    # The same again, if it is said.
    first=$(jq --compact-output 'del(.host, .open_loop.warm_up)' "$REPORT")
    eval "${HXMESH@Q} $(jq --raw-output '.host.again' "$REPORT" | cut -d' ' -f2-) --quiet --json -" >"$BATS_TEST_TMPDIR/again"
    [ "$(jq --compact-output 'del(.host, .open_loop.warm_up)' "$BATS_TEST_TMPDIR/again")" = "$first" ]
    # A queue that grows is not steady; --warm-up 0 is none.
    always_same "4x4 Hx2Mesh" -t transpose -m 8KiB --rate 0.2 -d 60us
    holds '.open_loop.warm_up == "half" and (.warm_up_seconds - 30e-6 | fabs) < 1e-6 and .open_loop.stable == false'
    simulate "4x4 Hx2Mesh" -t uniform -m 8KiB --rate 0.2 -d 60us --warm-up 0
    holds '.open_loop.warm_up == "given" and .virtual_seconds == 60e-6'
    # Without a rate, or without a duration, there is none.
    simulate "2x2 Hx2Mesh" -t uniform -m 8KiB -d 20us
    holds '(has("open_loop") or has("network_latency_ns") or has("warm_up_seconds")) | not'
    simulate "2x2 Hx2Mesh" -t uniform -m 8KiB --rate 0.1
    holds '(has("open_loop") or has("warm_up_seconds") | not) and .network_latency_ns.mean <= .latency_ns.mean'
}

# A host's link is a server of equal times S; messages come at random to it alone, so they wait S p / (2 (1 - p)) on
# average (Pollaczek and Khinchin). What comes beside the wait is the latency of a message alone.
# m_d_1 RATE TOLERANCE DURATION [OPTION...]
m_d_1() {
    local rate=$1 tolerance=$2 duration=$3 alone
    shift 3
    simulate "Switch(8)" -t permutation -m 128KiB --rate 0.01 -d 4ms --warm-up 0
    alone=$(jq .latency_ns.mean "$REPORT")
    simulate "Switch(8)" -t permutation -m 128KiB --rate "$rate" --arrivals poisson -d "$duration" --warm-up 500us "$@"
    holds '.open_loop.stable and ((.latency_ns.mean - $alone) / (131072 / 50 * .share_of_injection /
           (2 * (1 - .share_of_injection))) - 1 | fabs) < $tolerance' --argjson alone "$alone" --argjson tolerance "$tolerance"
}

@test "open loop: a single link is an M/D/1 queue" {
    m_d_1 0.5 0.1 5ms
}

# bats test_tags=all
@test "open loop: a single link is an M/D/1 queue, at any load" {
    local rate
    for rate in 0.2 0.4 0.6 0.8; do
        m_d_1 "$rate" 0.06 40ms
    done
}

@test "open loop: endpoints carry a message of one packet on any number of planes" {
    # The pattern is the limit: long messages of the same load are carried no better.
    local least
    least=$(simulate "fat-tree hosts=16" -t uniform -m 64KiB --rate 0.9 -n 0 -d 200us && jq .share_of_injection "$REPORT")
    for planes in 1 2 4; do
        simulate "fat-tree hosts=16" -t uniform -m 8KiB --rate 0.9 -n 0 -d 200us --planes "$planes"
        holds ".share_of_injection > $least"
    done
}

@test "open loop: the time for which hosts wait for windows is what their link rests" {
    # One pair over a switch: the link carries 8 KiB in 163.84 ns, and rests for the rest of the time. Nothing waits
    # after the last messages: 1 / 1000 of the time on one plane, 1 / 250 on four.
    cd "$BATS_TEST_TMPDIR"
    { echo 'start,source,destination,bytes' && yes '0,0,1,8KiB' | head -n 4000; } >one.csv
    for planes in 1 2 4; do
        simulate "Switch(4)" -t one.csv --planes "$planes"
        echo "$planes planes: $(jq -c '[.window_wait_share, .virtual_seconds]' "$REPORT")"
        holds "1 - 4000 / $planes * 163.84e-9 / .virtual_seconds - .window_wait_share | fabs < 0.002"
    done
    run -0 hxmesh run "Switch(4)" --clock virtual -t one.csv
    [[ "$output" == *"  windows        hosts waited "*" % of the time for an answer to the 4 messages of a pair in flight"* ]]
    { echo 'start,source,destination,bytes' && yes '0,0,1,1MiB' | head -n 20; } >long.csv
    run -0 hxmesh run "Switch(4)" --clock virtual -t long.csv --json "$REPORT"
    [[ "$output" != *"  windows  "* ]]
    holds '.window_wait_share == 0'
}

@test "open loop: a job with a count beside one with a duration has its own latency" {
    local rate=0.2
    always_same "4x4 Hx2Mesh" --job 'open: 2x2 uniform 8KiB' --job 'counted: 2x2 permutation 8KiB count=20' --rate "$rate" \
        -d 60us --warm-up 0
    # 16 hosts, 20 messages each; none is generated after the 60 us: 20 * 8192 B / (0.2 * 200 GB/s) = 4.1 us.
    holds '.jobs[1].measured_packets == 16 * 20 and .jobs[1].latency_ns.p50 > 0 and .jobs[0].latency_ns.p50 > 0'
    # Those generated before the end of the warm-up are left out.
    simulate "4x4 Hx2Mesh" --job 'open: 2x2 uniform 8KiB' --job 'counted: 2x2 permutation 8KiB count=20' --rate "$rate" \
        -d 60us --warm-up 50us
    holds '.jobs[1].measured_packets == 0 and .jobs[1].latency_ns.p50 == null and .jobs[0].latency_ns.p50 > 0'
}
