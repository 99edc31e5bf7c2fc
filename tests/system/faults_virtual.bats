# faults_virtual.bats - hxmesh run --clock virtual --fault: failures during traffic cost only time, equally for any
# number of workers; undeliverable messages are reported; errors of a schedule are one line.

# shellcheck disable=SC2016 # what stands in quotes is for jq
load emulator_support

setup() {
    REPORT="$BATS_TEST_TMPDIR/report.json"
}

# simulate ARGUMENTS...: runs a fabric under the virtual clock; its report goes to $REPORT.
simulate() { hxmesh run "$@" --clock virtual --share-cores --quiet --json - >"$REPORT"; }

# always_same ARGUMENTS...: nothing is lost, and the report is the same byte for byte by 1, 2 and 4 workers, except
# `host`.
always_same() {
    local workers same
    simulate "$@" --workers 1
    holds "$WHOLE"
    same=$(jq --compact-output 'del(.host)' "$REPORT")
    for workers in 2 4; do
        simulate "$@" --workers "$workers"
        [ "$(jq --compact-output 'del(.host)' "$REPORT")" = "$same" ] || { echo "differs with $workers workers: $*"; return 1; }
    done
}

# refused CODE PART [FABRIC] ARGUMENTS...: the run does not start, and one line has the reason.
refused() {
    local code=$1 part=$2 fabric="2x2 Hx2Mesh"
    shift 2
    if [[ $1 != -* ]]; then
        fabric=$1
        shift
    fi
    # shellcheck disable=SC2154 # bats sets them
    run "-$code" --separate-stderr hxmesh run "$fabric" --clock virtual "$@"
    # shellcheck disable=SC2154 # bats sets them
    [ -z "$output" ] && [[ $stderr == *"$part"* && $stderr != *$'\n'* ]]
}

EVERYTHING="all loss=1% corrupt=0.1% duplicate=1% reorder=2% delay=10ns credit-loss=10%"

# bats test_tags=all
@test "faults: the same seed and the same faults give the same report, for any number of workers" {
    always_same "4x4 Hx2Mesh" --planes 2 --check-steps --fault "$EVERYTHING" --fault "a0,0/E down at 5us for 20us" \
        --fault "board1,1 down at 5us for 20us"
    always_same "4x4 Hx2Mesh" --faults random --mtbf 5us --mttr 10us
    always_same "fat-tree hosts=64 radix=16" --fault "$EVERYTHING" --check-steps
}

@test "faults: links that lose, damage, repeat and reorder have their cost, and nothing wrong arrives" {
    simulate "4x4 Hx2Mesh" --fault "$EVERYTHING" --verify
    holds "$WHOLE and .drops.checksum > 0 and .drops.duplicate > 0 and .packets_repeated > 0"
    # Of all packets that links carried between switches, retransmissions included.
    holds '(.links | map(.packets) | add) as $carried | .faults[0] | (.lost / $carried - 0.01 | fabs) < 0.002 and
           (.corrupted / $carried - 0.001 | fabs) < 0.0005 and (.duplicated / $carried - 0.01 | fabs) < 0.002 and
           (.reordered / $carried - 0.02 | fabs) < 0.003 and .credits_lost > 0 and .hits >= .lost'
}

@test "faults: packets on a slow link are lost when it goes down" {
    simulate "2x1 Hx1Mesh" --traffic permutation --message 64KiB --fault "all delay=100us; all down at 50us for 10us"
    holds "$WHOLE and .faults[1].lost >= 2 * 8 and .faults[0].lost == 0" # both messages, complete
}

@test "faults: a run under heavy damage ends: missing messages fail" {
    run -1 simulate "slim-fly q=3 p=1" --routing valiant --traffic uniform --message 40KiB --fault "all corrupt=30% duplicate=10% at 5us"
    holds '.messages_failed > 0 and .messages < .messages_begun and .messages + .messages_failed >= .messages_begun and
        (.interrupted | not) and .buffers_missing == 0 and .packets_repeated > 0 and .virtual_seconds < 0.1'
}

