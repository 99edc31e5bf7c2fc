# extcap.bats - tools/wireshark/hxmesh-extcap: a running fabric as an interface of Wireshark.

load capture_support

EXTCAP=$BATS_TEST_DIRNAME/../../tools/wireshark/hxmesh-extcap
export HXMESH

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    "$HXMESH" capture --help >capture.help || skip "this hxmesh cannot capture"
}

# start_fabric [SPEC]: starts a fabric that ends with the test; its interface is in $interface.
start_fabric() {
    "$HXMESH" run "${1:-2x2 Hx2Mesh}" --name "extcap$$" --duration 60s --message 8KiB --quiet --json fabric.json 3>&- &
    fabric=$!
    interface=hxmesh-extcap$$
    for _ in $(seq 100); do
        ! "$EXTCAP" --extcap-interfaces | grep -q "{value=$interface}" || return 0
        sleep 0.1
    done
    return 1
}

teardown() {
    if [ -n "${fabric:-}" ]; then
        kill -INT "$fabric" 2>/dev/null || true
        wait "$fabric" || true
    fi
}

@test "extcap: lists fabrics, link type and options" {
    start_fabric
    run "$EXTCAP" --extcap-interfaces --extcap-version=4.0
    [ "${lines[0]}" = "extcap {version=1.0}{display=hxmesh fabrics}" ]
    [[ $output == *"interface {value=$interface}{display=2x2 Hx2Mesh extcap$$}"* ]]
    run "$EXTCAP" --extcap-dlts --extcap-interface "$interface"
    [ "$output" = "dlt {number=1}{name=EN10MB}{display=Ethernet}" ]
    run "$EXTCAP" --extcap-config --extcap-interface "$interface"
    [[ $output == *"{call=--ports}"* && $output == *"{call=--snaplen}"* ]]
    # 16 accelerators of 5 ports, and 4 lines of 4 network ports in each dimension
    [ "$(grep -c '^value {arg=1}{value=[a-z]' <<<"$output")" -eq $((16 * 5 + 2 * 4 * 4)) ]
}

@test "extcap: lists a fabric of any name" {
    start_fabric "fat-tree hosts=16 radix=8"
    run "$EXTCAP" --extcap-interfaces --extcap-version=4.0
    [[ $output == *"interface {value=$interface}{display=fat-tree hosts=16 radix=8 extcap$$}"* ]]
}

@test "extcap: captures into the given pipe" {
    start_fabric
    mkfifo pipe
    timeout 120 cat pipe >taken.pcapng 3>&- &
    reader=$!
    timeout 120 "$EXTCAP" --capture --extcap-interface "$interface" --fifo pipe --ports 'a0,0/*' --snaplen 64 \
        --extcap-capture-filter 'ether dst 02:00:00:01:00:01' 3>&- &
    writer=$!
    for _ in $(seq 100); do
        [ "$(tshark -r taken.pcapng -c 1 -T fields -e frame.number 2>/dev/null)" != 1 ] || break
        sleep 0.1
    done
    kill -TERM "$writer" 2>/dev/null || true
    wait "$writer" || true
    wait "$reader"
    "$HXMESH-verify" --quiet --part taken.pcapng --json - | json_holds '.passed and .ports == 5'
}

@test "extcap: explains that Wireshark calls it" {
    run -1 "$EXTCAP"
    [[ $output == "hxmesh-extcap: an extcap program"* ]]
    run -1 "$EXTCAP" --capture
    [[ $output == *"--capture needs --extcap-interface and --fifo" ]]
}
