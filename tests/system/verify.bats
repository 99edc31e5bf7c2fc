# asan
# verify.bats - hxmesh verify: good captures pass, each broken rule is named with its frame.

load capture_support

@test "verify: a complete capture is good" {
    make_capture good.pcapng
    run --separate-stderr verify good.pcapng
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "${lines[0]}" = "good.pcapng: good" ]
}

@test "verify: JSON names what was verified" {
    make_capture good.pcapng wire=1 planes=2
    verify good.pcapng --json - | json_holds '
        .passed and .spec == "4x4 Hx2Mesh" and .first == null and .findings == [] and .ports == 896 and
        .injected == .delivered and .injected > 0 and ([.rules[]] | add) == 0 and .verified.nodes == 160 and
        .verified.links == 768 and .verified.credit_frames > 0 and .verified.credit_links == 768 and .not_verified == []'
    verify good.pcapng --json report.json
    json_holds .passed <report.json
}

@test "verify: ten broken captures, each refused with its frame and rule" {
    for rule in header crc job distance north-last vc hops credit order delivery delivery-lost; do
        options=(messages=40 bytes=100)
        [ "$rule" != credit ] || options=(messages=10 credits=32 greedy=1)
        frame=$(make_capture broken.pcapng "${options[@]}" break=$rule)
        run --separate-stderr verify broken.pcapng
        [ "$status" -eq 1 ]
        case ${lines[0]} in
        "broken.pcapng: BAD: frame $frame: ${rule%-lost}: "*) ;;
        *)
            echo "$rule at frame $frame, but: ${lines[0]}"
            return 1
            ;;
        esac
        run verify broken.pcapng --json -
        [ "$status" -eq 1 ]
        json_holds ".passed == false and .first.frame == $frame and .first.rule == \"${rule%-lost}\"" <<<"$output"
    done
}

# break_capture FROM TO WHAT: see tests/system/break_capture.c.
break_capture() { "$(dirname "$HXMESH")/tests/system/break_capture" "$@"; }

@test "verify: the only frame that left its port was removed from a run: its port and the packet are named" {
    local fabric port
    for fabric in "2x2 Hx2Mesh" "torus 4x4" "fat-tree hosts=16 radix=8"; do
        "$HXMESH" run "$fabric" --clock virtual -q -t permutation -m 4KiB --workers 1 --capture whole.pcapng >text
        verify whole.pcapng >text
        [ "$(head -n 1 text)" = "whole.pcapng: good" ]
        port=$(break_capture whole.pcapng less.pcapng only)
        run -1 --separate-stderr verify less.pcapng
        [[ ${lines[0]} == "less.pcapng: BAD: frame "*": delivery: arrives at "*", but never left $port" ]]
    done
}

@test "verify: what faults let pass is named with port and fault, and --strict lets nothing pass" {
    "$HXMESH" run "torus 4x4" --clock virtual -q -t permutation -m 16KiB --count 4 --workers 1 --verify \
        --fault "a1,0/E corrupt=20%" --fault "a2,2/N loss=50%" --capture harmed.pcapng >text
    verify harmed.pcapng >text
    [ "$(head -n 1 text)" = "harmed.pcapng: good" ]
    grep -qE '[0-9]+ crc at a[12],0/p0/[EW] by a1,0/E corrupt=20%, first in frame [0-9]+$' text
    grep -qE '[0-9]+ lost, (delivered when sent again|another came in its place) at a2,[12]/p0/[NS] by a2,2/N loss=50%, ' text
    run -1 grep "by no fault" text
    verify harmed.pcapng --json - | json_holds '.passed and (.strict | not) and (.let_pass | length > 2) and
        ([.let_pass[].by] | unique) == ["a1,0/E corrupt=20%", "a2,2/N loss=50%"] and (.let_pass | all(.count > 0))'
    run -1 --separate-stderr verify harmed.pcapng --strict
    [[ ${lines[0]} == "harmed.pcapng: BAD: frame "*": "*" at a"* ]]
    run -1 verify harmed.pcapng --strict --json strict.json
    json_holds '(.passed | not) and .strict and (.let_pass | all(.by == "no fault")) and
        .rules.crc > 5 and .rules.delivery > 2' <strict.json
    "$HXMESH" run "torus 4x4" --clock virtual -q -m 4KiB --workers 1 --verify --capture whole.pcapng >text
    verify whole.pcapng --strict | grep -qx "whole.pcapng: good"
}