@test "faults: an interrupted run reports the hits of faults, and does not claim to be complete" {
    local run name="bats-$BASHPID-$RANDOM"
    env --default-signal=INT "$HXMESH" run "4x4 Hx2Mesh" --clock virtual --message 1GiB --fault "all loss=1%" --name "$name" \
        --quiet --json "$REPORT" &
    run=$!
    until hxmesh top "$name" --json - --count 1 --interval 100ms 2>/dev/null | is_so '.packets_delivered > 1000'; do
        kill -0 "$run"
    done
    kill -INT "$run"
    wait "$run" || [ $? -eq 130 ]
    holds '.faults[0].lost > 0 and .faults[0].hits > 0 and .faults[0].whole_after_ns == null'
}

@test "faults: a link that flaps faster than its ends notice loses packets, and causes no reroute" {
    simulate "fat-tree hosts=64 radix=16" --traffic permutation --message 64KiB
    local alone
    alone=$(jq .virtual_seconds "$REPORT")
    always_same "fat-tree hosts=64 radix=16" --traffic permutation --message 64KiB --fault "leaf0/10 flaps every 4us for 400us"
    holds "$WHOLE and .faults[0].lost > 0 and .faults[0].whole_after_ns < 200000 and .virtual_seconds < 200e-6 and
           .virtual_seconds > $alone"
    # Longer breaks, which both ends notice, are bypassed one by one.
    always_same "fat-tree hosts=64 radix=16" --traffic permutation --message 1MiB --fault "leaf0/10 flaps every 40us for 200us"
    holds "$WHOLE and .faults[0].lost > 0"
}

@test "faults: a rate limits a link" {
    simulate "2x1 Hx1Mesh" --traffic permutation --message 1MiB --fault "all rate=25%"
    holds "$WHOLE and (.share_of_injection / .25 - 0.5 | fabs) < 0.03" # two of four links lead there
}

# bats test_tags=all
@test "faults: each board and each link of one fails and returns under full traffic" {
    local board port
    for board in 0,0 1,2 3,3; do
        simulate "4x4 Hx2Mesh" --fault "board$board down at 5us for 20us"
        holds "$WHOLE and .faults[0].lost > 0 and .faults[0].whole_after_ns > 20000 and .faults[0].whole_after_ns < 3000000"
    done
    for port in a2,2/E a2,2/W a2,2/N a2,2/S row2/leaf0 col3/leaf0; do
        simulate "4x4 Hx2Mesh" --check-steps --fault "$port down at 5us for 20us"
        holds "$WHOLE and .faults[0].lost > 0 and .faults[0].whole_after_ns != null"
    done
}

@test "faults: senders without a path get errors, and all others deliver" {
    run -1 --keep-empty-lines hxmesh run "4x4 Hx2Mesh" --clock virtual --quiet --json "$REPORT" --fault "a0,0 down at 5us"
    holds '.messages_failed > 0 and .messages + .messages_failed == .messages_begun and .faults[0].whole_after_ns != null'
}

@test "faults: a schedule in a file, of lines and in YAML, equals that of the command line" {
    local schedule="$BATS_TEST_TMPDIR/faults.txt" yaml="$BATS_TEST_TMPDIR/lab.hxm.yaml" first
    simulate "4x4 Hx2Mesh" --fault "a0,0/E down at 5us for 9us; all loss=1%"
    first=$(jq --compact-output '[.faults, .virtual_seconds]' "$REPORT")
    printf '# what fails\nall loss=1%%\n\na0,0/E down at 5us for 9us # and returns\n' >"$schedule"
    simulate "4x4 Hx2Mesh" --faults "$schedule"
    [ "$(jq --compact-output '[.faults, .virtual_seconds]' "$REPORT")" = "$first" ]
    printf 'fabric: 4x4 Hx2Mesh\nclock: virtual\nfaults: all loss=1%%; a0,0/E down at 5us for 9us\n' >"$yaml"
    simulate "$yaml"
    [ "$(jq --compact-output '[.faults, .virtual_seconds]' "$REPORT")" = "$first" ]
}

