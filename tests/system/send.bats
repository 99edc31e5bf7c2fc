# asan
# send.bats - hxmesh send: a real file, the same at every receiver.

load emulator_support

setup() {
    fresh_name
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir saved
}
teardown() { leave_nothing; }

# carry ARGUMENTS...: sends quietly; the report goes to $REPORT.
carry() { hxmesh send "$@" --name "$NAME" --quiet --json - >"$REPORT"; }

sum_of() { sha256sum "$1" | cut -d ' ' -f 1; }

# arrived FILE RECEIVERS: the report has these receivers, and the copies in saved/ equal the file.
arrived() {
    local file=$1 receivers=$2 copy copies=0
    holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0'
    # shellcheck disable=SC2016 # variables of jq
    holds '.sha256 == $sum and .file_bytes == $bytes and .identical == $receivers and
        (.receivers | length == $receivers and all(.identical and .sha256 == $sum) and
            ([.[].at] | unique | length == $receivers))' \
        --arg sum "$(sum_of "$file")" --argjson bytes "$(stat -c %s "$file")" --argjson receivers "$receivers"
    for copy in saved/a*."$file"; do
        cmp "$file" "$copy"
        copies=$((copies + 1))
    done
    [ "$copies" -eq "$receivers" ]
}

@test "send: to all, of every awkward size" {
    for bytes in 0 1 8192 262144 262145; do
        head -c "$bytes" /dev/urandom >"file-$bytes"
        carry "file-$bytes" --fabric "2x2 Hx2Mesh" --save saved
        arrived "file-$bytes" 15
    done
}

@test "send: 3 MiB to all, over four planes and workers" {
    head -c 3145728 /dev/urandom >large
    carry large --fabric "2x2 Hx2Mesh" --planes 4 --workers 4 --save saved
    arrived large 15
    holds '.planes == 4 and .host.workers == 4 and .bytes_delivered == 15 * 3145728'
}

@test "send: to one" {
    head -c 3145728 /dev/urandom >large
    carry large --from 0,0 --to 7,5 --save saved
    arrived large 1
    holds '.spec == "4x4 Hx2Mesh" and .receivers[0].at == [7, 5]'
    [ -e saved/a7,5.large ]
}

@test "send: from another host" {
    head -c 100000 /dev/urandom >file
    carry file --fabric "3x2 H2x4Mesh" --from 5,7 --save saved
    arrived file 47
    holds '[.receivers[].at] | index([[5, 7]]) == null and index([[0, 0]]) != null'
    [ ! -e saved/a5,7.file ]
    rm saved/*
    carry file --fabric "3x2 H2x4Mesh" --from 5,7 --to 0,0 --save saved
    arrived file 1
}

@test "send: the output for people" {
    head -c 5000 /dev/urandom >file
    run --separate-stderr hxmesh send file --fabric "1x1 Hx2Mesh" --name "$NAME"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ "${lines[0]}" == "file: 5000 bytes from a0,0" ]]
    [ "$(grep -c "sha-256 $(sum_of file)  a.*identical" <<<"$output")" -eq 3 ]
    [[ "$output" == *"3 of 3 identical, 0 bytes differ"* ]]
    [[ "$output" != *DIFFERS* ]]
}

@test "send: within a job only" {
    head -c 5000 /dev/urandom >file
    printf 'fabric: 2x1 Hx2Mesh\njobs:\n  - tag: 3\n    boards: [[0, 0]]\n' >jobs.hxm.yaml
    carry file --fabric jobs.hxm.yaml --save saved
    arrived file 3
    run --separate-stderr hxmesh send file --fabric jobs.hxm.yaml --name "$NAME" --to 2,0
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [[ "$stderr" == "hxmesh: error: --to: "* ]]
}

@test "send: from the first host that works, unless another is given" {
    head -c 5000 /dev/urandom >file
    printf 'fabric: 2x1 Hx2Mesh\nfailed_boards: [[0, 0]]\n' >failed.hxm.yaml
    run --separate-stderr hxmesh send file --fabric failed.hxm.yaml --from 0,0 --name "$NAME"
    [ "$status" -eq 2 ]
    [ "$stderr" = "hxmesh: error: --from: a0,0 is on a failed board" ]
    run --separate-stderr hxmesh send file --fabric failed.hxm.yaml --name "$NAME"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "file: 5000 bytes from a2,0" ]
    [[ "$output" == *"3 of 3 identical, 0 bytes differ"* ]]
}
