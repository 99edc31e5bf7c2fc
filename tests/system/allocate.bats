# allocate.bats - hxmesh allocate: jobs on a map, in a file that runs, in mixes; refusals.

load tools_support

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

allocate() { "$HXMESH-allocate" "$@"; }

@test "allocate: jobs get boards, and the map shows them" {
    run allocate "4x4 Hx2Mesh" 2x3 4 1x2
    [ "$status" -eq 0 ]
    [[ "$output" == *"1 1 2 2"$'\n'"1 1 2 2"$'\n'"1 1 3 ."$'\n'". . 3 ."$'\n'* ]] || { echo "$output"; return 1; }
}

@test "allocate: the written file runs, and every job communicates" {
    allocate "8x4 Hx2Mesh" 4x4 2x1 12 2 --json a.json --file jobs.hxm.yaml
    json_holds '.placed == 4 and (.jobs | map(.tag)) == [1, 2, 3, 4] and .in_use == 32' <a.json || { cat a.json; return 1; }
    check jobs.hxm.yaml --json - | json_holds '.acyclic and .unreachable == 0'
    "$HXMESH" run jobs.hxm.yaml --clock virtual -t all-reduce -m 64KiB --json r.json -q
    json_holds '.packets_lost == 0 and (.jobs | length) == 4' <r.json || { cat r.json; return 1; }
}

@test "allocate: failed boards and jobs of a file stay" {
    printf 'fabric: 4x4 Hx2Mesh\nfailed_boards: [[0, 0]]\njobs:\n  - {tag: 1, boards: [[1, 0], [2, 0]]}\n' >f.hxm.yaml
    run allocate f.hxm.yaml 3x3
    [ "$status" -eq 0 ]
    [[ "$output" == *"# 1 1 ."$'\n'"2 2 2 ."$'\n'"2 2 2 ."$'\n'"2 2 2 ."* ]] || { echo "$output"; return 1; }
}

@test "allocate: jobs without room are named, and the exit code is 1" {
    run allocate "4x4 Hx2Mesh" 3x3 3x3
    [ "$status" -eq 1 ]
    [[ "$output" == *"2    3x3    no room"* ]] || { echo "$output"; return 1; }
}

@test "allocate: sorting and other shapes fill more, locality keeps traffic low" {
    fill() { allocate "64x64 Hx2Mesh" --mixes 40 "$@"; }
    fill --no-transpose --aspect 1 --search 0 --json - >greedy.json
    fill --json - >all.json
    fill --sort --locality all-to-all --json - >sorted.json
    jq -s -e '.[0].utilization.mean > 0.9 and .[1].utilization.mean > .[0].utilization.mean + 0.02 and
        .[2].utilization.mean > 0.999 and .[2].upper_all_to_all.mean < .[1].upper_all_to_all.mean / 4' \
        greedy.json all.json sorted.json || { cat ./*.json; return 1; }
    fill --csv - --seed 5 | awk -F, 'NR == 1 { next } { n++; bad += $4 > 1 || $3 > $2 } END { exit n != 40 || bad }'
}

@test "allocate: impossible requests are refused" {
    refused 2 "no job is named (write for example 6 or 3x2 behind the fabric, or --mixes)" allocate "4x4 Hx2Mesh"
    refused 2 "3y2: is no job (write a number of boards, as 6, or COLUMNSxROWS of them, as 3x2)" allocate "4x4 Hx2Mesh" 3y2
    refused 3 "17: asks for 17 boards, and 4x4 Hx2Mesh has 16" allocate "4x4 Hx2Mesh" 17
    refused 2 "--mixes: draws its jobs: name none" allocate "4x4 Hx2Mesh" 2 --mixes 3
    refused 2 "--sizes: is for --mixes" allocate "4x4 Hx2Mesh" 2 --sizes half.csv
    refused 2 "--seed: is for --mixes" allocate "4x4 Hx2Mesh" 2 --seed 1
    printf 'job_size,perc_jobs_lte\n30,50\n1000,100\n' >long.csv
    refused 3 "long.csv: of 8x8 boards jobs have at most half in each direction, and none of the sizes is so short (add smaller ones)" \
        allocate "8x8 Hx2Mesh" --mixes 1 --sizes long.csv
    refused 3 "--failed: leaves none of the 16 boards" allocate "4x4 Hx2Mesh" --mixes 1 --failed 16
    refused 2 "--place: is for jobs that are named, not for --mixes" allocate "4x4 Hx2Mesh" --mixes 1 --place group
    refused 2 "--place: is for hosts of another fabric than a HammingMesh" allocate "4x4 Hx2Mesh" 2 --place group
    refused 2 "--state: is for --defragment: what a job that moves takes along" allocate "4x4 Hx2Mesh" 2 --state 1KiB
    local option
    for option in "--sort" "--transpose" "--aspect 1" "--search 0" "--locality all-reduce"; do
        # shellcheck disable=SC2086 # a value is a word of its own
        refused 2 "${option%% *}: is for boards of a HammingMesh: hosts of another fabric have --place" \
            allocate "fat-tree hosts=64" 2 $option
    done
    refused 3 "fat-tree hosts=64: allocating boards is for a HammingMesh" allocate "fat-tree hosts=64" --mixes 2
    refused 3 "torus 8x8: hosts of a torus of one or two sides forward packets: jobs cannot be kept apart" allocate "torus 8x8" 2
    printf 'job_size,perc_jobs_lte\n1,50\n' >half.csv
    refused 3 "half.csv:2:1: ends before all jobs are told of: the last line has 100 per cent" \
        allocate "4x4 Hx2Mesh" --mixes 1 --sizes half.csv
}