@test "faults: a report's command for the same run includes its faults" {
    local same again
    for faults in '--fault "a0,1/E down at 2us for 3us"' "--faults random --mtbf 5us --mttr 3us" ""; do
        eval "simulate '2x2 Hx2Mesh' $faults"
        same=$(jq --compact-output 'del(.host)' "$REPORT")
        again=$(jq --raw-output .host.again "$REPORT")
        eval "$again --quiet --json -" >"$REPORT"
        [ "$(jq --compact-output 'del(.host)' "$REPORT")" = "$same" ] || { echo "differs: $again"; return 1; }
    done
    holds '.settings | has("fault") or has("mtbf") | not'
}

# captured ARGUMENTS...: a run with a good capture; verify knows the effects of its faults.
captured() {
    simulate "$@" --snaplen 96 --capture "$BATS_TEST_TMPDIR/run.pcapng"
    hxmesh verify "$BATS_TEST_TMPDIR/run.pcapng" --quiet --json - >"$REPORT"
    holds '.passed and .delivered < .injected'
}

# bats test_tags=all
@test "faults: captures of runs with faults are good, on any fabric" {
    captured "4x4 Hx2Mesh" --verify --fault "$EVERYTHING" --fault "a0,0/E down at 2us for 20us; board1,1 down at 1us for 9us"
    captured "2x2 Hx2Mesh" --message 32KiB --faults random --mtbf 1us --mttr 5us --seed 3
    captured "mlfm h=2" --message 16KiB --faults random --mtbf 5us --mttr 10us --seed 7 # one VC, and a second for paths around failures
    captured "fat-tree hosts=16 radix=8" --message 24KiB --faults random --mtbf 1us --mttr 10us --seed 4 # one is sent twice, and both are late
    captured "2x2 Hx2Mesh" --traffic uniform --count 20 --message 3000 --faults random --seed 5368 --mtbf 500ns --mttr 20us # overtaken by one of two equal packets
    captured "torus 2x2x2x3" --traffic uniform --count 8 --message 3000 --faults random --seed 23 --mtbf 500ns --mttr 20us # two equal packets at one node
    captured "torus 4x4" --annotate --fault "s5/1 down at 2us for 20us; s9/0 flaps every 10us for 30us"
    captured "fat-tree hosts=16 radix=4 levels=3" --routing valiant --fault "all loss=2% duplicate=1%" # one packet, two detours
    captured "torus 3x2x2" --verify --message 24772 --count 3 --seed 612 --fault "all loss=3% corrupt=0.3% duplicate=1% credit-loss=10%" # copies by another VC
    captured "torus 3x3" --verify --message 1KiB --count 2 --fault "all corrupt=8% duplicate=5%; all flaps every 4us for 40us" # changed back
    captured "dragonfly a=4 p=2 h=2 groups=3" --message 32KiB --faults random --mtbf 1us --mttr 10us --seed 4
    captured "dragonfly a=4 p=2 h=2 groups=3" --message 20KiB --count 2 --seed 1 \
        --fault "all loss=1% corrupt=1% duplicate=2% reorder=1% credit-loss=10% delay=1us" # a copy ahead of the original on a longer path
}

@test "faults: errors of a schedule are one line" {
    refused 3 "faults: 'a0,0/X down': 'a0,0/X' is no place of this fabric" --fault "a0,0/X down"
    refused 2 "faults of workers are for --clock wall" --fault "worker0 killed at 1us"
    refused 2 "is for faults that are drawn" --fault "all loss=1%" --mtbf 1us
    refused 2 "--mtbf: a fault each 9ns is more than 100000 of them in 1ms (draw them seldomer)" --faults random --mtbf 9ns --duration 1ms
    refused 3 "faults: 's3/1 dwon': unknown word 'dwon' (did you mean 'down'?)" "torus 2x2" --fault "s3/1 dwon" # a place once ways are searched
    printf 'all loss=1%%\na0,0/E dwon\n' >"$BATS_TEST_TMPDIR/faults.txt"
    refused 3 "faults.txt:2:1: unknown word 'dwon' (did you mean 'down'?)" --faults "$BATS_TEST_TMPDIR/faults.txt"
}

