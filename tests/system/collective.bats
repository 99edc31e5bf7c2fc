# asan
# collective.bats - hxmesh run: broadcast, reduce-scatter, all-gather and all-reduce, with checked results.

load emulator_support

setup() { fresh_name; }
teardown() { leave_nothing; }

KINDS="broadcast reduce-scatter all-gather all-reduce"

# shellcheck disable=SC2154 # stderr, stderr_lines: set by run
# said CODE TEXT ARGUMENTS...: a run ends with this code and one line that contains the text.
said() {
    local code=$1 text=$2
    shift 2
    run --separate-stderr hxmesh run "$@" --name "$NAME" --quiet
    echo "$stderr"
    [ "$status" -eq "$code" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "hxmesh: error: "*"$text"* ]]
}

@test "collective: every kind by every algorithm" {
    for kind in $KINDS; do
        for algorithm in best tree ring rings torus; do
            report "2x2 Hx2Mesh" --traffic "$kind" --algorithm "$algorithm" --message 40004 --workers 1
            holds "$WHOLE and .traffic == \"$kind\" and .collective.kind == \"$kind\" and
                .collective.done == 16 and .collective.accelerators == 16 and .collective.vector_bytes == 40004 and
                .collective.share > 0 and (.collective.jobs | length == 1)"
            [ "$algorithm" = best ] || holds ".collective.jobs[0].algorithm == \"$algorithm\""
        done
    done
}

@test "collective: the messages are those of the closed forms" {
    # 36 accelerators on rings: 35 steps of 4 streams in each direction, one chunk a segment. Along 6 on a torus, two.
    report "3x2 H2x3Mesh" --traffic all-reduce --algorithm rings --message 1MiB --workers 1
    holds "$WHOLE and .messages == 36 * 2 * 35 * 4 and .bytes_delivered == 2 * 35 * 1048576"
    report "3x2 H2x3Mesh" --traffic all-gather --algorithm ring --message 1MiB --workers 1
    holds "$WHOLE and .messages == 36 * 35 * 2 and .bytes_delivered == 35 * 1048576"
    report "3x2 H2x3Mesh" --traffic reduce-scatter --algorithm torus --message 1MiB
    holds "$WHOLE and .messages == 36 * 4 * (2 * 5 + 5) and .bytes_delivered == 35 * 1048576"
    report "3x2 H2x3Mesh" --traffic all-reduce --algorithm tree --message 1MiB
    holds "$WHOLE and .bytes_delivered == 2 * 35 * 1048576"
}

# bats test_tags=all
@test "collective: any shape, any vector, planes, workers" {
    while read -r shape message planes workers; do
        for kind in $KINDS; do
            report "$shape" --traffic "$kind" --message "$message" --planes "$planes" --workers "$workers"
            holds "$WHOLE and .collective.done == .accelerators"
        done
    done <<'SHAPES'
5x3Hx1Mesh 300000 1 2
1x1Hx1Mesh 4096 1 1
2x1Hx1Mesh 8 2 1
1x1H1x5Mesh 100000 1 1
1x3H2x1Mesh 1MiB 4 2
3x2H2x4Mesh 4 1 2
SHAPES
}

@test "collective: the best algorithm exists for the shape, and depends on the vector" {
    while read -r shape message algorithm; do
        report "$shape" --traffic all-reduce --message "$message"
        holds ".collective.jobs[0].algorithm == \"$algorithm\""
    done <<'SHAPES'
2x2Hx2Mesh 1MiB torus
2x2Hx2Mesh 4 doubling
3x1H1x2Mesh 1MiB torus
5x1Hx1Mesh 1MiB ring
SHAPES
}

