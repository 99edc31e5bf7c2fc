# pages.bats - what pages say of the sources: names of files, folders and functions, the list of folders in README.md,
# and lines of code.

bats_require_minimum_version 1.5.0

setup() {
    HXMESH=$(realpath -m "${HXMESH:-build/hxmesh}")
    export HXMESH
    TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    cd "$BATS_TEST_TMPDIR" || return
}

@test "pages: every line of code that a page shows of a file is in that file" {
    local page file line quoted=0
    cd "$TOP"
    for page in docs/*.md; do
        file=
        while IFS= read -r line; do
            case $line in
            '<!-- from '*) file=${line#'<!-- from '} file=${file%' -->'} ;;
            '```') file= ;;
            '```'* | '') ;;
            *)
                [ -n "$file" ] || continue
                sed 's/ *\\$//' "$file" | grep -xF -- "$line" >/dev/null || { echo "$page: not in $file: $line"; return 1; }
                quoted=$((quoted + 1))
                ;;
            esac
        done <"$page"
    done
    [ "$quoted" -ge 60 ]
}

@test "pages: all code that add-topology.md and add-collective.md show is of a file" {
    cd "$TOP"
    for page in docs/add-*.md; do
        awk '/^```c$/ && before !~ /^<!-- from / { print FILENAME ":" FNR ": of no file"; bad = 1 } { before = $0 } END { exit bad }' "$page"
    done
    [ -f docs/add-collective.md ]
}

# skeletons KIND: the blocks of that kind after <!-- test --> in testing.md, as skeleton1.KIND and so on.
skeletons() {
    awk -v kind="$1" '
        /^```/ { name = ""; if (before == "<!-- test -->" && $0 == "```" kind) name = "skeleton" ++n "." kind; next }
        name { print > name }
        { before = $0 }' "$TOP/docs/testing.md"
}

@test "pages: the skeletons of tests in testing.md compile and pass" {
    local build
    build=$(dirname "$HXMESH")
    skeletons c
    skeletons bash
    for source in skeleton1.c skeleton2.c; do
        gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror "-I$TOP/include" "-I$TOP" "-I$TOP/lib" "$source" -o "${source%.c}" \
            "$build/libhxmesh-host.a" -lcmocka -lm
        run "./${source%.c}"
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output == *"[  PASSED  ] 1 test(s)."* ]]
    done
    cp "$TOP"/tests/system/*_support.bash .
    cp skeleton1.bash skeleton.bats
    run bats --tap skeleton.bats
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^ok ' <<<"$output")" -eq 2 ]
}

@test "pages: make coverage counts the lines of each folder that its suites run" {
    mkdir -p tests lib/a build/plain/lib/a
    printf '%s\n' 'int f(int x)' '{' '    if (x)' '        return 1;' '    return 2;' '}' >lib/a/f.c
    printf '%s\n' 'int g(void)' '{' '    return 3;' '}' >lib/a/g.c
    printf '%s\n' '#include <stdio.h>' 'int f(int x);' 'int main(int n, char **w)' \
        '{ (void)w; if (n < 2) { puts("unit/test_a"); return 0; } return f(0) != 2; }' >tests/run.c
    for source in f g; do gcc --coverage -O0 -c "lib/a/$source.c" -o "build/plain/lib/a/$source.o"; done
    gcc --coverage tests/run.c build/plain/lib/a/f.o -o build/test-loopback
    run "$TOP/mk/coverage.sh" build
    [ "$status" -eq 0 ]
    diff - <(tr -s ' ' <<<"$output") <<'END'
folder lines ran share
lib/a 6 3 50.0 %
all 6 3 50.0 %
END
    run -2 "$TOP/mk/coverage.sh" build nothing
    [[ $output == "hxmesh: error: coverage: no suite has 'nothing' in its name"* ]]
}