@test "verify: a fault allows paths around it even if its annotation comes last" {
    needs editcap
    printf '%s\n' h0,s0 h1,s1 h2,s2 h3,s3 s0,s1 s1,s2 s2,s3 s3,s0 >ring.csv
    "$HXMESH" run "graph ring.csv" --clock virtual -q -t all-to-all-random -m 8KiB -d 20us \
        --fault "s1 down at 5us for 5us" --capture first.pcapng --snaplen 96
    LC_ALL=C sed 's/fault at 5 us/Fault at 5 us/' first.pcapng >never.pcapng
    run -1 verify never.pcapng
    frames=$(verify first.pcapng --json - | jq .frames)
    editcap -a "$frames:fault at 5 us: s1 down at 5us for 5us" never.pcapng last.pcapng
    verify last.pcapng >text
    [ "$(head -n 1 text)" = "last.pcapng: good" ]
}

@test "verify: it says what was checked" {
    needs editcap
    make_capture good.pcapng
    verify good.pcapng | grep -qx "checked *header, crc, job, distance, north-last, vc, hops, order, credit, delivery"
    editcap -F pcap good.pcapng good.pcap 2>/dev/null
    verify good.pcap --spec "4x4 Hx2Mesh" >text
    [ "$(head -n 1 text)" = "good.pcap: good, each frame by itself: none was followed" ]
    grep -qx "checked *header, crc" text
    verify good.pcap --json - | json_holds '.passed and .checked == ["header", "crc"]'
    run -1 --separate-stderr verify good.pcap --strict
    [ "${lines[0]}" = "good.pcap: NOT CHECKED: no frame was followed from port to port" ]
}

@test "verify: an impossible grant is a violation of credit" {
    frame=$(make_capture broken.pcapng wire=1 credits=32 messages=8 break=credit)
    run verify broken.pcapng
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == "broken.pcapng: BAD: frame $frame: credit: grants "* ]]
}

@test "verify: frame numbers are Wireshark's" {
    needs tshark
    frame=$(make_capture broken.pcapng break=header)
    reserved=$(tshark -r broken.pcapng -Y "frame.number == $frame" -T fields -e eth.type -e data.data 2>/dev/null)
    [[ $reserved == 0x88b5* ]]
    # Bytes 18 and 19 are reserved: 4 and 5 behind Ethernet's 14.
    [ "$(cut -f 2 <<<"$reserved" | cut -c 9-12)" = 0100 ]
}

@test "verify: the fabric can be named, and names win" {
    make_capture plain.pcapng comment=nothing
    verify plain.pcapng --json - | json_holds '.passed and .spec == null and (.not_verified[0] | test("--spec"))'
    verify plain.pcapng --spec "4x4 Hx2Mesh" --credits 64 --json - | json_holds '.passed and .verified.nodes == 80'
    run verify plain.pcapng --spec "2x2 Hx4Mesh"
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == *": distance: "* || ${lines[0]} == *": hops: "* ]]
    [[ "$output" != *" from "[0-9]* && "$output" != *" to "[0-9]* ]] # hosts have the names that their ports have
    # By a file, with any other content; trace reads it too.
    printf '%s\n' "fabric: 4x4 Hx2Mesh" "credits: 64" "jobs: [{tag: 7, boards: [[0, 0]]}]" "failed_boards: [[3, 3]]" \
        "capture: {file: x, filter: arp, ports: a0}" >jobs.hxm.yaml
    run verify plain.pcapng --spec jobs.hxm.yaml
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == *": job: "* ]]
    make_capture small.pcapng comment=nothing x=2 y=2
    local mixed="$BATS_TEST_DIRNAME/../../examples/dpdk/mixed.hxm.yaml"
    run verify small.pcapng --spec "$mixed" --credits 64
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "small.pcapng: good" ]]
    run trace small.pcapng --spec "$mixed"
    [ "$status" -eq 0 ]
    [[ ${lines[1]} == "packets "*" 0 missing"* ]]
}