@test "collective: on a ring of cables the ring takes the time of its closed form, also placed" {
    # 14 steps of 8 MiB in two directions at 50 GB/s each: 1.174 ms, and the latency of 14 steps.
    for place in "" "--place linear"; do
        # shellcheck disable=SC2086 # words of an option
        report "Ring(8)" --clock virtual --traffic all-reduce --message 64MiB --algorithm ring --no-verify $place
        holds '.virtual_seconds | . > 1174e-6 and . < 1.02 * 1174e-6'
    done
}

# seconds_on PLANES KIB SPEC ALGORITHM: of an all-reduce of so many KiB for each plane.
seconds_on() {
    hxmesh run "$3" --clock virtual -t all-reduce --algorithm "$4" --planes "$1" -m "$(($1 * $2))KiB" --workers 1 \
        --quiet --json - | jq .virtual_seconds
}

@test "collective: n planes carry n times the vector in the time of one" {
    while read -r kib algorithm spec; do
        one=$(seconds_on 1 "$kib" "$spec" "$algorithm")
        for planes in 2 3 4; do
            all=$(seconds_on "$planes" "$kib" "$spec" "$algorithm")
            echo "$planes planes, $spec, $algorithm: $all, on one $one"
            jq -ne "$all < 1.06 * $one" >/dev/null
        done
    done <<'END'
1024 torus 4x4 Hx2Mesh
1024 rings 4x4 Hx2Mesh
1024 torus torus 6x6
200 ring fat-tree hosts=16
1000 halving fat-tree hosts=16
100 bruck slim-fly q=5 p=1
100 direct 4x4 Hx2Mesh
1000 direct slim-fly q=5 p=1
END
}

@test "collective: groups of a schedule choose for all of them, and a ring keeps their order with --place" {
    cat >"$BATS_TEST_TMPDIR/groups.schedule.yaml" <<'SCHEDULE'
ranks: 36
parameters: {how: 0}
groups: {apart: {size: 12, stride: 3}}
program:
  - {collective: all-reduce, group: apart, bytes: 1MiB}
SCHEDULE
    cd "$BATS_TEST_TMPDIR"
    report "mlfm h=3" --clock virtual --traffic groups.schedule.yaml
    best=$(jq .virtual_seconds "$REPORT")
    for algorithm in direct ring torus halving hierarchy; do
        report "mlfm h=3" --clock virtual --traffic groups.schedule.yaml --algorithm "$algorithm"
        holds ".virtual_seconds * 1.1 >= $best"
    done
    sed -i 's/ranks: 36/ranks: 16/; s/size: 12, stride: 3/size: 16/; s/1MiB/1MiB, algorithm: ring/' groups.schedule.yaml
    report "Ring(16)" --clock virtual --traffic groups.schedule.yaml
    linear=$(jq .virtual_seconds "$REPORT")
    printf '%s\n' 0 8 1 9 2 10 3 11 4 12 5 13 6 14 7 15 >order
    report "Ring(16)" --clock virtual --traffic groups.schedule.yaml --place order
    holds ".virtual_seconds > 2 * $linear"
}

# fastest FABRIC BYTES OPTIONS ALGORITHM...: the best algorithm is at most a tenth slower than each of these.
fastest() {
    local fabric=$1 bytes=$2 options=$3 best
    shift 3
    # shellcheck disable=SC2086 # words of options
    report "$fabric" --clock virtual --traffic all-reduce --message "$bytes" --no-verify $options
    best=$(jq .virtual_seconds "$REPORT")
    for algorithm in "$@"; do
        # shellcheck disable=SC2086
        report "$fabric" --clock virtual --traffic all-reduce --message "$bytes" --no-verify $options --algorithm "$algorithm"
        holds ".virtual_seconds * 1.1 >= $best"
    done
}

@test "collective: the best algorithm is as fast as the others where a link of the routes is narrow" {
    fastest "oft k=4" 512KiB "" direct hierarchy ring
    fastest "slim-fly q=4 p=1" 1MiB "--planes 4" direct rings torus swing
    fastest "torus 3x4x5" 1MiB "" torus rings hierarchy direct
}