# bats test_tags=all
@test "faults: with random faults that are repaired, on any fabric, everything arrives" {
    run -0 "$BATS_TEST_DIRNAME/faults_random.bash" 54 1
    [[ $output == "54 runs "* ]]
}

@test "faults: a dead link of a HammingMesh ends no message: all go around it" {
    local around="$WHOLE and .packets_in_flight == 0 and .virtual_seconds < 0.001"
    printf 'start,source,destination,bytes\n0,a2:0,a0:4,8KiB\n' >"$BATS_TEST_TMPDIR/one.csv"
    simulate "3x2 H2x4Mesh" --traffic "$BATS_TEST_TMPDIR/one.csv" --fault "a2,4/N down; a2,4/S down; a2,4/E down"
    holds "$around and .messages == 1"
    for traffic in "all-reduce" "all-reduce --algorithm rings" "all-reduce --algorithm torus" total-exchange permutation; do
        # shellcheck disable=SC2086 # an option and its value
        simulate "4x4 Hx2Mesh" --traffic $traffic --message 64KiB --fault "a2,2/W down" --workers 1
        holds "$around"
    done
    simulate "8x8 Hx2Mesh" --traffic all-reduce --algorithm halving --message 64KiB --fault "a4,4/N down"
    holds "$around"
}

@test "faults: where a line's switch is dead, boards of one row use the escape VC" {
    simulate "6x3 Hx1Mesh" --traffic total-exchange --message 1152 --fault "row1 down"
    holds "$ARRIVED and .max_vc == 3"
}

@test "faults: exactly the pairs that living links join deliver, from any time of death and repair on, on all workers" {
    run -0 "$BATS_TEST_DIRNAME/faults_reach.py" "$HXMESH" --cases 3
    run -0 "$BATS_TEST_DIRNAME/faults_reach.py" "$HXMESH" --cases 1 --times 60 --message 2048 --equal
}

# bats test_tags=all
@test "faults: with random faults of which some stay, on any fabric, each message is delivered or given up" {
    run -0 "$BATS_TEST_DIRNAME/faults_random.bash" 54 1 stay
    [[ $output == "54 runs "* ]]
}

# bats test_tags=all
@test "faults: a link that stays down is bypassed, and only senders without another path get errors" {
    local spec="fat-tree hosts=16 radix=8"
    always_same "$spec" --fault "leaf1/5 down at 2us" --check-steps
    holds '.drops.unreachable == 0 and .messages_failed == 0 and .faults[0].lost > 0'
    always_same "torus 4x4" --fault "s5/1 down at 2us"
    # A host with its only cable cut: 15 messages to it, 15 from it.
    run -1 hxmesh run "$spec" --clock virtual --quiet --json "$REPORT" --fault "leaf1/0 down"
    holds '.messages_failed == 30 and .messages == 16 * 15 - 30 and .messages_begun == 16 * 15 and
        .faults[0].whole_after_ns < 10000000' # then all senders have been notified
}

# bats test_tags=all
@test "faults: a collective survives a lost link, and reports a lost member" {
    always_same "4x4 Hx2Mesh" --traffic all-reduce --message 1MiB --verify --fault "a1,1/E down at 10us for 50us"
    holds '.collective.done == 64 and .faults[0].lost > 0'
    always_same "4x4 Hx2Mesh" --planes 2 --traffic all-reduce --message 1MiB --verify --fault "a1,1/p0/E down at 10us"
    holds '.collective.done == 64'
    run -1 hxmesh run "4x4 Hx2Mesh" --clock virtual --quiet --json "$REPORT" --traffic all-reduce --message 1MiB --fault "a1,1 down at 10us"
    holds '.collective.done < 64 and .messages_failed > 0 and (.complete | not) and (.faults[0].whole_after_ns > 0)'
}

