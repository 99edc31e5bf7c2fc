# jobs.bats - hxmesh jobs: a trace, drawn jobs, policies, failures, reports; what it refuses.

load tools_support

setup_file() {
    HXMESH=$(realpath -m "${HXMESH:-build/hxmesh}")
    EXAMPLES=$(realpath examples)
    export HXMESH EXAMPLES
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

@test "jobs: the same seed draws the same, failures delay and begin jobs again" {
    drawn --json one.json
    drawn --json two.json
    cmp one.json two.json
    drawn --failing 200h --repair 2h --json failing.json --plot use.svg
    jq -s -e '.[0].failures == 0 and .[1].failures > 0 and .[1].restarts > 0 and .[1].done + .[1].refused == 300 and
        .[1].seconds >= .[0].seconds' one.json failing.json || { cat ./*.json; return 1; }
    grep -q '<svg' use.svg && grep -q 'failed' use.svg
}

@test "jobs: what it cannot do" {
    refused 2 "--fabric: is missing (write for example --fabric \"16x16 Hx2Mesh\")" jobs t.csv
    refused 2 "no jobs: name a trace, or draw some with --draw N" jobs --fabric "4x4 Hx2Mesh"
    refused 2 "--draw: draws the jobs that a trace would name: one of the two" jobs t.csv --fabric "4x4 Hx2Mesh" --draw 3
    printf 'arrival,job,duration\n0,3y2,1h\n' >t.csv
    refused 3 "t.csv:2:3: '3y2' is no job (write a number of boards, as 6, or COLUMNSxROWS of them, as 3x2)" \
        jobs t.csv --fabric "4x4 Hx2Mesh"
    refused 3 "torus 8x8: allocating boards is for a HammingMesh" jobs t.csv --fabric "torus 8x8"
}