# bats test_tags=all
@test "collective: the best algorithm is as fast as the others on larger fabrics" {
    fastest "dragonfly a=8 p=4 h=4 groups=9" 4MiB "" direct hierarchy double-tree rings
    fastest "oft k=4" 2MiB "" direct hierarchy ring
    fastest "torus 3x4x5" 4MiB "" torus rings hierarchy direct
    fastest "4x4 Hx2Mesh" 4MiB "--planes 4" torus swing hierarchy direct
}

@test "collective: a broadcast starts at its root" {
    report "2x2 Hx2Mesh" --traffic broadcast --target 2,1 --message 1MiB
    holds "$WHOLE and .collective.jobs[0].root == [2, 1] and .bytes_delivered == 15 * 1048576"
}

@test "collective: time, algorithm bandwidth and bus bandwidth, of all and of each job" {
    report "2x2 Hx2Mesh" --clock virtual --traffic all-reduce --message 1MiB
    holds '.collective | .seconds == .jobs[0].seconds and .bus_gbps == .jobs[0].bus_gbps and
        (.algorithm_gbps * .seconds / 8e-9 - 1048576 | fabs) < 0.01 and (.bus_gbps / .algorithm_gbps - 30 / 16 | fabs) < 1e-6'
    # A share is bus bandwidth over injection.
    holds '.collective.seconds == .seconds and (.collective.bus_gbps / .injection_gbps - .collective.share | fabs) < 1e-6'
    read -r algorithm bus < <(jq -r '.collective | "\(.algorithm_gbps) \(.bus_gbps)"' "$REPORT")
    speed=$(printf 'algorithm bandwidth %.6g Gb/s, bus bandwidth %.6g Gb/s' "$algorithm" "$bus")
    hxmesh run "2x2 Hx2Mesh" --clock virtual --traffic all-reduce --message 1MiB >"$BATS_TEST_TMPDIR/text"
    grep -qxE " {19}[0-9.]+ us, $speed" "$BATS_TEST_TMPDIR/text"
    # Jobs: the one that takes longest stands for all.
    report "4x4 Hx2Mesh" --clock virtual --job "a: 4 all-gather 1MiB" --job "b: 2 all-gather 1MiB"
    holds '(.collective.jobs | map(.seconds) | max) == .collective.seconds and
        (.collective.jobs | max_by(.seconds).bus_gbps) == .collective.bus_gbps and .collective.seconds == .seconds'
    holds '[.collective.jobs[].seconds] == [.jobs[].seconds]'
    # One rank sends nothing.
    report "1x1 Hx1Mesh" --clock virtual --traffic all-reduce
    holds '.collective | .seconds == 0 and .algorithm_gbps == null and .bus_gbps == null'
}

@test "collective: without vectors the messages are the same" {
    report "3x3 Hx2Mesh" --traffic all-reduce --algorithm torus --message 1MiB
    checked=$(jq --compact-output '[.messages, .bytes_delivered, .packets_sent]' "$REPORT")
    report "3x3 Hx2Mesh" --traffic all-reduce --algorithm torus --message 1MiB --no-verify
    holds "$WHOLE and .collective.done == 36"
    [ "$(jq --compact-output '[.messages, .bytes_delivered, .packets_sent]' "$REPORT")" = "$checked" ]
}

