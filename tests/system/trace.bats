# asan
# trace.bats - hxmesh trace: packets hop by hop, messages and their paths, timelines.

load capture_support

@test "trace: sums over a whole capture" {
    make_capture run.pcapng messages=5
    trace run.pcapng --json - | json_holds '
        .spec == "4x4 Hx2Mesh" and .packets == {seen: 640, delivered: 640, missing: 0, damaged: 0, out_of_sight: 0} and
        .message_count == 320 and .latency_ns.least > 0 and .latency_ns.p50 <= .latency_ns.p99 and
        .latency_ns.p99 <= .latency_ns.max and (.waited_for | length) == 10 and .missing_packets == [] and .hops == []'
    run trace run.pcapng
    [ "$status" -eq 0 ]
    [[ ${lines[1]} == "packets      640: 640 delivered, 0 missing"* ]]
}

@test "trace: one packet, each hop with time, port, VC and waiting" {
    make_capture run.pcapng planes=2 bytes=20000
    trace run.pcapng --from 2,3 --json - >all.json
    read -r gx gy message < <(jq -r '.messages[0] | "\(.to[0]) \(.to[1]) \(.message)"' all.json)
    trace run.pcapng --packet "2,3,$gx,$gy,$message,1" --json - >one.json
    json_holds '
        (.hops | length) == 1 and .hops[0].from == [2, 3] and .hops[0].offset == 1 and .hops[0].delivered and
        .hops[0].hops[0].at == "a2,3/p1" and .hops[0].hops[0].in.port == "a2,3/p1/local" and
        (.hops[0].hops[-1].out.port | endswith("/local")) and
        (.hops[0].hops | all(.waited_ns == .out.time_ns - .in.time_ns and .in.frame < .out.frame and .out.vc <= 2))' <one.json
    # Frame numbers are those of the capture.
    run trace run.pcapng --packet "2,3,$gx,$gy,$message,1"
    [[ ${lines[0]} == "packet 1 of message $message from a2,3 to a$gx,$gy, job 0, plane 1, 8192 bytes: delivered after "* ]]
}

@test "trace: a star among the coordinates of --packet matches any" {
    make_capture run.pcapng bytes=100
    trace run.pcapng --packet "1,*,*,*,*,*" --most 1000 --json - >column.json
    json_holds '(.hops | length) > 8 and ([.hops[].from] | unique) == [range(8) | [1, .]]' <column.json
    trace run.pcapng --packet "a1,2,*,*,*,*" --most 1000 --json - | json_holds '([.hops[].from] | unique) == [[1, 2]]'
    trace run.pcapng --from a1,2 --json - | json_holds '([.hops[] | select(.kind == "packet") | .from] | unique) == [[1, 2]]'
}

@test "trace: a message's spread over paths" {
    make_capture run.pcapng planes=4 bytes=262144 messages=1 snaplen=64 crc=0
    trace run.pcapng --from 3,5 --json - | json_holds '
        .message_count == 1 and (.messages[0] | .packets == 32 and .delivered == 32 and .acknowledgements == 1 and
        .planes == [8, 8, 8, 8] and ([.first_port[]] | add) == 32 and ([.paths[].packets] | add) == 32 and
        (.paths | length) >= 4)'
}

@test "trace: missing packets, with their last record" {
    frame=$(make_capture lost.pcapng break=delivery-lost)
    trace lost.pcapng --missing --json - | json_holds "
        .packets.missing == 1 and .missing_packets[0].frame == $frame and .missing_packets[0].direction == \"in\" and
        (.hops | length) == 1 and (.hops[0].delivered | not)"
    trace lost.pcapng | grep -q "^missing .*: seen last in frame $frame, coming in by "
}

@test "trace: what left the ports of one captured node is out of sight, not missing" {
    "$HXMESH" run "torus 4x4" --clock virtual -q -t all-to-all -m 64 --workers 1 --capture one.pcapng --capture-ports a1,1 >text
    trace one.pcapng --json - | json_holds '
        .packets | .missing == 0 and .damaged == 0 and .delivered > 20 and .out_of_sight > 20 and
        .seen == .delivered + .out_of_sight'
    run trace one.pcapng --missing
    grep -qx "no packet is missing" <<<"$output"
}

