# large.bats - fabrics of more than 65,535 hosts under the virtual clock: memory, and delivery to all ranks.

# shellcheck disable=SC2016 # what stands in quotes is for jq
load emulator_support

setup() { REPORT="$BATS_TEST_TMPDIR/report.json"; }

# simulate ARGUMENTS...: runs a fabric by one worker; its report goes to $REPORT.
simulate() { hxmesh run "$@" --clock virtual --workers 1 --no-links --quiet --json - >"$REPORT"; }

# bats test_tags=all
@test "large: memory of 65,536 accelerators" {
    simulate "128x128 Hx2Mesh" --traffic neighbour --message 8KiB
    holds "$ARRIVED and .accelerators == 65536 and .messages == 4 * 65536"
    holds '.host.peak_memory_bytes < 600000000'
}

# Payload differs by source and destination, so a rank cut to 16 bits is seen.
# bats test_tags=all
@test "large: hosts beyond rank 65,535 send and receive" {
    printf '%s\n' start,source,destination,bytes 0,0,65536,9000 0,65536,0,9001 0,67583,66000,9002 0,65535,67583,9003 \
        0,1,65537,9004 0,66000,1,9005 >"$BATS_TEST_TMPDIR/flows.csv"
    simulate "512x33 Hx2Mesh" --traffic "$BATS_TEST_TMPDIR/flows.csv" --verify
    holds "$ARRIVED and .accelerators == 67584 and .messages == 6 and .bytes_delivered == 6 * 9000 + 15"
    holds '[.receive_share | to_entries[] | select(.value > 0).key] == [0, 1, 65536, 65537, 66000, 67583]'
}