@test "collective: each job has its own, by a file" {
    cat >"$BATS_TEST_TMPDIR/jobs.hxm.yaml" <<'FILE'
fabric: 4x4 Hx2Mesh
jobs:
  - {tag: 7, rectangle: [[0, 0], [1, 1]]}
  - {tag: 9, boards: [[0, 2], [3, 2], [0, 3], [3, 3]]}
  - {tag: 11, boards: [[2, 0], [3, 0]]}
failed_boards: [[1, 2], [2, 2], [1, 3], [2, 3], [2, 1], [3, 1]]
traffic: {pattern: all-reduce, algorithm: torus, message: 256KiB, seed: 5}
FILE
    report "$BATS_TEST_TMPDIR/jobs.hxm.yaml"
    holds "$WHOLE and .seed == 5 and .collective.done == 40 and
        ([.collective.jobs[] | [.job, .columns, .rows, .algorithm]] | sort) ==
        [[7, 4, 4, \"torus\"], [9, 4, 4, \"torus\"], [11, 4, 2, \"torus\"]]"
}

# Bytes of all pairs of others, and the most that one host sends or receives, are those of a script of its own.
@test "collective: a total exchange has the shares that are given, and checks every byte" {
    cd "$BATS_TEST_TMPDIR"
    while read -r shape message type seed workers; do
        hosts=$(hxmesh info "$shape" --json - | jq .accelerators)
        python3 - "$hosts" "$message" "$type" "$seed" >expected.json <<'SCRIPT'
import json, random, sys
n, message, size, seed = int(sys.argv[1]), int(sys.argv[2]), {"uint8": 1, "float64": 8}[sys.argv[3]], int(sys.argv[4])
random.seed(seed)
w = [[random.choice([0, 1, 3, random.randrange(1000)]) for _ in range(n)] for _ in range(n)]
w[0][n - 1] += 1
with open("shares.csv", "w") as f:
    f.write("\n".join(", ".join(map(str, row)) for row in w) + "\n")
all_elements, total = message // size * n, sum(map(sum, w))
pair = [[all_elements * x // total * size for x in row] for row in w]
others = sum(pair[i][j] for i in range(n) for j in range(n) if i != j)
most = max(max(sum(pair[i]), sum(row[i] for row in pair)) - pair[i][i] for i in range(n))
json.dump({"others": others, "most": most}, sys.stdout)
SCRIPT
        for clock in wall virtual; do
            for algorithm in direct pairwise; do
                report "$shape" --clock $clock --traffic total-exchange --message "$message" --type "$type" \
                    --algorithm $algorithm --shares shares.csv --workers "$workers" --verify
                holds "$WHOLE and .bytes_delivered == $(jq .others expected.json) and .collective.done == $hosts and
                    (.collective.share * .seconds * .injection_gbps / 8 * 1e9 / $(jq .most expected.json) - 1 |
                        fabs < 1e-6) and .collective.share <= 1 and
                    (.collective.bus_gbps * .collective.seconds * 1e9 / 8 * $hosts / $(jq .others expected.json) - 1 |
                        fabs < 1e-6) and (.collective.vector_bytes - $message | fabs < 8 * $hosts + 1)"
            done
        done
    done <<'SHAPES'
2x2Hx2Mesh 100000 uint8 1 2
3x1H1x2Mesh 400000 float64 2 1
SHAPES
    report "2x2 Hx2Mesh" --traffic total-exchange --message 64KiB --workers 1
    jq .bytes_delivered "$REPORT" >equal
    report "2x2 Hx2Mesh" --traffic total-exchange --message 64KiB --workers 1 --shares 7
    [ "$(jq .bytes_delivered "$REPORT")" = "$(cat equal)" ]
}

# 256 KiB in all: each host keeps a quarter of its own, or nothing.
@test "collective: a fabric file names weights, or a file of them that lies beside it" {
    mkdir "$BATS_TEST_TMPDIR/fabrics"
    printf '0, 1, 1, 1\n1, 0, 1, 1\n1, 1, 0, 1\n1, 1, 1, 0\n' >"$BATS_TEST_TMPDIR/fabrics/weights.csv"
    while read -r shares bytes; do
        cat >"$BATS_TEST_TMPDIR/fabrics/a.hxm.yaml" <<FILE
fabric: 1x1 Hx2Mesh
traffic: {pattern: total-exchange, shares: "$shares", message: 64KiB}
FILE
        report "$BATS_TEST_TMPDIR/fabrics/a.hxm.yaml" --clock virtual --verify
        holds "$WHOLE and (.bytes_delivered - $bytes | fabs < 16 * 4)"
    done <<'SHARES'
4,1,1,1 196608
weights.csv 262144
SHARES
}

@test "collective: shares that cannot be are refused in one line" {
    cd "$BATS_TEST_TMPDIR"
    printf '1, 2\n3, 4, 5, 6\n' >short.csv
    printf '1\n2\n3\n' >three.csv
    printf '1\n2\n3\n4\n5\n' >five.csv
    said 3 "short.csv:1:1: one weight for each of 4 members is expected, or one for all" "1x1 Hx2Mesh" \
        --traffic total-exchange --shares short.csv
    said 3 "3 lines of weights, for 4 members (one for each, or one)" "1x1 Hx2Mesh" --traffic total-exchange \
        --shares three.csv
    said 3 "five.csv:5:1: one line for each of 4 members: this is one more" "1x1 Hx2Mesh" --traffic total-exchange \
        --shares five.csv
    said 3 "all weights are 0, so nothing would be sent" "1x1 Hx2Mesh" --traffic total-exchange --shares 0
    said 3 "none.csv: cannot be read" "1x1 Hx2Mesh" --traffic total-exchange --shares none.csv
    said 3 "shares are of 1024 members at most, not of 1156" "17x17 Hx2Mesh" --clock virtual --traffic total-exchange \
        --shares 1
    said 2 "no multiple of 4" "1x1 Hx2Mesh" --traffic total-exchange --message 1001 --shares 1,2,3,4
    # All bytes go to one, or come from one: 16 TiB.
    printf '0\n0\n0\n1\n' >last.csv
    for shares in 0,0,0,1 last.csv; do
        said 3 "job 0: with these shares one accelerator has a vector of 16 TiB, and 4 TiB are the most" \
            "1x1 Hx2Mesh" --traffic total-exchange --message 4TiB --shares $shares
    done
    said 2 "--shares: is for --traffic total-exchange" "1x1 Hx2Mesh" --traffic all-reduce --shares 1
}

@test "collective: impossible settings are refused in one line" {
    cat >"$BATS_TEST_TMPDIR/corner.hxm.yaml" <<'FILE'
fabric: 2x2 Hx2Mesh
failed_boards: [[1, 1]]
FILE
    said 3 "not all crossings of 4 columns and 4 rows, as a collective needs them; 2x1 boards are (--largest runs it on them)" \
        "$BATS_TEST_TMPDIR/corner.hxm.yaml" --traffic all-reduce
    said 3 "grid of 3 x 2, which has no two rings" "3x1 H1x2Mesh" --traffic all-reduce --algorithm rings
    said 3 "grid of 1 x 4" "1x4 Hx1Mesh" --traffic broadcast --algorithm rings
    said 2 "no multiple of 4" "2x2 Hx2Mesh" --traffic all-gather --message 1001
    said 2 "runs once" "2x2 Hx2Mesh" --traffic all-reduce --count 2
    said 2 "runs once" "2x2 Hx2Mesh" --traffic all-reduce --duration 1s
    said 2 "--rate: is for" "2x2 Hx2Mesh" --traffic all-reduce --rate 0.5
    said 2 "failed board" "$BATS_TEST_TMPDIR/corner.hxm.yaml" --traffic broadcast --target 3,3
    said 3 "so many messages" "2x2 Hx2Mesh" --traffic all-reduce --algorithm rings --message 8TiB
    said 4 "of memory" "4x4 Hx2Mesh" --traffic all-reduce --message 64GiB
    said 2 "did you mean 'rings'" "2x2 Hx2Mesh" --traffic all-reduce --algorithm rigns
}

@test "collective: on request it runs on the largest intact sub-mesh" {
    for clock in wall virtual; do
        report "2x2 H2x1Mesh fail=board1,1" --clock "$clock" --traffic broadcast --largest --verify
        holds "$WHOLE and .collective.done == 4 and .collective.jobs[0].columns == 4 and .settings.largest and
            (.host.again | contains(\" --largest \"))"
    done
    report "2x2 Hx1Mesh fail=board0,0" --clock virtual --traffic broadcast --largest
    holds "$WHOLE and .collective.jobs[0].root == [0, 1] and .settings.target == [[0, 1]]"
    said 2 "--target: a3,2 is on no board of the largest sub-mesh" "2x2 Hx2Mesh fail=board0,1" --traffic broadcast --largest \
        --target 3,2
    # A fabric without boards is always intact.
    report "fat-tree hosts=4" --clock virtual --traffic all-gather --largest
    holds "$WHOLE and .collective.done == 4"
    cat >"$BATS_TEST_TMPDIR/hole.hxm.yaml" <<'FILE'
fabric: 3x2 Hx1Mesh
failed_boards: [[1, 1]]
jobs:
  - {tag: 7, rectangle: [[0, 0], [1, 1]], traffic: all-reduce, largest: true}
  - {tag: 9, boards: [[2, 0], [2, 1]]}
FILE
    report "$BATS_TEST_TMPDIR/hole.hxm.yaml" --clock virtual
    holds "$WHOLE and .collective.done == 2 and .fabric.jobs[0].boards == [[0, 0], [1, 0]]"
}

@test "collective: a dead worker ends it, and the run reports it" {
    # shellcheck disable=SC2153 # CODE: set by finish
    for restart in --restart --no-restart; do
        start "4x4 Hx2Mesh" --traffic all-reduce --message 1GiB --no-verify --workers 2 "$restart"
        await_workers 2
        await_traffic
        kill -KILL "$(workers_of "$PID" | head -n 1)"
        finish
        [ "$CODE" -eq 1 ]
        holds '.collective.done < 64 and .buffers_missing == 0'
        grep -q '^hxmesh: error: 4x4 Hx2Mesh: all-reduce ended with .* of 64 accelerators done' "$BATS_TEST_TMPDIR/stderr"
        nothing_left
    done
}

@test "collective: an interrupted one reports its progress" {
    start "4x4 Hx2Mesh" --traffic all-reduce --message 1GiB --no-verify --workers 2
    await_workers 2
    await_traffic
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
    holds '.interrupted and .collective.done < 64 and .bytes_corrupted == 0 and .buffers_missing == 0'
}

@test "collective: a failed one has no share, and none has a share of the all-to-all bound" {
    run --separate-stderr hxmesh run "2x2 Hx2Mesh" --clock virtual --traffic all-reduce --message 1MiB
    [[ "$output" == *"  collective     16 of 16 accelerators done, "*" % of the best possible"* ]]
    [[ "$output" != *"all-to-all bound"* ]]
    run ! report "2x2 Hx2Mesh" --clock virtual --traffic all-reduce --message 1MiB --fault "a0,0 down at 1us"
    holds '.collective.done < .collective.accelerators and (.collective | has("share")) and .collective.share == null and
        (.collective | [.seconds, .algorithm_gbps, .bus_gbps] == [null, null, null]) and
        .share_of_bound == null'
    run --separate-stderr hxmesh run "2x2 Hx2Mesh" --clock virtual --traffic all-reduce --message 1MiB \
        --fault "a0,0 down at 1us"
    [[ "${lines[*]}" =~ \ collective\ +[0-9]+\ of\ 16\ accelerators\ done\ +job ]]
    run --separate-stderr hxmesh run "2x2 Hx2Mesh" --clock virtual --traffic tornado
    [[ "$output" == *" of injection (4 x 400 Gb/s a plane)"* && "$output" != *"all-to-all bound"* ]]
    run --separate-stderr hxmesh run "2x2 Hx2Mesh" --clock virtual --traffic all-to-all
    [[ "$output" == *" of injection (4 x 400 Gb/s a plane), "*" % of the all-to-all bound"* ]]
}