# shellcheck disable=SC2016
@test "faults: drawn links are dead from the start, nested by their number, and cost no packet" {
    local k before=
    for k in 1 2 5 9; do
        simulate "2x2 Hx2Mesh" -t all-to-all -m 16KiB --failures "$k" --seed 4
        holds "$ARRIVED and .packets_repeated == 0 and .settings.failures == $k and (.changes | length) == $k"
        # No packet crosses them, in either direction, and other links have some.
        holds '[.changes[].change | rtrimstr(" closed")] as $dead | .links |
               (map(select(.from as $f | .to as $t | $dead | any(. == $f or . == $t))) | length == 2 * ($dead | length) and
                all(.packets == 0)) and (map(select(.packets > 0)) | length) > 40'
        # Those of a smaller number are among them.
        jq -r '.changes[].change' "$REPORT" | sort >"$BATS_TEST_TMPDIR/$k"
        [ -z "$before" ] || [ "$(comm -12 "$BATS_TEST_TMPDIR/$before" "$BATS_TEST_TMPDIR/$k" | wc -l)" -eq "$before" ]
        before=$k
    done
    # The lines say the same in another run.
    jq 'del(.host, .settings)' "$REPORT" >"$BATS_TEST_TMPDIR/drawn"
    simulate "2x2 Hx2Mesh" -t all-to-all -m 16KiB --seed 4 --fault "$(jq -r '[.changes[].change] | join(";")' "$REPORT")"
    jq 'del(.host, .settings)' "$REPORT" | diff - "$BATS_TEST_TMPDIR/drawn"
    # A host's only link is never drawn: 32 links, of which 16 join leaves and spines, eight nodes of a tree.
    simulate "fat-tree hosts=16 radix=8" -t all-to-all -m 1KiB --failures 9
    holds "$ARRIVED and ([.changes[].change | startswith(\"a\")] | any | not)"
    refused 2 "--failures: after 11 of them each other link of this fabric is the last that joins two parts (draw 11 at most)" \
        "fat-tree hosts=16 radix=8" --failures 12
    refused 2 "--repeats: cut is not for a run with faults" -t "$BATS_TEST_DIRNAME/../../examples/schedules/ping-pong.schedule.yaml" \
        --repeats cut --failures 1
}

