# pages.bats - what pages say of the sources: names of files, folders and functions, the list of folders in README.md,
# and lines of code.

bats_require_minimum_version 1.5.0

setup() {
    HXMESH=$(realpath -m "${HXMESH:-build/hxmesh}")
    export HXMESH
    TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    cd "$BATS_TEST_TMPDIR" || return
}

# names_in PAGE: mk/page_names.awk on it, with a tree of a few sources.
names_in() {
    mkdir -p firmware hal/a hal/b
    printf '%s\n' 'static void take(void)' '{' '    put(1);' '}' '#define FULL 3' >firmware/ring.c
    printf '%s\n' 'struct hal_ring {' '    int room;' '};' 'void put(int n);' | tee hal/a/port.h >hal/b/port.h
    find ./*/ -type f | sed 's,^\./,,' >files
    cat >page.md
    run awk -f "$TOP/mk/page_names.awk" files page.md firmware/ring.c hal/a/port.h hal/b/port.h
}

# shellcheck disable=SC2016 # the backticks are text
@test "pages: a file or function that is not where a page says is found" {
    names_in <<'END'
The `ring.c`: `take`, `FULL`. Its `room` is in `struct hal_ring` of `hal/a/`, and `hal/NAME/port.h` is any. In
`firmware/ring.c`: `put`. It calls `put`, not `lost`. `gone.c` is in `hal/c`. `port.h`: `put`.

| stage | firmware: `firmware/` | port: `hal/a/` |
|---|---|---|
| 1 | `ring.c`: `take` (`room`) | `port.h`: `put` |
| 2 | `ring.c`: `room`; then `hal/b/port.h`: `take` | `ring.c` |

    `sample` of `no.c`
END
    [ "$status" -eq 1 ]
    diff - <(sort <<<"$output") <<'END'
page.md:1: `gone.c` is not in the tree
page.md:1: `hal/c` is not in the tree
page.md:1: `lost` is not in the sources
page.md:1: `port.h` is in several folders: name one
page.md:1: `put` is not a function of firmware/ring.c
page.md:6: `room` is not a function of firmware/ring.c
page.md:7: `ring.c` is not in the tree
page.md:7: `room` is not a function of firmware/ring.c
page.md:7: `take` is not a function of hal/b/port.h
END
    names_in <<<'The `ring.c`: `take` and `FULL`.'
    [ "$status" -eq 0 ] && [ -z "$output" ]
}

# sources_of_readme: the lines of its list of folders, then an empty one, and its picture.
sources_of_readme() { sed -n '/^## Sources$/,/^## /p' "$TOP/README.md"; }

@test "pages: README.md lists every folder of the sources, and no other" {
    cd "$TOP"
    sources_of_readme | awk '
        /^    [a-z]/ { top = $1; sub(/\/hxmesh\/$/, "/", top); print top }
        /^      [a-z][a-z-]*\/ / { print top $1 }' | sort >"$BATS_TEST_TMPDIR/listed"
    printf '%s\n' */ lib/*/ | grep -vE '^build(-.*)?/$' | sort | diff - "$BATS_TEST_TMPDIR/listed"
}

@test "pages: the picture in README.md has folders only, each once" {
    cd "$TOP"
    sources_of_readme | awk '/^$/ { block++ } block == 3' | grep -oE '[a-z][a-z/-]*' >"$BATS_TEST_TMPDIR/rooms"
    [ "$(sort -u "$BATS_TEST_TMPDIR/rooms" | wc -l)" -ge 8 ]
    [ -z "$(sort "$BATS_TEST_TMPDIR/rooms" | uniq -d)" ]
    while read -r folder; do [ -d "$folder" ] || { echo "no folder: $folder"; return 1; }; done <"$BATS_TEST_TMPDIR/rooms"
}

@test "pages: the top folder has no file but these" {
    cd "$TOP"
    git ls-files | grep -v / | sort | diff - <(printf '%s\n' .clang-format .clang-tidy .gitignore CHANGELOG.md \
        CONTRIBUTING.md LICENSE Makefile README.md)
}

@test "pages: README.md links every page of docs, and CONTRIBUTING.md" {
    cd "$TOP"
    for page in docs/*.md CONTRIBUTING.md; do
        grep -qF "]($page)" README.md || { echo "no link to $page"; return 1; }
    done
}

@test "pages: every link to a page leads to it" {
    cd "$TOP"
    for page in README.md CONTRIBUTING.md docs/*.md; do
        while read -r to; do
            [ -e "$(dirname "$page")/$to" ] || { echo "$page: no $to"; return 1; }
        done < <(grep -oE '\]\([^):#]+[)#]' "$page" | sed -E 's/^..|.$//g')
    done
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