@test "trace: frames with a wrong checksum are not delivered" {
    "$HXMESH" run "torus 4x4" --clock virtual -q -t permutation -m 16KiB --count 4 --workers 1 --verify \
        --fault "all corrupt=5%" --json run.json --capture harmed.pcapng >text
    # shellcheck disable=SC2016 # $run is jq's
    trace harmed.pcapng --json - | jq --slurpfile run run.json -e '.packets.damaged > 5 and
        .packets.damaged == $run[0].drops.checksum' >text
}

@test "trace: singular forms" {
    make_capture run.pcapng messages=1 bytes=100
    run trace run.pcapng --from 0,0 --most 1
    grep -qE '^message [0-9]+ from a0,0 to a[0-9],[0-9]: 1 packet, ' <<<"$output"
}

@test "trace: nothing is missing" {
    make_capture run.pcapng
    run trace run.pcapng --missing
    [ "$status" -eq 0 ]
    grep -qx "no packet is missing" <<<"$output"
}

@test "trace: a truncated file is followed to its end" {
    make_capture run.pcapng
    head -c 100001 run.pcapng >cut.pcapng
    run --separate-stderr trace cut.pcapng
    [ "$status" -eq 0 ] && [ -z "$stderr" ]
    [[ $output == *"cut off      at byte "*", within a block: packets that were in flight there count as missing"* ]]
    trace cut.pcapng --json - | json_holds '.frames > 0 and .cut_at <= 100001'
    trace run.pcapng --json - | json_holds '.cut_at == null'
}

@test "trace: a timeline for Perfetto" {
    make_capture run.pcapng
    trace run.pcapng --timeline time.json --json /dev/null
    json_holds '(.traceEvents | length) > 1000 and (.traceEvents | all(.ph == "M" or (.ph == "X" and .dur >= 0)))' <time.json
    # One thread a packet, with contiguous slices.
    # shellcheck disable=SC2016 # jq has variables too
    json_holds '[.traceEvents[] | select(.ph == "X" and .tid == 1)] | length > 2 and
        . as $s | [range(1; length)] | all(. as $i | $s[$i].ts - ($s[$i - 1].ts + $s[$i - 1].dur) | fabs < 0.0001)' \
        <time.json
}

@test "trace: bad words and files end in one line" {
    make_capture run.pcapng
    refused 2 "--packet: '1,2,3' is not HI,LO,HI,LO,message,offset" trace run.pcapng --packet 1,2,3
    refused 3 "none.pcapng: cannot be read: No such file or directory" trace none.pcapng
    head -c 300 run.pcapng >cut.pcapng
    run --separate-stderr trace cut.pcapng
    [ "$status" -eq 3 ]
    # shellcheck disable=SC2154 # bats sets it
    [[ $stderr == "hxmesh: error: cut.pcapng: at byte 300: the file ends within"* ]]
    refused 2 "--from: a9,9 is outside the 4x4 Hx2Mesh (gx 0 .. 7, gy 0 .. 7)" trace run.pcapng --from 9,9
    refused 2 "--to: a0,8 is outside the 4x4 Hx2Mesh (gx 0 .. 7, gy 0 .. 7)" trace run.pcapng --to 0,8
    refused 2 "--packet: a0,9 is outside the 4x4 Hx2Mesh (gx 0 .. 7, gy 0 .. 7)" trace run.pcapng --packet '*,*,*,9,*,*'
    run --separate-stderr trace run.pcapng --timeline /nowhere/time.json
    [ "$status" -eq 4 ]
}

@test "trace: a thousand missing packets at most are listed, and the others are counted" {
    "$HXMESH" run "2x2 Hx2Mesh" --clock virtual -q -m 64KiB --fault "all loss=20%" --capture lost.pcapng || true
    local missing
    missing=$(trace lost.pcapng --json - | jq .packets.missing)
    [ "$missing" -gt 1000 ]
    trace lost.pcapng --missing --most 1500 >text
    [ "$(grep -c 'seen last in frame' text)" -ge 1000 ]
    grep -qx " *$((missing - 1000)) more" text
}
