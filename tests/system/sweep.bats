# sweep.bats - `hxmesh sweep`: every combination once, the figures of `hxmesh run`, files, and what is refused.

# shellcheck disable=SC2016 # what stands in quotes is for jq
load emulator_support

setup() {
    fresh_name
    TABLE="$BATS_TEST_TMPDIR/table"
}

sweep() { hxmesh sweep --quiet "$@" >"$TABLE" 2>"$BATS_TEST_TMPDIR/stderr"; }

@test "sweep: the figures are those of the runs, in a table, CSV, JSON and a plot" {
    cd "$BATS_TEST_TMPDIR"
    sweep "2x2 Hx2Mesh" "3x2 Hx1Mesh" --clock virtual -t uniform,tornado -m 1KiB..4KiB --jobs 2 \
        --csv s.csv --json s.json --plot s.svg
    [ "$(grep -c good "$TABLE")" -eq 12 ]
    [ "$(wc -l <s.csv)" -eq 13 ]
    jq -e 'length == 12 and ([.[] | [.spec, .traffic, .message]] | unique | length) == 12' s.json
    jq 'map(del(.["host.wall_seconds"]))' s.json >"$REPORT"
    hxmesh run "3x2 Hx1Mesh" --clock virtual -t tornado -m 2KiB --workers 1 --json - >one.json
    holds '[.[] | select(.spec == "3x2 Hx1Mesh" and .traffic == "tornado" and .message == 2048) |
            .share_of_injection == $one[0].share_of_injection and .["latency_ns.p99"] == $one[0].latency_ns.p99 and
            .packet_hops == $one[0].packet_hops] == [true]' --slurpfile one one.json
    head -n 1 s.csv | grep -q '^spec,traffic,message,clock,.*,share_of_injection,.*,latency_ns.p50,'
    # The plot says where it is from.
    [ "$(grep -c '<polyline' s.svg)" -eq 4 ]
    grep -q 'hxmesh sweep' s.svg
    grep -q 'hxmesh [0-9]*\.[0-9]*\.[0-9]*, .*T.*Z' s.svg
    grep -q 'seed 1' s.svg
}

@test "sweep: a run that is refused, and one that fails, are said and the others kept" {
    run -1 --separate-stderr hxmesh sweep --quiet "3x1 Hx1Mesh" --clock virtual -t uniform,bit-reverse --csv -
    [ "${#lines[@]}" -eq 2 ]
    # shellcheck disable=SC2154 # of run
    [[ "$stderr" = "hxmesh: error: 3x1 Hx1Mesh traffic bit-reverse: --traffic: bit-reverse needs a power of two"* ]]
    run -2 hxmesh sweep "3x1 Hx1Mesh" --message 1KiB..x
    [ "$output" = "hxmesh: error: --message: 'x' is not a size (write for example 8192, 64KiB, 1MiB or 2GiB)" ]
    run -2 hxmesh sweep "3x1 Hx1Mesh" --clock wall,virtual --jobs 2
    [ "$output" = "hxmesh: error: --jobs: live runs side by side take each other's time (use --clock virtual)" ]
    run -2 hxmesh sweep "3x1 Hx1Mesh" -t uniform,incast --plot x.svg
    [ "$output" = "hxmesh: error: --plot: no number is varied (write for example --message 1KiB..1MiB)" ]
    run -3 hxmesh sweep "3x1 Hx1Mush"
}

@test "sweep: interrupted, it keeps what had ended" {
    cd "$BATS_TEST_TMPDIR"
    env --default-signal=INT "$HXMESH" sweep "2x1 Hx1Mesh" --clock virtual -t uniform --duration 1us,1h --csv s.csv \
        >"$TABLE" 2>/dev/null 3>&- &
    PID=$!
    # The first is over and the second has begun when a second child is there.
    until pgrep -P "$PID" -f 'duration 1h' >/dev/null; do sleep 0.01; done
    kill -INT "$PID"
    CODE=0
    wait "$PID" || CODE=$?
    [ "$CODE" -eq 130 ]
    grep -q '1us .* good' "$TABLE"
    grep -q '1h .* not run' "$TABLE"
    [ "$(wc -l <s.csv)" -eq 2 ]
}
