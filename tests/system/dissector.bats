# dissector.bats - tools/wireshark/hxmesh.lua, run by tshark.

load capture_support

DISSECTOR=$BATS_TEST_DIRNAME/../../tools/wireshark/hxmesh.lua

setup() {
    needs tshark
    cd "$BATS_TEST_TMPDIR" || return 1
}

# Without tshark's warning about root.
dissect() { tshark -X "lua_script:$DISSECTOR" "$@" 2> >(grep -v "^Running as user" >&2); }

@test "dissector: every frame is dissected, none is malformed" {
    make_capture memory.pcapng x=2 y=2 planes=2 bytes=9000 messages=1
    make_capture wire.pcapng x=2 y=2 wire=1 credits=32
    for file in memory.pcapng wire.pcapng; do
        frames=$(capinfos -Mc $file | awk '/Number of packets/ { print $NF }')
        run --separate-stderr dissect -r $file -T fields -e frame.number -Y "hxmesh || hxmesh_credit"
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
        [ "${#lines[@]}" -eq "$frames" ]
        bad='_ws.malformed || _ws.lua.error || _ws.expert.severity >= "Warning"'
        [ -z "$(dissect -o hxmesh.check_crc:TRUE -r $file -Y "$bad")" ]
    done
}

# bats test_tags=all
@test "dissector: fields have the values of the frame" {
    make_capture run.pcapng bytes=9000 messages=1
    # The second packet of message 0 from 5,6, at its injection.
    run dissect -o hxmesh.check_crc:TRUE -r run.pcapng -T fields -E separator=, -e hxmesh.src -e hxmesh.src_addr_hi -e hxmesh.src_addr_lo \
        -e hxmesh.message -e hxmesh.offset -e hxmesh.message_packets -e hxmesh.length -e hxmesh.blocks -e hxmesh.kind \
        -e hxmesh.vc -e hxmesh.hops -e hxmesh.plane -e hxmesh.epoch -e hxmesh.tag -e hxmesh.crc.status -e hxmesh.port \
        -Y 'hxmesh.src == "a5,6" && hxmesh.message == 0 && hxmesh.offset == 1 && hxmesh.hops == 0 && hxmesh.kind == 1'
    [ "${#lines[@]}" -eq 1 ]
    [ "${lines[0]}" = '"a5,6",5,6,0,1,2,808,4,1,0,0,0,0x00000001,0x00000035,1,"a5,6/p0/local"' ] ||
        [ "${lines[0]}" = 'a5,6,5,6,0,1,2,808,4,1,0,0,0,0x00000001,0x00000035,1,a5,6/p0/local' ]
    # Old names of the address are filters too.
    local old='hxmesh.src_d0 == 5 && hxmesh.src_d1 == 6 && hxmesh.dst_d0 >= 0 && hxmesh.dst_d1 >= 0'
    [ "$(dissect -r run.pcapng -T fields -e hxmesh.src -Y "$old" | sort -u)" = a5,6 ]
    old='hxmesh.dst_d0 != hxmesh.dst_addr_hi || hxmesh.dst_d1 != hxmesh.dst_addr_lo'
    [ -z "$(dissect -r run.pcapng -Y "$old")" ]
}

