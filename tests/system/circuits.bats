# shellcheck disable=SC2154 # bats sets output and stderr
# circuits.bats - hxmesh run --clock virtual --circuits: circuits change under traffic, and nothing is lost; a
# closed link carries nothing; errors of a plan are one line.

load capture_run_support

setup() {
    REPORT="$BATS_TEST_TMPDIR/report.json"
    FILE="$BATS_TEST_TMPDIR/run.pcapng"
    PLAN="$BATS_TEST_TMPDIR/plan.txt"
    EXAMPLE="$BATS_TEST_DIRNAME/../../examples/circuits"
    SERVERS="graph $EXAMPLE/servers.csv"
}

# simulate ARGUMENTS...: twelve servers under the virtual clock; the report goes to $REPORT.
simulate() { hxmesh run "$SERVERS" --clock virtual --share-cores --quiet --json - "$@" >"$REPORT"; }

NOTHING_LOST="$ARRIVED"' and .packets_lost == 0 and .packets_repeated == 0 and .messages_failed == 0 and (.faults | not)'

# plan LINE...: the plan, into $PLAN.
plan() { printf '%s\n' "$@" >"$PLAN"; }

@test "circuits: a job while they change, the same for any number of workers" {
    local dark same
    for dark in 0 10us; do
        sed "s/^dark .*/dark $dark/; s/700us/70us/" "$EXAMPLE/plan.txt" >"$PLAN"
        simulate --traffic "$EXAMPLE/job.schedule.yaml" --set part=128KiB --set sum=48KiB --set rounds=2 --circuits "$PLAN" --workers 1
        holds "$NOTHING_LOST and .circuits.links == 24 and .circuits.rerouted > 0"
        holds ".circuits.changes == $([ "$dark" = 0 ] && echo 2 || echo 3)"
        same=$(jq --compact-output 'del(.host)' "$REPORT")
        simulate --traffic "$EXAMPLE/job.schedule.yaml" --set part=128KiB --set sum=48KiB --set rounds=2 --circuits "$PLAN" --workers 2
        [ "$(jq --compact-output 'del(.host)' "$REPORT")" = "$same" ]
    done
}

# began PORT FROM TO: frames of $BATS_TEST_TMPDIR/sent that left by this port at these times, in ns.
began() {
    awk -v port="$1" -v from="$2" -v to="$3" '
        { at = $1 * 1e9 + 0.5 }
        $2 == port && at >= from && at < to { n++ }
        END { print n + 0 }' "$BATS_TEST_TMPDIR/sent"
}

@test "circuits: a closed link carries no packet that begins while it is closed" {
    plan "dark 2us" "at 0: s0-s3, s1-s6" "at 7us: s0-s5, s1-s6" "at 13us: s0-s3" "at 25us: s0-s3, s0-s5, s1-s6"
    simulate --message 128KiB --circuits "$PLAN" --capture "$FILE" --snaplen 64
    holds "$NOTHING_LOST and .circuits.links == 3 and .capture.unwritten == 0"
    field frame.time_epoch -e frame.interface_name -Y 'frame.packet_flags_direction == 2' >"$BATS_TEST_TMPDIR/sent"
    # s0-s3 is port 5 at both ends, s0-s5 and s1-s6 are port 3.
    local port from to
    while read -r port from to; do
        [ "$(began "$port" "$from" "$to")" -eq 0 ]
        [ "$(began "$port" "$to" 60000)" -gt 0 ]
    done <<'END'
switch0/p0/5 7000 15000
switch3/p0/5 7000 15000
switch0/p0/3 0 9000
switch5/p0/3 0 9000
switch0/p0/3 13000 27000
switch5/p0/3 13000 27000
switch1/p0/3 13000 27000
switch6/p0/3 13000 27000
END
    [ "$(began switch0/p0/5 0 7000)" -gt 0 ]
    hxmesh verify "$FILE" --quiet --json - >"$REPORT"
    holds '.passed'
}

@test "circuits: a pair without its circuit takes the other path" {
    plan "at 0:" "at 1s: s0-s3"
    simulate --traffic permutation --message 64KiB --circuits "$PLAN"
    holds "$NOTHING_LOST and .circuits.links == 1"
    holds '[.links[] | select(.from == "switch0/p0/5" or .to == "switch0/p0/5") | .packets] | add == 0'
}

@test "circuits: a fabric file names its plan, and a report's command repeats it" {
    plan "dark 1us" "at 0: s0-s3" "at 5us: s0-s5"
    simulate --circuits "$PLAN" --message 16KiB
    jq --compact-output 'del(.host, .settings)' "$REPORT" >"$BATS_TEST_TMPDIR/same"
    printf '%s\n' "fabric: $SERVERS" "traffic: {message: 16KiB}" "clock: virtual" "circuits: $PLAN" >"$BATS_TEST_TMPDIR/lab.hxm.yaml"
    hxmesh run "$BATS_TEST_TMPDIR/lab.hxm.yaml" --quiet --json - >"$REPORT"
    holds ".settings.circuits == \"$PLAN\" and (.host.again | endswith(\" --circuits $PLAN\"))"
    jq --compact-output 'del(.host, .settings, .fabric, .name)' "$REPORT" | diff - <(jq --compact-output 'del(.fabric, .name)' "$BATS_TEST_TMPDIR/same")
}

@test "circuits: errors of a plan are one line with its place" {
    local why
    while IFS=';' read -r text why; do
        printf '%b' "$text" >"$PLAN"
        run -3 --separate-stderr hxmesh run "$SERVERS" --clock virtual --circuits "$PLAN"
        [ -z "$output" ]
        [[ $stderr == "hxmesh: error: $PLAN$why"* && $stderr != *$'\n'* ]]
    done <<'END'
at 0: s0-s33;:1:7: 's33' is no name of this fabric (did you mean
at 0: s0-s3\nat 0: s0-s5;:2:4: 'at 0': is not later
at 0: s0-s6;:1:7: the fabric has no link between 's0' and 's6'
interfaces 1\nat 0: s0-s3, s0-s5;:2:14: 's0' has more circuits
at 0: s0-s3\nat 11h:;: 'switch0/5 closed at 11h': all are to know of it 10h after the start
END
    run -3 --separate-stderr hxmesh run "$SERVERS" --clock virtual --fault "switch4 closed at 3us"
    [[ $stderr == "hxmesh: error: circuits: from 3us on, no path joins 's"*"' and 's"* && $stderr != *$'\n'* ]]
    printf 'at 0: leaf0-spine0\nat 5us:\n' >"$PLAN"
    run -3 --separate-stderr hxmesh run "fat-tree hosts=16 radix=8 routing=ugal" --clock virtual --circuits "$PLAN"
    [[ $stderr == "hxmesh: error: --circuits: links go down, so paths have to be searched: "* ]]
    run -2 --separate-stderr hxmesh run "$SERVERS" --clock virtual --traffic "$EXAMPLE/job.schedule.yaml" --repeats cut --circuits "$PLAN"
    [[ $stderr == *"cut is not for a run with --circuits"* ]]
}

@test "circuits: links of a HammingMesh close, too, and everything arrives" {
    hxmesh run "4x4 Hx2Mesh" --clock virtual --message 64KiB --fault "a0,0/E closed at 5us for 20us; row0 closed at 1us for 9us" \
        --quiet --json - >"$REPORT"
    holds "$ARRIVED"' and (.faults | not) and .circuits.links == 9 and .circuits.closed_ns > 29000'
}
