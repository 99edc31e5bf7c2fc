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
    unset HX_FILE HX_TEST # of the run that this is part of
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

@test "runner: every test of a .bats file is known by its name" {
    files=("$TOP"/tests/system/*.bats)
    for file in "${files[@]}"; do HX_WHICH=all "$TOP/mk/bats-tests.sh" "$HXMESH@$file"; done >"$BATS_TEST_TMPDIR/names"
    sed -nE 's/^@test "([^"]*)" *\{.*/\1/p' "${files[@]}" | cmp - "$BATS_TEST_TMPDIR/names"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/names")" -eq "$(cat "${files[@]}" | grep -c '^@test ')" ]
}

@test "runner: a tag of a file keeps all its tests out of check" {
    sed -i '1i # bats file_tags=all' "$FILE"
    for which in quick:0 1/1:2 all:2; do
        [ "$(HX_WHICH=${which%:*} "$TOP/mk/bats-tests.sh" "$HXMESH@$FILE" | wc -l)" -eq "${which#*:}" ]
    done
}

@test "runner: three turns of sanitizers have every test and stored input, each once" {
    for turn in 1 2 3; do make --silent -C "$TOP" turn-list TURN="$turn" BUILD=build; done | sort >"$BATS_TEST_TMPDIR/turns"
    cd "$TOP/tests"
    for file in unit/test_*.c unit/*/test_*.c property/prop_*.c property/*/prop_*.c; do
        case $file in
        */shm/* | */virtual/*) platform=${file#*/} && platform=${platform%/*} ;;
        */dpdk/*) pkg-config --exists libdpdk && platform=dpdk || continue ;;
        *) platform=loopback ;;
        esac
        echo "build/asan/test-$platform@${file%.c}"
    done >"$BATS_TEST_TMPDIR/all"
    for file in fuzz/fuzz_*.c fuzz/*/fuzz_*.c; do
        name=$(basename "$file" .c)
        echo "build/asan/tests/${file%.c}@tests/fuzz/corpus/${name#fuzz_}"
    done >>"$BATS_TEST_TMPDIR/all"
    sort "$BATS_TEST_TMPDIR/all" | diff <(grep /asan/ "$BATS_TEST_TMPDIR/turns") -
    [ "$(grep -c /tsan/ "$BATS_TEST_TMPDIR/turns")" -ge 3 ]
}

@test "runner: twelve commits have all turns, parts of check-all, and parts of clang-tidy" {
    for of in 3 4 12; do
        for commit in {0..11}; do "$TOP/mk/turn.sh" "$of" "$(printf '%08x' "$commit")ff"; done | sort -un |
            cmp - <(seq "$of")
    done
}

@test "runner: the parts of clang-tidy are all sources, each once" {
    of_tidy() { make --silent -C "$TOP" lint-tidy-list TIDY="$1" BUILD="$BATS_TEST_TMPDIR/build"; }
    of_tidy 1/1 | sort >"$BATS_TEST_TMPDIR/all"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/all")" -gt 400 ]
    for k in 1 2 3 4; do of_tidy "$k/4"; done | sort | cmp - "$BATS_TEST_TMPDIR/all"
}