@test "dissector: the packet list of the profile has port, direction, VC and packet, which trace takes" {
    make_capture run.pcapng bytes=9000 messages=1
    local folder line packet
    folder=$(dirname "$DISSECTOR")
    line=$(WIRESHARK_CONFIG_DIR=$folder tshark -C HammingMesh -X "lua_script:$DISSECTOR" -r run.pcapng \
        -Y 'hxmesh.src == "a5,6" && hxmesh.offset == 1 && hxmesh.kind == 1 && hxmesh.vc == 1' -T tabs 2>/dev/null | head -n 1)
    IFS=$'\t' read -r _ _ port direction vc _ packet _ <<<"$line"
    [[ $port == */p0/* && $direction =~ ^(in|out)$ && $vc -eq 1 && $packet == a5,6,a*,0,1 ]]
    trace run.pcapng --packet "$packet" --json - | json_holds '(.hops | length) == 1 and .hops[0].from == [5, 6] and .hops[0].offset == 1'
    # Also as columns of the command line.
    [ "$(dissect -r run.pcapng -c 1 -T fields -e hxmesh.packet -e hxmesh.direction)" != "" ]
}

@test "dissector: credit frames" {
    make_capture wire.pcapng wire=1 credits=32 messages=1
    run dissect -r wire.pcapng -T fields -e hxmesh_credit.nonce -e hxmesh_credit.limit -e hxmesh_credit.crc.status \
        -Y 'hxmesh_credit && hxmesh_credit.peer_nonce != 0 && frame.number < 4000'
    [ "${#lines[@]}" -gt 100 ]
    grep -qxE '0x123456789abcde[0-9a-f]{2} [0-9]+,[0-9]+,[0-9]+ 1' <<<"${lines[0]//$'\t'/ }"
}

# bats test_tags=all
@test "dissector: repeats, acknowledgements and conversations" {
    make_capture lossy.pcapng x=2 y=2 messages=10 wire=1 credits=32 lose=20
    repeats=$(dissect -r lossy.pcapng -T fields -e hxmesh.retransmission_of -Y hxmesh.retransmission)
    [ -n "$repeats" ]
    run dissect -2 -r lossy.pcapng -T fields -e frame.number -e hxmesh.stream -e hxmesh.acknowledged_in \
        -Y "hxmesh.acknowledged_in && hxmesh.hops == 0"
    [ "${#lines[@]}" -gt 30 ]
    read -r frame stream answer <<<"${lines[7]}"
    [ "$(dissect -r lossy.pcapng -T fields -e hxmesh.acknowledges -Y "frame.number == $answer")" = "$frame" ]
    # All kinds of a message form one stream.
    kinds=$(dissect -r lossy.pcapng -T fields -e hxmesh.kind -Y "hxmesh.stream == $stream" | sort -u | tr '\n' ' ')
    [ "$kinds" = "1 2 " ]
}

@test "dissector: a packet links to its previous frame" {
    make_capture run.pcapng x=2 y=2 messages=1
    dissect -r run.pcapng -T fields -e frame.number -e hxmesh.previous -e hxmesh.hops -e hxmesh.src -e hxmesh.stream >table
    # Every frame but the injected ones links to one of the same packet, half a hop earlier.
    awk -F "\t" '{ hops[$1] = $3; packet[$1] = $4 " " $5 }
        $2 == "" { first++; if ($3 != 0) exit 1; next }
        packet[$2] != packet[$1] || $3 < hops[$2] || $3 > hops[$2] + 1 { exit 1 }
        END { exit first != 32 }' table
}

# bats test_tags=all
@test "dissector: expert information names errors" {
    while read -r rule expert; do
        frame=$(make_capture broken.pcapng x=2 y=2 messages=5 break="$rule")
        found=$(dissect -o hxmesh.check_crc:TRUE -r broken.pcapng -T fields -e frame.number -Y "$expert")
        [ "$found" = "$frame" ] || { echo "$rule: '$found', not $frame" && return 1; }
    done <<'END'
header hxmesh.via > 0
crc hxmesh.bad_crc
delivery hxmesh.doubled
END
}

@test "dissector: statistics by port and VC" {
    make_capture run.pcapng
    dissect -X lua_script1:stats -q -r run.pcapng >table
    frames=$(capinfos -Mc run.pcapng | awk '/Number of packets/ { print $NF }')
    [ "$(awk 'NR > 1 { sum += $4 + $5 } END { print sum }' table)" -eq "$frames" ]
    grep -q "^a0,0/p0/local  *in  *0 " table
}

@test "dissector: frames cut by the snap length, and cut in the middle of the header" {
    make_capture short.pcapng snaplen=64
    [ -z "$(dissect -r short.pcapng -Y '_ws.malformed || _ws.lua.error')" ]
    editcap -s 40 short.pcapng cut.pcapng 2>/dev/null
    run --separate-stderr dissect -r cut.pcapng -Y '_ws.lua.error'
    [ "$status" -eq 0 ] && [ -z "$output" ] && [ -z "$stderr" ]
}

# bats test_tags=all
@test "dissector: any bytes end in a frame, not in a Lua error" {
    make_capture run.pcapng x=2 y=2 wire=1 messages=1
    for seed in 1 2 3; do
        editcap --seed $seed -E 0.05 run.pcapng spoilt.pcapng 2>/dev/null
        run --separate-stderr dissect -o hxmesh.check_crc:TRUE -r spoilt.pcapng -V
        [ "$status" -eq 0 ]
        ! grep -q "Lua Error" <<<"$output$stderr" || { grep -m 1 "Lua Error" <<<"$output$stderr" && return 1; }
    done
}

# wire_example KIND TAG: the example frame of docs/wire-format.md for text2pcap, with these bytes behind it.
wire_example() {
    sed -n "/^\`\`\`text $1\$/,/^\`\`\`\$/p" "$BATS_TEST_DIRNAME/../../docs/wire-format.md" | grep -E '^[0-9A-F]{4} ' | cut -c 7-30 |
        { cat && echo "$2"; } | tr -s ' \n' ' ' | sed 's/^/0000 /; $s/$/\n/'
}

@test "dissector: sixteen bytes behind a frame are its authentication tag, fewer or more are padding" {
    needs text2pcap
    local seal="00 00 00 00 00 00 01 07 FE DC BA 98 76 54 32 10"
    {
        wire_example data "$seal"
        wire_example credit "$seal"
        wire_example data "${seal% *}"
        wire_example data "$seal 00"
    } >frames.txt
    text2pcap -q frames.txt frames.pcap
    run --separate-stderr dissect -o hxmesh.check_crc:TRUE -r frames.pcap -T fields -E separator=, -e hxmesh.seal.number -e hxmesh.seal.hash \
        -e hxmesh_credit.seal.number -e hxmesh_credit.seal.hash -e hxmesh.padding -e _ws.malformed
    [ "${lines[0]}" = "263,0xfedcba9876543210,,,," ]
    [ "${lines[1]}" = ",,263,0xfedcba9876543210,," ]
    [ "${lines[2]}" = ",,,,$(tr -d ' ' <<<"${seal% *}" | tr 'A-F' 'a-f')," ]
    [ "${lines[3]}" = ",,,,$(tr -d ' ' <<<"$seal" | tr 'A-F' 'a-f')00," ]
    [ -z "$(dissect -o hxmesh.check_crc:TRUE -r frames.pcap -Y '_ws.malformed || _ws.lua.error || _ws.expert.severity >= "Error"')" ]
    # The verifier does not take a tag for a part of a frame.
    verify frames.pcap --json - | json_holds '.passed and .findings == []'
}

# dissect_frames ARGS...: dissects the frames of frames.txt.
dissect_frames() {
    text2pcap -q frames.txt frames.pcap
    run -0 --separate-stderr dissect -o hxmesh.check_crc:TRUE -r frames.pcap "$@"
    [ -z "$stderr" ]
}

@test "dissector: notice frames" {
    needs text2pcap
    {
        wire_example notice ""
        wire_example notice "00 00 00 00 00 00 01 07 FE DC BA 98 76 54 32 10"
    } >frames.txt
    dissect_frames -T fields -E "separator=;" -e hxmesh_notice.kind -e hxmesh_notice.plane -e hxmesh_notice.count \
        -e hxmesh_notice.node -e hxmesh_notice.sequence -e hxmesh_notice.dead -e hxmesh_notice.dead.port \
        -e hxmesh_notice.digest -e hxmesh_notice.nonce -e hxmesh_notice.peer_nonce -e hxmesh_notice.crc.status \
        -e hxmesh_notice.seal.number
    local fields="2;0;2;5,16;3,1;0x0000000000000001,0x0000000000000002;0,1"
    fields+=";0x310158107d2d93f3;0x655f3a019c40e217;0x0bd173a84405fe62;1;"
    [ "${lines[0]}" = "$fields" ] || { echo "${lines[0]}" && return 1; }
    [ "${lines[1]}" = "${fields}263" ]
    dissect_frames -T fields -e _ws.col.Info
    [ "${lines[0]}" = "notices, 2: node 5 #3 dead ports 0, node 16 #1 dead ports 1, digest 310158107d2d93f3" ]
    dissect_frames -V
    grep -q "Ports with a dead link: 0x0000000000000001 (of an accelerator: E)" <<<"$output"
    dissect_frames -Y 'hxmesh_credit || _ws.malformed || _ws.lua.error || _ws.expert.severity >= "Warning"'
    [ -z "$output" ]
    # The verifier takes them too.
    wire_example credit "" >>frames.txt
    text2pcap -q frames.txt frames.pcap
    verify frames.pcap --json - | json_holds '.passed and .findings == []'
}

# spoilt OFFSET BYTE...: the example notice frame with these bytes from there on; OFFSET in decimal.
spoilt() {
    local bytes at=$1
    read -ra bytes <<<"$(wire_example notice "")"
    for byte in "${@:2}"; do
        bytes[1 + at++]=$byte
    done
    printf '%s\n\n' "${bytes[*]}"
}

@test "dissector: expert information names errors of notice frames" {
    needs text2pcap
    local -a expected=()
    case_of() { # EXPERT OFFSET BYTE...
        spoilt "${@:2}" >>frames.txt
        expected+=("$1")
    }
    case_of hxmesh_notice.bad_crc 52 32
    case_of hxmesh_notice.bad_version 14 03
    case_of hxmesh_credit.bad_field 15 03 # an unknown kind
    case_of hxmesh_notice.bad_field 17 05
    case_of hxmesh_notice.short 17 04
    case_of hxmesh_notice.bad_field 16 04
    case_of hxmesh_notice.reserved_set 18 01
    case_of hxmesh_notice.bad_field 24 00 00 00 00 # sequence
    case_of hxmesh_notice.bad_field 60 00 00 00 00 00 00 00 00 # nonce
    case_of hxmesh_notice.bad_mac 0 02
    local number=0
    for expert in "${expected[@]}"; do
        number=$((number + 1))
        dissect_frames -T fields -e frame.number -Y "frame.number == $number && $expert"
        [ "$output" = "$number" ] || { echo "frame $number has no $expert" && return 1; }
    done
    dissect_frames -Y _ws.lua.error
    [ -z "$output" ]
    # The verifier names the same frames.
    run verify frames.pcap --json -
    json_holds "[.findings[].frame] == [range(1; $((number + 1)))]" <<<"$output" || { echo "$output" && return 1; }
}
