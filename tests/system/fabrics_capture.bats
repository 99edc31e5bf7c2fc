# asan
# fabrics_capture.bats - captured runs of other fabrics: hxmesh verify finds them good, or names the broken frame;
# hxmesh trace misses nothing; Wireshark reads them.

load emulator_support

FABRICS=("fat-tree hosts=16 radix=8" "torus 4x3" "torus 3x2x2" "torus 2x3x2x2" "hyperx 2x3 p=1" "dragonfly a=3 p=1 h=2 groups=3"
    "slim-fly q=3 p=1" "Ring(3)_Switch(2)" "graph ring.csv")
DISSECTOR=$BATS_TEST_DIRNAME/../../tools/wireshark/hxmesh.lua

setup() {
    fresh_name
    cd "$BATS_TEST_TMPDIR" || return 1
    FILE="$BATS_TEST_TMPDIR/run.pcapng"
    printf '%s\n' s0,s1 s1,s2 s2,s3 s3,s4 s4,s0 s0,h0 s1,h1 s2,h2 s3,h3 s4,h4 >ring.csv
}

teardown() { end_started; }

# captured FABRIC CLOCK [MORE...]: captures a run into $FILE.
captured() {
    rm -f "$FILE"
    report "$1" --clock "$2" -m 9000 --capture "$FILE" "${@:3}"
    holds '.complete and .packets_lost == 0'
}

judged_good() {
    local verdict
    verdict=$("$HXMESH-verify" --quiet "$FILE" --json -)
    jq --exit-status --arg fabric "$1" '.passed and .spec == $fabric and .injected == .delivered and .injected > 0 and
        .findings == [] and .verified.nodes > 0 and .verified.links > 0' <<<"$verdict" || {
        echo "$1: $verdict"
        return 1
    }
}

traced_whole() {
    "$HXMESH-trace" --quiet "$FILE" --json - | jq --exit-status --arg fabric "$1" '.spec == $fabric and
        .packets.seen > 0 and .packets.delivered == .packets.seen and .packets.missing == 0 and
        .packets.out_of_sight == 0'
}

# bats test_tags=all
@test "fabrics, captured: good under the wall clock, and nothing is missing" {
    for fabric in "${FABRICS[@]}"; do
        captured "$fabric" wall
        judged_good "$fabric"
        traced_whole "$fabric"
    done
}

# bats test_tags=all
@test "fabrics, captured: good under the virtual clock, and nothing is missing" {
    for fabric in "${FABRICS[@]}"; do
        captured "$fabric" virtual
        judged_good "$fabric"
        traced_whole "$fabric"
    done
}

@test "fabrics, captured: two planes" {
    captured "fat-tree hosts=16 radix=8" wall --planes 2
    judged_good "fat-tree hosts=16 radix=8"
}

@test "fabrics, captured: a broken frame is named" {
    for fabric in "fat-tree hosts=16 radix=8" "dragonfly a=3 p=1 h=2 groups=3" "hyperx 3x3 p=1"; do
        captured "$fabric" virtual
        while read -r what rule; do
            frame=$("$(dirname "$HXMESH")/tests/system/break_capture" "$FILE" broken.pcapng "$what")
            run "$HXMESH-verify" --quiet broken.pcapng
            [ "$status" -eq 1 ]
            [[ "${lines[0]}" == "broken.pcapng: BAD: frame $frame: $rule: "* ]] || {
                echo "$fabric, $what at frame $frame, but: ${lines[0]}"
                return 1
            }
        done <<END
vc vc
hops hops
detour distance
lost delivery
END
        run "$HXMESH-trace" --quiet broken.pcapng --json -
        jq --exit-status '.packets.missing == 1' <<<"$output"
    done
}

is_listed() { "$HXMESH" capture --list | is_so ".fabrics | any(.name == \"$NAME\")"; }

# bats test_tags=all
@test "fabrics, captured: a capture may join any running fabric, and its frames are good" {
    for fabric in "${FABRICS[@]}"; do
        rm -f "$FILE"
        start "$fabric" --traffic uniform --duration 60s --workers 2
        await_traffic
        hxmesh capture --name "$NAME" --port 'a*' --count 500 --write "$FILE" --quiet
        end_long
        [ "$(tshark -r "$FILE" 2>/dev/null | wc -l)" -eq 500 ]
        "$HXMESH-verify" --quiet "$FILE" --json - | jq --exit-status --arg fabric "$fabric" '.passed and
            .spec == $fabric and .findings == [] and .verified.data_frames == 500 and .verified.checksums == 500'
    done
}

# has_come N: so many of the long replayed frames were delivered to hosts.
has_come() { [ "$(tshark -r again.pcapng -Y 'frame.packet_flags_direction == 2' 2>/dev/null | wc -l)" -ge "$1" ]; }

# bats test_tags=all
@test "fabrics, captured: frames of a host are replayed into any fabric, and reach all others" {
    local others
    for fabric in "${FABRICS[@]}"; do
        captured "$fabric" wall
        others=$(($(jq .accelerators "$REPORT") - 1))
        start "$fabric" --traffic permutation --message 1 --count 0 --rate 0.000001 --duration 60s --workers 2 \
            --capture again.pcapng --capture-ports '*/local' --capture-filter 'greater 1000'
        eventually is_listed
        hxmesh replay "$FILE" --name "$NAME" --port 'a0,0/p0/local' --from 'a0,0/p0/local' --direction in \
            --filter 'greater 1000' --as-fast-as-possible --json sent.json
        jq --exit-status --argjson others "$others" '.sent == $others' sent.json
        eventually has_come "$others"
        end_long
    done
}

# bats test_tags=all
@test "fabrics, captured: Wireshark's dissector reads them" {
    command -v tshark >/dev/null || skip "tshark is not installed"
    captured "fat-tree hosts=16 radix=8" wall
    run --separate-stderr tshark -X "lua_script:$DISSECTOR" -o hxmesh.check_crc:TRUE -r "$FILE" -T fields -e hxmesh.port -Y hxmesh
    [ "${#lines[@]}" -eq "$(jq .capture.accepted "$REPORT")" ]
    printf '%s\n' "${lines[@]}" | grep -q '^spine0/p0/0$'
    bad='_ws.malformed || _ws.lua.error || _ws.expert.severity >= "Warning"'
    run --separate-stderr tshark -X "lua_script:$DISSECTOR" -o hxmesh.check_crc:TRUE -r "$FILE" -Y "$bad"
    [ -z "$output" ]
}