# Boards in a chequered pattern: of the 32 free ones no 4x4 have rows with the same columns, until some jobs move.
@test "allocate: defragmentation moves few jobs, and the fabric carries their state" {
    {
        printf 'fabric: 8x8 Hx2Mesh\njobs:\n'
        for y in {0..7}; do
            for x in {0..7}; do
                [ $(((x / 2 + y) % 2)) -eq 1 ] || printf '  - {boards: [[%d, %d]]}\n' "$x" "$y"
            done
        done
    } >f.hxm.yaml
    run allocate f.hxm.yaml 5x5
    [ "$status" -eq 1 ]
    allocate f.hxm.yaml 5x5 --defragment --state 64KiB --moves moves.csv --file after.hxm.yaml --json - >a.json
    jq -e '.placed == 1 and .in_use == 57 and .defragment.boards <= 20 and .defragment.boards > 0 and
        .defragment.bytes == .defragment.boards * 4 * 65536 and .defragment.utilization_before == 0.5 and
        .defragment.utilization_after == 57 / 64' a.json || { cat a.json; return 1; }
    "$HXMESH" run "8x8 Hx2Mesh" --clock virtual --traffic moves.csv --verify --json r.json -q
    jq -s -e '.[0].bytes_delivered == .[1].defragment.bytes and .[0].packets_lost == 0 and .[0].bytes_corrupted == 0' \
        r.json a.json
    "$HXMESH" info after.hxm.yaml >/dev/null
    refused 2 "--moves: is for --defragment, which makes them" allocate "4x4 Hx2Mesh" 2 --moves x
}

# Settings of the file are written again, with any placement; a failed board stays its job's.
@test "allocate: a written file keeps the jobs of the file read, with all their settings" {
    local jobs='  - tag: 9
    name: "big: #1"
    grid: 2x4
    start: 1ms
    traffic: all-reduce
    message: 1536KiB
    algorithm: ring
'
    printf '%s\n' "fabric: 4x4 Hx2Mesh" "name: 'a: lab'" "failed_boards: [[1, 0]]" "jobs:" \
        "$jobs    boards: [[0, 0], [1, 0]]" "  - {tag: 4, count: 3, traffic: permutation, boards: [[3, 2]]}" >f.hxm.yaml
    allocate f.hxm.yaml 2 --file after.hxm.yaml >/dev/null
    printf '%s\n' 'fabric: "4x4 Hx2Mesh"' 'name: "a: lab"' "planes: 1" "radix: 64" "taper: 1" "failed_boards: [[1, 0]]" \
        "jobs:" "$jobs    boards: [[0, 0], [1, 0]]" "  - tag: 4" "    traffic: permutation" "    count: 3" \
        "    boards: [[3, 2]]" "  - tag: 1" "    boards: [[2, 0], [2, 1]]" | diff - after.hxm.yaml
    printf '%s\n' "fabric: fat-tree hosts=32 radix=8" "name: 'a: tree'" "jobs:" "$jobs    hosts: [[2, 9]]" >f.hxm.yaml
    allocate f.hxm.yaml 3 --file after.hxm.yaml >/dev/null
    grep -qx 'name: "a: tree"' after.hxm.yaml
    sed '1,/^jobs:/d' after.hxm.yaml | diff <(printf '%s\n' "$jobs    hosts: [[2, 9]]" "  - tag: 1" "    hosts: [[10, 12]]") -
}

