#!/usr/bin/env bats
# cortex_m.bats - the firmware on a microcontroller: the conformance kit and a fabric in one image, in QEMU.

bats_require_minimum_version 1.5.0

IMAGE="$(dirname "${HXMESH:-build/hxmesh}")/tests/kit-cortex-m7.elf"

setup() {
    [ -e "$IMAGE" ] || skip "no image: its compiler is not installed (package gcc-arm-none-eabi)"
    command -v qemu-system-arm >/dev/null || skip "no QEMU (package qemu-system-arm)"
}

# Instructions are the clock, so every run is the same.
board() {
    timeout 300 qemu-system-arm -M mps2-an500 -display none -nodefaults -monitor none -serial stdio \
        -semihosting-config enable=on,target=native -icount shift=5 -kernel "$1" 2>/dev/null
}

# is_said README BARE_METAL IS: the number at @ in these pages is IS, within a twentieth.
is_said() {
    local page words said
    for page in README.md docs/bare-metal.md; do
        words=$([ "$page" = README.md ] && echo "$1" || echo "$2")
        said=$(tr '\n' ' ' <"$BATS_TEST_DIRNAME/../../$page" | grep -oE "${words/@/[0-9,]+}" | head -n 1 | tr -cd 0-9)
        if [ $((said * 20)) -lt $(($3 * 19)) ] || [ $((said * 20)) -gt $(($3 * 21)) ]; then
            echo "$page says $said, it is $3: $words"
            return 1
        fi
    done
}

@test "Cortex-M: boots, passes every clause of the conformance kit, and runs a fabric of its own" {
    run board "$IMAGE"
    echo "$output"
    [ "$status" -eq 0 ]
    clauses=$("$(dirname "$IMAGE")/conformance" --list | wc -l)
    [ "${lines[0]}" = "$clauses clauses of the contract tried, 0 broken" ]
    # Three accelerators in a row: of the six paths between them four pass two switches and two pass three, 14 together.
    # Each is used six times; 50,000 bytes are seven packets, and each message has one acknowledgement.
    [[ ${lines[1]} =~ ^"a row of 3 accelerators: 36 of 36 messages of 50000 bytes, 0 wrong bytes, 0 failed, 0 drops and repetitions; "([0-9]+)" packet-hops, "([0-9]+)" ticks each in the switch"$ ]]
    [ "${BASH_REMATCH[1]}" -eq $((6 * 14 * (7 + 1))) ]
    [[ ${lines[2]} =~ ^"a row of 3 accelerators: 36 of 36 messages of 8 bytes, 0 wrong bytes, 0 failed, 0 drops and repetitions; "([0-9]+)" packet-hops, "([0-9]+)" ticks each in the switch"$ ]]
    [ "${BASH_REMATCH[1]}" -eq $((6 * 14 * (1 + 1))) ]
    [ "${BASH_REMATCH[2]}" -gt 0 ]
    [[ ${lines[3]} =~ ^"memory of a 4x4 Hx2Mesh's accelerator: switch "([0-9]+)" bytes, routes 16, endpoint that knows all "([0-9]+)$ ]]
    is_said "gets @ bytes for its switch" "switch @ bytes, routes" "${BASH_REMATCH[1]}"
    is_said "@ for an endpoint" "endpoint that knows all @" "${BASH_REMATCH[2]}"
    [[ ${lines[4]} =~ ^"stack "([0-9]+)" bytes"$ ]]
    [ "${BASH_REMATCH[1]}" -lt 8192 ]
    is_said "@ bytes of stack" "stack @ bytes" "${BASH_REMATCH[1]}"
}

# bats test_tags=all
@test "Cortex-M: its counter and its stack are the same each time" {
    first=$(board "$IMAGE")
    [ "$(board "$IMAGE")" = "$first" ]
}