@test "verify: classic pcap has no ports, so only header and checksum are verified" {
    needs editcap
    make_capture good.pcapng
    for format in pcap nsecpcap; do
        editcap -F $format good.pcapng good.pcap 2>/dev/null
        verify good.pcap --spec "4x4 Hx2Mesh" --json - | json_holds '
            .passed and .ports == 1 and .verified.checksums == .frames and
            (.not_verified | any(test("no port or no direction")))'
    done
    frame=$(make_capture bad.pcapng break=crc)
    editcap -F pcap bad.pcapng bad.pcap 2>/dev/null
    run verify bad.pcap
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == "bad.pcap: BAD: frame $frame: crc: "* ]]
}

@test "verify: a part that Wireshark saved is verified as a part" {
    needs tshark
    make_capture good.pcapng messages=20
    tshark -r good.pcapng -Y 'frame.interface_name contains "a3,4/"' -w part.pcapng 2>/dev/null
    verify part.pcapng --part
    run verify part.pcapng
    [ "$status" -eq 1 ]
}

@test "verify: reads a pipe" {
    make_capture good.pcapng
    verify - <good.pcapng | grep -qx -e "-: good"
}

@test "verify: frames before the end of a truncated file are verified" {
    make_capture good.pcapng
    head -c 100001 good.pcapng >cut.pcapng
    run --separate-stderr verify cut.pcapng
    [ "$status" -eq 0 ] && [ -z "$stderr" ]
    [ "${lines[0]}" = "cut.pcapng: good" ]
    [[ $output == *" the file is cut off at byte "*", within a block: what was in flight there is not missing"* ]]
    verify cut.pcapng --json - | json_holds '.passed and .frames > 0 and .cut_at <= 100001 and .cut_at > 90000'
    run verify cut.pcapng --whole
    [ "$status" -eq 1 ]
    make_capture broken.pcapng break=vc
    head -c -7 broken.pcapng >cut.pcapng
    run verify cut.pcapng
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == "cut.pcapng: BAD: frame "*": vc: "* ]]
}

@test "verify: a capture without a frame is not good" {
    make_capture good.pcapng
    editcap -r good.pcapng empty.pcapng 2000000 2>/dev/null || skip "editcap is not installed"
    run --separate-stderr verify empty.pcapng
    [ "$status" -eq 1 ] && [ -z "$stderr" ]
    [ "${lines[0]}" = "empty.pcapng: NOT CHECKED: it has no frame of a fabric" ]
    run verify empty.pcapng --json -
    [ "$status" -eq 1 ]
    json_holds '.passed == false and .frames == 0 and .findings == []' <<<"$output"
}