# Either job would make room by moving to the other row; the one on the failed board may not move.
@test "allocate: defragmentation leaves failed boards and the jobs on them where they are" {
    printf 'fabric: 2x2 Hx2Mesh\nfailed_boards: [[0, 0]]\njobs:\n  - {boards: [[0, 0]]}\n  - {boards: [[1, 1]]}\n' >f.hxm.yaml
    allocate f.hxm.yaml 2x1 --defragment --state 1KiB --moves moves.csv --file after.hxm.yaml --json - >a.json
    jq -e '.placed == 1 and .usable == 3 and .in_use == 3 and .defragment.moves == [{tag: 2, boards: 1}] and
        .jobs[0].rows == [1] and .jobs[0].columns == [0, 1]' a.json || { cat a.json; return 1; }
    grep -qx 'failed_boards: \[\[0, 0\]\]' after.hxm.yaml || { cat after.hxm.yaml; return 1; }
    [ "$(cut -d, -f2,3 moves.csv | sed 1d)" = $'2:2,2:0\n3:2,3:0\n2:3,2:1\n3:3,3:1' ] || { cat moves.csv; return 1; }
}

# Two boards of a row block four, and fit only one below the other: their rings keep their order.
@test "allocate: a job that moves to other rows and columns keeps its logical grid" {
    printf '%s\n' 'fabric: 4x3 Hx2Mesh' 'failed_boards: [[1, 1], [2, 1], [3, 1], [1, 2], [2, 2], [3, 2]]' 'jobs:' \
        '  - {tag: 5, boards: [[0, 0], [1, 0]], traffic: all-reduce}' >f.hxm.yaml
    allocate f.hxm.yaml 4x1 --defragment --file after.hxm.yaml >/dev/null
    sed '1,/^jobs:/d' after.hxm.yaml | diff - <(printf '%s\n' '  - tag: 5' '    grid: 4x2' '    traffic: all-reduce' \
        '    boards: [[0, 1], [0, 2]]' '  - tag: 1' '    boards: [[0, 0], [1, 0], [2, 0], [3, 0]]')
    "$HXMESH" run after.hxm.yaml --clock virtual -t all-reduce -m 8KiB --verify --json - -q | jq -e '.complete and .bytes_corrupted == 0'
}

# Four hosts a leaf: ten hosts need three leaves, and at random more.
@test "allocate: hosts of other fabrics, in a row, by group, at random" {
    local fabric="fat-tree hosts=32 radix=8"
    allocate "$fabric" 2 10 4 --json - >row.json
    allocate "$fabric" 2 10 4 --place group --file jobs.hxm.yaml --json group.json
    allocate "$fabric" 2 10 4 --place random --json random.json
    jq -s -e '.[0].jobs[1].hosts == [[2, 11]] and .[1].jobs[1].groups == 3 and .[1].jobs[2].groups == 1 and
        .[2].jobs[1].groups > 3 and all(.[]; .placed == 3 and .in_use == 16 and .utilization == 0.5)' \
        row.json group.json random.json || { cat ./*.json; return 1; }
    "$HXMESH" run jobs.hxm.yaml --clock virtual -m 8KiB --json r.json -q
    jq -e '[.jobs[] | [.job, .accelerators]] | sort == [[1, 2], [2, 10], [3, 4]]' r.json
    run allocate "$fabric" 30 4
    [ "$status" -eq 1 ]
    [[ "$output" == *"-    4      no room"* ]] || { echo "$output"; return 1; }
}

# Every other host or column is taken: a list 0,2,4,... has room for 45 hosts, or for 37 columns.
@test "allocate: a list ends with ... exactly if something is left out" {
    {
        printf 'fabric: fat-tree hosts=128 radix=16\njobs:\n  - hosts: ['
        seq 1 2 127 | sed 's/.*/[&, &],/'
        printf ']\n'
    } >hosts.hxm.yaml
    {
        printf 'fabric: 128x1 Hx2Mesh\njobs:\n  - boards: ['
        seq 1 2 127 | sed 's/.*/[&, 0],/'
        printf ']\n'
    } >boards.hxm.yaml
    listed() { allocate "$1" "$2" "${@:4}" | awk -v asked="$2" -v column="$3" '$2 == asked { print $column }'; }
    [ "$(listed hosts.hxm.yaml 45 3 --place group)" = "$(seq -s, 0 2 88)" ]
    [ "$(listed hosts.hxm.yaml 46 3 --place group)" = "$(seq -s, 0 2 88),..." ]
    [ "$(listed boards.hxm.yaml 37x1 4)" = "$(seq -s, 0 2 72)" ]
    [ "$(listed boards.hxm.yaml 38x1 4)" = "$(seq -s, 0 2 72),..." ]
}
