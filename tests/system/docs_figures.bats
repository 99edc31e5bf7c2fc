# docs_figures.bats - measured figures of the documentation are what the build gives (mk/docs-figures.sh).

load tools_support

setup() {
    TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    BUILD=$(cd "$(dirname "$HXMESH")" && pwd)
    export BUILD
}

# figures ARGUMENT...: on a folder of the test's own.
figures() { HX_DOCS=$BATS_TEST_TMPDIR/docs JOBS=2 "$TOP/mk/docs-figures.sh" "$@"; }

page() {
    mkdir -p "$BATS_TEST_TMPDIR/docs/figures"
    printf '%s\n' 'Before.' '' '<!-- figure: one -->' '' "$1" '' '<!-- end of figure -->' '' 'Behind.' \
        >"$BATS_TEST_TMPDIR/docs/page.md"
    printf '#!/bin/bash\n# seconds: 1\necho "| new |"\n' >"$BATS_TEST_TMPDIR/docs/figures/one.sh"
}

@test "docs figures: a stale table is found, and replaced" {
    page '| old |'
    run figures --check
    [ "$status" -eq 1 ]
    [[ "$output" == *"-| old |"*"+| new |"* ]]
    figures
    figures --check
    diff "$BATS_TEST_TMPDIR/docs/page.md" <(printf '%s\n' 'Before.' '' '<!-- figure: one -->' '' '| new |' '' \
        '<!-- end of figure -->' '' 'Behind.')
}

@test "docs figures: a script without a page, or without its seconds, is an error" {
    page x
    echo 'echo x' >"$BATS_TEST_TMPDIR/docs/figures/one.sh"
    run figures --check
    [ "$status" -eq 1 ]
    [[ "$output" == *"one: it has no line '# seconds: N'"* ]]
    printf '# seconds: 1\necho x\n' >"$BATS_TEST_TMPDIR/docs/figures/two.sh"
    run figures two
    [ "$status" -eq 1 ]
    [[ "$output" == *"two: no page has '<!-- figure: two -->'"* ]]
}

@test "docs figures: README.md has figures too, and a page several" {
    page '| old |'
    printf '%s\n' '<!-- figure: two -->' '' '<!-- end of figure -->' >"$BATS_TEST_TMPDIR/README.md"
    printf '%s\n' '<!-- figure: three -->' '' '<!-- end of figure -->' >>"$BATS_TEST_TMPDIR/docs/page.md"
    printf '# seconds: 2\necho two\n' >"$BATS_TEST_TMPDIR/docs/figures/two.sh"
    printf '# seconds: 3\necho three\n' >"$BATS_TEST_TMPDIR/docs/figures/three.sh"
    figures
    diff "$BATS_TEST_TMPDIR/README.md" <(printf '%s\n' '<!-- figure: two -->' '' two '' '<!-- end of figure -->')
    grep -qxF '| new |' "$BATS_TEST_TMPDIR/docs/page.md"
    grep -qxF three "$BATS_TEST_TMPDIR/docs/page.md"
    printf '# seconds: 3\necho other\n' >"$BATS_TEST_TMPDIR/docs/figures/three.sh"
    HX_MOST_SECONDS=2 figures --check
    HX_LEAST_SECONDS=4 figures --check
    run figures --check
    [[ "$status" -eq 1 && "$output" == *"-three"*"+other"* ]]
}

@test "docs figures: a script that ends with an error leaves its page as it is" {
    page '| old |'
    printf '# seconds: 1\necho "| half |"\nfalse\n' >"$BATS_TEST_TMPDIR/docs/figures/one.sh"
    run figures
    [ "$status" -eq 1 ]
    [[ "$output" == *"one: its script ended with an error"* ]]
    grep -qxF '| old |' "$BATS_TEST_TMPDIR/docs/page.md"
}

@test "docs figures: each mark has its script" {
    local name
    grep -hoE '^<!-- figure: .* -->$' "$TOP/README.md" "$TOP"/docs/*.md | sed 's/<!-- figure: //; s/ -->//' |
        while read -r name; do [ -e "$TOP/docs/figures/$name.sh" ] || { echo "$name"; return 1; }; done
}

@test "docs figures: those of a second are what the build gives" {
    JOBS=1 HX_MOST_SECONDS=1 "$TOP/mk/docs-figures.sh" --check
}

# bats test_tags=all
@test "docs figures: those of up to three minutes are what the build gives" {
    JOBS=1 HX_LEAST_SECONDS=2 HX_MOST_SECONDS=180 "$TOP/mk/docs-figures.sh" --check
}
