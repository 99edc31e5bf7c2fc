# crowded.bats - more workers than cores: waiting takes no processor time from those who work. About three seconds.
# shellcheck shell=bats
# shellcheck disable=SC2016 # what stands in quotes is for jq

load emulator_support

setup() { fresh_name; }
teardown() { end_started; }

# rate WORKERS ARGUMENTS...: packet-hops in a second of processor time, on one core; the best of three runs, since others
# that use the machine's caches can only slow it down.
rate() {
    local workers=$1 n best=0
    shift
    for ((n = 0; n < 3; n++)); do
        taskset --cpu-list "$(first_core)" "$HXMESH" run "4x4 Hx2Mesh" --workers "$workers" --name "$NAME" \
            --quiet --json - "$@" >"$REPORT"
        holds '.packets_lost == 0 and .messages == 4032'
        best=$(jq --argjson best "$best" '[$best, .host.packet_hops_per_cpu_second] | max | floor' "$REPORT")
    done
    echo "$best"
}

# Without yielding it is a third.
@test "crowded: four live workers on one core do at least half of what one does" {
    local one four
    one=$(rate 1 --message 256KiB --no-verify)
    four=$(rate 4 --message 256KiB --no-verify)
    echo "one worker: $one, four: $four packet-hops a second of processor time"
    [ $((2 * four)) -ge "$one" ]
}

# By sleeping and waking it is a twelfth.
@test "crowded: four workers of the virtual clock on one core do at least a third of what one does" {
    local one four
    one=$(rate 1 --message 64KiB --clock virtual)
    four=$(rate 4 --message 64KiB --clock virtual)
    echo "one worker: $one, four: $four packet-hops a second of processor time"
    [ $((3 * four)) -ge "$one" ]
}
