# jobs.bats - hxmesh jobs: a trace, random jobs, policies, failures, reports; refusals.

load tools_support

setup_file() {
    EXAMPLES=$(realpath examples)
    export EXAMPLES
}

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

jobs() { "$HXMESH-jobs" "$@"; }
drawn() { jobs --fabric "16x16 Hx2Mesh" --draw 300 --between 2m "$@"; }

@test "jobs: a trace, with each policy" {
    jobs "$EXAMPLES/jobs.csv" --fabric "16x16 Hx2Mesh" --policy first-come --json first.json --csv first.csv
    jobs "$EXAMPLES/jobs.csv" --fabric "16x16 Hx2Mesh" --json backfill.json
    jq -s -e 'all(.[]; .done == 10 and .jobs == 10 and .boards == 256) and .[0].policy == "first-come" and
        .[0].waited_seconds.mean > .[1].waited_seconds.mean and .[0].utilization < .[1].utilization' \
        first.json backfill.json || { cat ./*.json; return 1; }
    awk -F, 'NR == 1 { next } { n++; late += $5 < last; last = $5 } END { exit n != 10 || late }' first.csv
}

@test "jobs: the same seed draws the same jobs, failures delay and restart jobs" {
    drawn --json one.json
    drawn --json two.json
    cmp one.json two.json
    drawn --failing 200h --repair 2h --json failing.json --plot use.svg
    jq -s -e '.[0].failures == 0 and .[1].failures > 0 and .[1].restarts > 0 and .[1].done + .[1].refused == 300 and
        .[1].seconds >= .[0].seconds' one.json failing.json || { cat ./*.json; return 1; }
    grep -q '<svg' use.svg && grep -q 'failed' use.svg
}

@test "jobs: impossible requests are refused" {
    refused 2 "--fabric: is missing (write for example --fabric \"16x16 Hx2Mesh\")" jobs t.csv
    refused 2 "no jobs: name a trace, or draw some with --draw N" jobs --fabric "4x4 Hx2Mesh"
    refused 2 "--draw: draws the jobs that a trace would name: one of the two" jobs t.csv --fabric "4x4 Hx2Mesh" --draw 3
    printf 'arrival,job,duration\n0,3y2,1h\n' >t.csv
    refused 3 "t.csv:2:3: '3y2' is no job (write a number of boards, as 6, or COLUMNSxROWS of them, as 3x2)" \
        jobs t.csv --fabric "4x4 Hx2Mesh"
    refused 3 "torus 8x8: hosts of a torus of one or two sides forward packets: jobs cannot be kept apart" \
        jobs t.csv --fabric "torus 8x8"
    refused 2 "--aspect: is for boards of a HammingMesh: hosts of another fabric have --place" \
        jobs t.csv --fabric "torus 4x4x4" --aspect 2
    refused 2 "--place: is for hosts of another fabric than a HammingMesh" jobs t.csv --fabric "4x4 Hx2Mesh" --place random
}

@test "jobs: on hosts of another fabric, at any place" {
    local tree="fat-tree hosts=256 radix=32"
    for place in contiguous group random; do
        jobs "$EXAMPLES/jobs.csv" --fabric "$tree" --place "$place" --csv "$place.csv" --json "$place.json"
        jq -e '.done == 10 and .hosts == 256 and (has("boards") | not)' "$place.json"
        awk -F, 'NR > 1 { n++; bad += $3 != 1 } END { exit n != 10 || bad }' "$place.csv"
    done
    # Hosts in a row are harder to find than any others.
    jq -s -e '.[0].fragmentation > 0 and .[1].fragmentation == 0 and .[2].fragmentation == 0 and
        .[0].waited_seconds.mean > .[1].waited_seconds.mean' contiguous.json group.json random.json
    jobs "$EXAMPLES/jobs.csv" --fabric "$tree" | grep -q '^  hosts in use   5[0-9]'
}