# costs SECONDS_WITHOUT GBPS_WITHOUT: the report compares its own figures with these.
costs() {
    holds '.cost_of_faults.seconds as $s | .cost_of_faults.gbps_per_host as $g | $s.without == $seconds and $g.without == $gbps and
           $g.with == .gbps_per_host and ($s.with == .seconds or $s.with == (.schedule // [{}])[0].seconds) and
           ($s.difference - ($s.with - $s.without) | fabs) < 1e-7 * $s.with and ($s.ratio * $s.without / $s.with - 1 | fabs) < 1e-7 and
           ($g.ratio * $g.without / $g.with - 1 | fabs) < 1e-7' --argjson seconds "$1" --argjson gbps "$2"
}

@test "faults: what they cost is the difference to the same run without them" {
    local traffic healthy mib=$((1 << 20))
    for traffic in "all-reduce -m 1MiB --algorithm rings" "all-to-all -m 16KiB" "uniform -m 8KiB --rate 0.2 -d 20us" \
        "$BATS_TEST_DIRNAME/../../examples/schedules/ping-pong.schedule.yaml"; do
        # shellcheck disable=SC2086 # several words
        simulate "2x2 Hx2Mesh" -t $traffic
        healthy=$(jq -r '"\(.schedule[0].seconds // .seconds) \(.gbps_per_host)"' "$REPORT")
        # shellcheck disable=SC2086
        simulate "2x2 Hx2Mesh" -t $traffic --fault "a2,2/E down at 1us; a2,2/N closed" --detect 2us --compare-healthy
        # shellcheck disable=SC2086
        costs $healthy
        holds '.complete and .cost_of_faults.links_left == {host: "a2,2", links: 4, dead: 2, least_ratio: 2}'
        # The run with faults is the same, compared or not.
        jq 'del(.host, .cost_of_faults)' "$REPORT" >"$BATS_TEST_TMPDIR/compared"
        # shellcheck disable=SC2086
        simulate "2x2 Hx2Mesh" -t $traffic --fault "a2,2/E down at 1us; a2,2/N closed" --detect 2us
        jq 'del(.host)' "$REPORT" | diff - "$BATS_TEST_TMPDIR/compared"
    done
    # One of eight links in two planes, for the whole run. Each sends 2 * 63/64 vectors over 7 links of 400 Gb/s at
    # best.
    simulate "4x4 Hx2Mesh" --planes 2 -t all-reduce -m 2MiB --algorithm rings --fault "a4,4/p1/E closed" --compare-healthy
    holds '.cost_of_faults.links_left == {host: "a4,4", links: 8, dead: 1, least_ratio: 1.14285714} and
           .cost_of_faults.seconds.with > 2 * 63 / 64 * 2 * $mib * 8 / (7 * 400e9) and
           .cost_of_faults.seconds.without > 2 * 63 / 64 * 2 * $mib * 8 / (8 * 400e9)' --argjson mib "$mib"
    # A link that is repaired is none that is dead in the end; neither is one between switches a host's.
    simulate "2x2 Hx2Mesh" -m 8KiB --fault "a0,0/E down at 1us for 2us; a1,1 loss=5%" --compare-healthy
    holds '.cost_of_faults.seconds.ratio > 1 and (.cost_of_faults | has("links_left") | not)'
    simulate "fat-tree hosts=16 radix=8" -m 8KiB --failures 3 --compare-healthy
    holds '.cost_of_faults.seconds.ratio > 1 and (.cost_of_faults | has("links_left") | not)'
    # A grid's host has the links of its router.
    simulate "torus 4x4" -m 8KiB --fault "a1,1/N closed" --compare-healthy
    holds '.complete and .cost_of_faults.links_left == {host: "a1,0", links: 4, dead: 1, least_ratio: 1.33333333}'
    hxmesh run "2x2 Hx2Mesh" --clock virtual -t all-reduce -m 256KiB --failures 1 --compare-healthy --quiet >"$BATS_TEST_TMPDIR/text"
    grep -qE '^  faults cost    [0-9.]+ us: [0-9.]+ us with them, [0-9.]+ us without, 1\.[0-9]+ times$' "$BATS_TEST_TMPDIR/text"
    grep -qE '^ {17}[0-9.]+ Gb/s a host with them, [0-9.]+ without, 0\.[0-9]+ times$' "$BATS_TEST_TMPDIR/text"
    grep -qE '^ {17}a[0-3],[0-3] keeps 3 of 4 links: what fills all of them takes at least 1\.333 times as long$' "$BATS_TEST_TMPDIR/text"
}

@test "faults: nothing is compared without faults, live, by ranks, or with a bad fault" {
    refused 2 "--compare-healthy: is for a run with faults (--fault, --faults or --failures)" --compare-healthy
    refused 2 "--compare-healthy: compares simulated times: those of the wall clock depend on this machine (--clock virtual)" \
        --clock wall --failures 1 --compare-healthy
    refused 2 "--mpi" --failures 1 --compare-healthy --mpi 2
    # The other run never begins.
    refused 3 "a9,9" -t uniform -d 1h --fault "a9,9/E down" --compare-healthy
    refused 2 " at most)" "2x1 Hx2Mesh" -t uniform -d 1h --failures 900 --compare-healthy
}

# bats test_tags=all
@test "faults: a compared run that is interrupted ends with its first half" {
    env --default-signal=TERM "$HXMESH" run "2x2 Hx2Mesh" --clock virtual -t uniform -d 1h --failures 1 --compare-healthy \
        --quiet >/dev/null 2>&1 3>&- &
    PID=$!
    until [ -n "$(ps -o pid= --ppid "$(pgrep -P "$PID" | head -1)" 2>/dev/null)" ]; do sleep 0.05; done # its workers
    kill -TERM "$PID"
    CODE=0
    wait "$PID" || CODE=$?
    [ "$CODE" -eq 130 ]
}