@test "verify: bad files end in one line" {
    make_capture good.pcapng
    head -c 300 good.pcapng >cut.pcapng
    run --separate-stderr verify cut.pcapng
    [ "$status" -eq 3 ] && [ -z "$output" ]
    [[ $stderr == "hxmesh: error: cut.pcapng: at byte 300: the file ends within a block that begins at byte "* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    echo "not a capture" >text.pcapng
    refused 3 "text.pcapng: at byte 0: neither pcapng nor pcap: it begins with 6e6f7420" verify text.pcapng
    gzip -c good.pcapng >good.pcapng.gz
    refused 3 "good.pcapng.gz: at byte 0: compressed (unpack it first)" verify good.pcapng.gz
    : >empty.pcapng
    refused 3 "empty.pcapng: at byte 0: not a capture file: fewer than 4 bytes" verify empty.pcapng
    refused 3 "none.pcapng: cannot be read: No such file or directory" verify none.pcapng
    make_capture odd.pcapng "comment=hxmesh fabric: 4x4 Hx2Mesh planes=9"
    run --separate-stderr verify odd.pcapng
    [ "$status" -eq 3 ]
    [[ $stderr == "hxmesh: error: odd.pcapng: section comment: planes: "* ]]
    refused 2 "hxmesh verify: give --part or --whole, not both" verify good.pcapng --part --whole
}

@test "verify: text of mergecap behind the comment is not of the fabric" {
    needs mergecap
    make_capture one.pcapng
    mergecap -w merged.pcapng one.pcapng
    verify merged.pcapng --json - | json_holds '.passed and .spec == "4x4 Hx2Mesh"'
}

@test "verify: a named fabric replaces an unreadable comment, and credits its buffer" {
    make_capture one.pcapng messages=10
    sed 's|4x4 H2x2Mesh|4x4 H2x2Nash|' one.pcapng >wrong.pcapng
    run -3 verify wrong.pcapng
    [[ $output == *"wrong.pcapng: section comment: "* ]]
    verify wrong.pcapng --spec "4x4 Hx2Mesh" --credits 64 --json - | json_holds '.spec == "4x4 Hx2Mesh"'
    trace wrong.pcapng --spec "4x4 Hx2Mesh" --json - | json_holds '.spec == "4x4 Hx2Mesh"'
    "$HXMESH" run "2x2 Hx2Mesh" --clock virtual -q --capture run.pcapng
    verify run.pcapng --spec "2x2 Hx2Mesh" --json - | json_holds .passed
    run -1 verify run.pcapng --spec "2x2 Hx2Mesh" --credits 32
    [[ $output == *": credit: "* ]]
}

@test "verify: verify and trace do not overwrite the file that they read" {
    make_capture one.pcapng
    cp one.pcapng before.pcapng
    ln -s one.pcapng link
    run -2 --separate-stderr verify one.pcapng --json link
    [ "$stderr" = "hxmesh: error: --json: 'link' is the file that is read, and would be overwritten" ]
    run -2 --separate-stderr trace one.pcapng --timeline one.pcapng
    [ "$stderr" = "hxmesh: error: --timeline: 'one.pcapng' is the file that is read, and would be overwritten" ]
    run -2 --separate-stderr "$HXMESH" replay one.pcapng -i lo --json one.pcapng
    [ "$stderr" = "hxmesh: error: --json: 'one.pcapng' is the file that is read, and would be overwritten" ]
    cmp one.pcapng before.pcapng
}

@test "verify: names with invalid UTF-8 are in the JSON all the same, and no terminal codes are in a port's name" {
    make_capture one.pcapng
    local name=$'lat\xe9.pcapng'
    LC_ALL=C sed 's|a0,0/p0/E|\x1b[31mX\xff\x07x|g' one.pcapng >"$name"
    verify "$name" --part --json verdict || true
    json_holds '.file == "lat?.pcapng"' <verdict
    trace "$name" --from 0,0 --json - >traced
    json_holds '.file == "lat?.pcapng" and ([.hops[].hops[].out.port] | any(. == "?[31mX??x"))' <traced
    trace "$name" --from 0,0 --most 1000 >text
    run -1 grep -q $'\x1b' text
    grep -qF '?[31mX??x' text
}

@test "verify: no legal capture of random runs is refused" {
    needs editcap
    local seed
    for seed in 10 25 38 100; do # duplicates with a delay, a network that returns unrecorded packets, damage with a delay
        LIVE=0 "$BATS_TEST_DIRNAME/verify_random.bash" 1 $seed
    done
}

@test "verify: a capture contains its graph: the file is not opened, and may be moved, changed or deleted" {
    mkdir there elsewhere
    printf '%s\n' "host h0" "host h1" "host h2" "switch s" "h0,s" "h1,s" "h2,s" >there/star.csv
    (cd there && "$HXMESH" run "graph star.csv" --clock virtual -q --fault "all up" --capture ../run.pcapng)
    (cd elsewhere && verify ../run.pcapng --json -) | json_holds '.passed and (.spec | startswith("graph star.csv")) and .verified.nodes == 4'
    mkfifo star.csv # without a writer
    timeout 600 "$HXMESH-verify" --quiet run.pcapng | grep -qx "run.pcapng: good"
    timeout 600 "$HXMESH-trace" --quiet run.pcapng | grep -q " 0 missing"
    rm -r star.csv there
    # A capture of another program, without the graph: its user names it.
    make_capture plain.pcapng "comment=hxmesh fabric: graph star.csv ; planes=1"
    mkfifo star.csv
    run -3 --separate-stderr timeout 600 "$HXMESH-verify" --quiet plain.pcapng
    [ "$stderr" = "hxmesh: error: plain.pcapng: section comment: the contents of 'graph star.csv' are not in it (give them by --spec 'graph FILE')" ]
}
