# shellcheck disable=SC2154 # bats sets status, output and stderr
# capture_run_support.bash - shared by tests of captured runs under both clocks: a capture is in $FILE.

load emulator_support

# field NAME [ARGUMENTS OF TSHARK...]: that field of every frame.
field() { tshark -r "$FILE" -T fields -e "$1" "${@:2}" 2>/dev/null; }

# has_frames FILE N: it has at least N complete frames, also while it is written.
has_frames() { [ "$(tshark -r "$1" -c "$2" -T fields -e frame.number 2>/dev/null | wc -l)" -ge "$2" ]; }

# await_growth FILE: waits until it has more frames, or its first.
await_growth() {
    eventually has_frames "$1" 1
    eventually is_larger "$1" "$(stat --format %s "$1")"
}
is_larger() { [ "$(stat --format %s "$1")" -gt "$2" ]; }

# capinfos_says PATTERN...: of the capture, each at the beginning of a line.
capinfos_says() {
    local pattern
    run capinfos "$FILE"
    [ "$status" -eq 0 ]
    for pattern in "$@"; do
        grep -q "^$pattern" <<<"$output"
    done
}

# captured_whole_fabric COMMENT: every port of a 4x4 Hx2Mesh, captured over the whole run, with that comment.
captured_whole_fabric() {
    # Every packet is recorded at its output and at the next input; injection and delivery at one port each.
    holds '.capture.received == 2 * .packet_hops and .capture.accepted == .capture.received'
    holds '.capture.interfaces == 64 * 5 + 16 * 8'
    capinfos_says "Number of interfaces in file: 448" "File encapsulation:  Ethernet" "Strict time order:   True" \
        "Capture comment:     hxmesh fabric: 4x4 Hx2Mesh .*$1"
    [ "$(field frame.interface_queue | sort -u | tr '\n' ' ')" = "0 1 2 " ]
}

# lab_file [LINE...]: a fabric, $LAB, with settings for a capture into $FILE.
lab_file() {
    LAB="$BATS_TEST_TMPDIR/lab.hxm.yaml"
    printf '%s\n' "fabric: 2x2 Hx2Mesh" "traffic: {message: 3000}" "$@" >"$LAB"
    cat >>"$LAB" <<END
capture:
  file: $FILE
  ports: a0,0/p0/? a1,1/p0/local
  filter: ether[28] == 1
  snaplen: 96
  annotate: true
END
}

# By $LAB.
captured_by_the_file() {
    holds '.capture.interfaces == 5 and .capture.accepted < .capture.received and .capture.accepted > 0'
    [ "$(field frame.cap_len | sort -un)" = 96 ]
    field frame.comment -Y 'frame.packet_flags_direction == 2' | grep -q "^in .* vc 0, out .*: "
}

# By these options, which override it.
# shellcheck disable=SC2034 # for the tests
LAB_OPTIONS=(--capture-ports 'row0/*' --capture-filter 'ether[28] == 2' --no-annotate)
captured_by_the_options() {
    holds '.capture.interfaces == 4 and .capture.accepted > 0'
    [ -z "$(field frame.comment | tr -d '\n')" ]
}

# says_why REASON...: departures of a switch have a comment of the right form, other frames have none; each of these
# reasons occurs.
says_why() {
    local reason
    field frame.comment -Y 'frame.packet_flags_direction == 2' >"$BATS_TEST_TMPDIR/comments"
    [ -z "$(field frame.comment -Y 'frame.packet_flags_direction == 1' | tr -d '\n')" ]
    for reason in "$@"; do
        grep -q ": $reason\. candidates" "$BATS_TEST_TMPDIR/comments"
    done
    run ! grep -v '^in [^ ]* vc [012], out [^ ]* vc [012]: .*\. candidates .* packets.*; [0-9]* left on ' \
        "$BATS_TEST_TMPDIR/comments"
}

# Result of a `run --separate-stderr` of a capture into /dev/full.
complained_of_full_disk() {
    [ "$status" -eq 0 ]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    grep -q "^hxmesh: error: /dev/full: No space left on device: 0 frames written, [0-9]* not" <<<"$stderr"
    holds "$WHOLE and .capture.written == 0"
}
