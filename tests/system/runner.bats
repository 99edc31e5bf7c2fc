# runner.bats - mk/run-tests.sh: which tests of a .bats file are in a run.

load emulator_support

setup() {
    TOP=$BATS_TEST_DIRNAME/../..
    FILE=$BATS_TEST_TMPDIR/two.bats
    printf '%s\n' '@test "quick" {' true '}' '# bats test_tags=all' '@test "long" {' true '}' >"$FILE"
    mkdir "$BATS_TEST_TMPDIR/logs"
}

# runs WHICH SECONDS: runs the file's tests, which took so long before.
runs() {
    printf '%s\n' "hxmesh@$FILE $2" "hxmesh@$FILE+all $2" >"$BATS_TEST_TMPDIR/logs/seconds"
    cd "$TOP" || return
    env --ignore-environment PATH=/usr/bin:/bin HX_WHICH="$1" mk/run-tests.sh "$BATS_TEST_TMPDIR/logs" "$HXMESH@$FILE"
}

@test "runner: check, its complement and all have their tests of a file" {
    for which in quick:1 1/1:1 all:2; do
        runs "${which%:*}" 1 | tail -n 1 | grep -qx "${which#*:} passed, 0 failed"
    done
}

@test "runner: twelve parts are all runs, each once, whatever they took here" {
    cd "$TOP"
    all=()
    for run in tests/system/*.bats tests/property/prop_*.c tests/unit/test_*.c; do
        case $run in
        *.bats) all+=("build/hxmesh@$run") ;;
        *) run=${run#tests/} && all+=("build/test-loopback@${run%.c}" "build/asan/test-loopback@${run%.c}") ;;
        esac
    done
    parts_of() { for ((k = 1; k <= 12; k++)); do HX_WHICH=$k/12 mk/run-tests.sh "$1" --list "${all[@]}" | sed 's/:[0-9/]*$//' | uniq; done; }
    HX_WHICH=1/1 mk/run-tests.sh "$BATS_TEST_TMPDIR/logs" --list "${all[@]}" | sed 's/:[0-9/]*$//' | sort -u >"$BATS_TEST_TMPDIR/all"
    parts_of "$BATS_TEST_TMPDIR/logs" >"$BATS_TEST_TMPDIR/parts"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/all")" -gt 40 ]
    sort "$BATS_TEST_TMPDIR/parts" | cmp - "$BATS_TEST_TMPDIR/all"
    sed -E 's/.*@(.*)/test-loopback@\1+all 99/' "$BATS_TEST_TMPDIR/all" >"$BATS_TEST_TMPDIR/logs/seconds"
    parts_of "$BATS_TEST_TMPDIR/logs" | cmp - "$BATS_TEST_TMPDIR/parts"
}

@test "runner: a long file is at most as many runs as it has tests" {
    for which in quick:1 1/1:1 all:2; do
        said=$(runs "${which%:*}" 100)
        tail -n 1 <<<"$said" | grep -qx "${which#*:} passed, 0 failed"
        [ "$(grep -c '@.* [0-9]* passed, ' <<<"$said")" -eq "${which#*:}" ]
    done
}
