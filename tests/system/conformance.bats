# conformance.bats - the conformance kit: every platform keeps the contract, and for broken copies of the example port
# the kit names the violated clause.

load tools_support

setup_file() { export OUT=$BATS_FILE_TMPDIR; }

setup() { cd "$BATS_TEST_DIRNAME/../.." || return; }

# try FOLDER: builds and runs the kit on the port in FOLDER.
try() { run make --silent -f hal/conformance/Makefile PORT="$1" OUT="$OUT/${1##*/}-out" CFLAGS=-O0; }

# broken "FILE SED-COMMAND" ... -- CLAUSE...: for the example port with these changes the kit names these clauses, each
# in a line.
broken() {
    local port=$OUT/broken change file
    rm -rf "$port" # compiled files without content of the port stay
    cp -r hal/loopback "$port"
    for (( ; $# > 0; )); do
        change=$1
        shift
        [ "$change" != -- ] || break
        file=${change%% *}
        cp "$port/$file" "$OUT/before"
        sed -i "${change#* }" "$port/$file"
        ! cmp -s "$OUT/before" "$port/$file" || { echo "nothing changed by $change"; return 1; }
    done
    try "$port"
    [ "$status" -ne 0 ] || { echo "$output"; return 1; }
    for clause in "$@"; do
        grep -qF "$clause" <<<"$output" || { echo "not said: $clause"; echo "$output"; return 1; }
    done
    # Consequences may be reported too, but a broken port is not blamed for everything.
    [ "$(grep -c '(hal.h: ' <<<"$output")" -le $(($# + 3)) ] || { echo "$output"; return 1; }
}

# keeps PLATFORM: the platform keeps every clause.
keeps() {
    run "${HXMESH%/*}/tests/conformance-$1"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *" clauses of the contract tried, 0 broken" ]]
}

@test "conformance: shared memory keeps every clause" {
    keeps shm
}

@test "conformance: the virtual clock keeps every clause" {
    keeps virtual
}

# EAL starts for each clause: some 8 s.
# bats test_tags=all
@test "conformance: DPDK keeps every clause" {
    pkg-config --exists libdpdk || skip "no libdpdk"
    keeps dpdk
}

@test "conformance: --help lists the options, and unknown ones are refused" {
    run -0 "${HXMESH%/*}/tests/conformance" --help
    [ "${lines[0]}" = "Usage: conformance [--list]" ]
    run -2 "${HXMESH%/*}/tests/conformance" --lisst
    [ "$output" = "conformance: error: --lisst: unknown argument (use --list or --help)" ]
}

@test "conformance: the example port keeps every clause, and each is in hal.h word by word" {
    run make --silent conformance PORT=hal/loopback BUILD="$OUT/build" CFLAGS=-O0
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [[ "$output" == *" clauses of the contract tried, 0 broken" ]]
    tr -s ' *\n' '   ' <include/hxmesh/hal.h | tr -s ' ' >"$OUT/contract"
    "$OUT/build/conformance/loopback/conformance" --list >"$OUT/clauses"
    [ "$(wc -l <"$OUT/clauses")" -ge 25 ]
    while IFS= read -r line; do
        clause=$(tr -s ' *' ' ' <<<"${line#*: }")
        grep -qF -- "$clause" "$OUT/contract" || { echo "not in hal.h: $line"; return 1; }
    done <"$OUT/clauses"
}

# bats test_tags=all
@test "conformance: credit that falls by less than a packet costs" {
    broken 'loopback.h s/cable_sent(&p->cable, d)/cable_sent(\&p->cable, \&(struct hx_desc){.vc = d->vc})/' -- \
        "hal_tx_credits: after hal_transmit of a packet of cost 3 on VC 0 room fell by 1, not 3 (hal.h: credit less what"
}

# bats test_tags=all
@test "conformance: arrivals beyond the window, no buffer for an acknowledgement, a wrong checksum, decreasing time" {
    broken 'hal_port.h s/return arrivals_shown(.*/return h->node.port[input].arrivals.arrived;/' 'hal_port.h s/urgent ? 0U : 1U/urgent \&\& 0/' \
        'hal_port.h s/return hx_crc32c(crc,/return hx_crc32c(crc \& 1,/' 'hal_port.h s/return h->node.now;/return -h->node.now;/' -- \
        "hal_arrived: 65 positions are ahead of the released ones; a window has 64 (hal.h: positions that have arrived" \
        "hal_buffer_get: none is left for an acknowledgement (urgent) after packets took 8" \
        "hal_crc32c: 2 bytes give 0x" \
        "hal_now: went back from "
}

# bats test_tags=all
@test "conformance: packets visible before the commit, hop counts that are not transmitted" {
    broken 'loopback.h s/    n->sent |= .*/&\n    loopback_wire_commit(p->out);/' 'loopback.h s/cable_write_hop(&p->cable, frame, d)/cable_write_hop(\&p->cable, frame, \&(struct hx_desc){.vc = d->vc})/' -- \
        "hal_commit: a packet is visible at the other end before the commit" \
        "hal_endpoint_commit: a packet is visible to the switch before the commit" \
        "hal_transmit: sent on VC 2 after 0 hops, it arrives as on VC 2 after 0"
}

# bats test_tags=all
@test "conformance: a commit that does nothing, credit that returns twice or never" {
    broken 'hal_port.h /void hal_commit/,/^}/s/loopback_commit.*/(void)h;/' \
        'hal_port.h s/held_or_gone & bit/(waiting | (held_or_gone \& 0)) \& bit/' \
        'hal_port.h /hal_ejected/,/^}/s/hx_credit_leave(.*/;/' -- \
        "hal_commit: a packet has not arrived after the commit" \
        "hal_release: afterwards packets of 132 credit units could be sent, none of which left, and at first there was room for 128" \
        "hal_ejected: packet 5 does not come, though all before it were taken and their buffers put back"
}

# bats test_tags=all
@test "conformance: detours that are not written, not transmitted, or forget the destination; queues and buffers of others" {
    broken 'hal_port.h /void hal_redirect/,/^}/s/d->dst_addr_lo = addr_lo;/(void)addr_lo;/' -- \
        "hal_redirect: afterwards the descriptor of hal_arrival has address 1,0, not 1,65535 (hal.h: sets the next address"
    broken 'loopback.h s/cable_write_hop(&p->cable, frame, d)/cable_write_hop(\&p->cable, frame, \&(struct hx_desc){.vc = d->vc, .hops = d->hops})/' -- \
        "hal_redirect: behind the link its address is 1,0, not 1,65535 (hal.h: sets the next address"
    broken 'hal_port.h s/    hx_frame_destination(.*/    *addr_hi = d->dst_addr_hi;\n    *addr_lo = d->dst_addr_lo;/' -- \
        "hal_destination: for a packet to 1,0 on a detour it is 1,65535 (hal.h: destination of the packet"
    broken 'hal_port.h s/return cable_occupancy(.*/return 0;/' 'hal_port.h s/return h->node.blocks;/return 2 * h->node.blocks;/' -- \
        "hal_output_occupancy: is 0 though the far end holds 3, on VC 0 to 0 (hal.h: credit units sent by" \
        "hal_vc_buffer: it is 256, and room on VC 0 of an idle link is 128 (hal.h: credit units of a VC"
}

@test "conformance: buffers that a drop keeps" {
    broken 'hal_port.h /^static inline void hal_drop/,/^}/s/loopback_buffer_put.*/(void)d;/' -- "hal_drop: of "
}

# bats test_tags=all
@test "conformance: stalls under one cause" {
    broken 'hal_port.h s/h->node.stalls\[cause\]++;/h->node.stalls[0] += 1 + 0 * cause;/' -- \
        "hal_stall: of cause 0 it counts 2 packets, not 1 (hal.h: counts a packet that begins to wait, and its cause.)"
}

# bats test_tags=all
@test "conformance: the first violation is the cause: credit that never returns is not hal_drop's fault" {
    broken 'hal_port.h /void loopback_release/,/^}/s/hx_credit_leave(.*/;/' -- \
        "hal_release: room is 116 after four packets have left, the second last, and was 128 before"
    [[ ${lines[0]} == hal_release:* ]]
}

# bats test_tags=all
@test "conformance: a violation is reported once, for its function, and the other clauses are tried" {
    local puts_again='s/loopback_buffer_put.*/&&/' writes='s/loopback_buffer_put.*/& *(volatile int *)0 = 1;/'
    broken "hal_port.h /^static inline void hal_drop/,/^}/$puts_again" -- \
        "hal_drop: a buffer came back twice (hal.h: frees the buffer and counts the reason.)"
    [ "${#lines[@]}" -le 3 ] && [[ $output == *" clauses of the contract tried, "*" broken"* ]]
    broken "hal_port.h /^static inline void hal_buffer_put/,/^}/$puts_again" -- "hal_buffer_put: a buffer came back twice (hal.h: "
    [[ $output == *" clauses of the contract tried, "*" broken"* ]]
    broken "hal_port.h /^static inline void hal_drop/,/^}/$writes" -- \
        "hal_drop: ends in a crash (hal.h: frees the buffer and counts the reason.)"
    [[ $output != *"hal_consumed: "* && $output == *" clauses of the contract tried, "*" broken"* ]]
}

# bats test_tags=all
@test "conformance: a clock of microseconds, of 32 bits, of a processor's cycles" {
    broken 'hal_port.h s/return h->node.now;/return h->node.now \/ 1000;/' -- \
        "hal_now: while 1000000 ns passed it went on by 10"
    broken 'hal_port.h s/return h->node.now;/return (uint32_t)h->node.now;/' -- \
        "hal_now: while 5000000000 ns passed it went on by "
    broken 'hal_port.h s/return h->node.now;/return 5 * h->node.now \/ 2;/' -- \
        "hal_now: while 5000000000 ns passed it went on by 125"
}

# bats test_tags=all
@test "conformance: a ring of 8 frames that discards what it has no room for" {
    broken 'loopback.h s/^    loopback_wire_put(/    static uint64_t at, burst;\n    burst = at == n->now ? burst + 1 : 1;\n    at = n->now;\n    if (port != HX_E || burst <= 8) loopback_wire_put(/' -- \
        "hal_transmit: of 33 packets that had credit in one step 8 arrive (hal.h: on the link's VC"
}

# bats test_tags=all
@test "conformance: two ports in one folder are each tested with their own code" {
    local kit=$PWD/hal/conformance/Makefile
    mkdir "$OUT/two"
    cp -r hal/loopback "$OUT/two/good"
    cp -r hal/loopback "$OUT/two/bad"
    sed -i 's/return hx_crc32c(crc,/return hx_crc32c(crc ^ 1,/' "$OUT/two/bad/hal_port.h"
    cd "$OUT/two"
    for out in "" OUT=shared; do
        # shellcheck disable=SC2086 # $out is one word or none
        for port in good bad good; do
            run env -u OUT make --silent -f "$kit" PORT=$port $out CFLAGS=-O0
            case $port in
                good) [ "$status" -eq 0 ] && [[ $output == *", 0 broken"* ]] || { echo "$output"; return 1; } ;;
                bad) [ "$status" -ne 0 ] && [[ $output == *"hal_crc32c: "* ]] || { echo "$output"; return 1; } ;;
            esac
        done
    done
    [ -d conformance-build/good ] && [ -d conformance-build/bad ]
}

# bats test_tags=all
@test "conformance: a port that crashes outside the contract's functions, and a missing folder, are reported in a line" {
    broken 'loopback.c /^static void send_credit/,/^}/s/ *loopback_wire_commit.*/*(volatile int *)0 = 1;/' -- \
        "conformance_open: ends in a crash (in the check of hal_consumed)"
    run make --silent -f hal/conformance/Makefile OUT="$OUT/none" PORT=hal/nowhere
    [ "$status" -ne 0 ]
    [[ "$output" == *"hal/nowhere: there is no such folder"* ]]
}
