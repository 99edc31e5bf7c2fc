# docs_figures.bats - measured figures of the documentation are what the build gives (mk/docs-figures.sh).

load tools_support

setup() {
    TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    BUILD=$(cd "$(dirname "$HXMESH")" && pwd)
    export BUILD
}

# figures ARGUMENT...: on a folder of the test's own.
figures() { HX_DOCS=$BATS_TEST_TMPDIR/docs "$TOP/mk/docs-figures.sh" "$@"; }

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

@test "docs figures: those of a few seconds are what the build gives" {
    HX_MOST_SECONDS=10 "$TOP/mk/docs-figures.sh" --check
}

# bats test_tags=all
@test "docs figures: all are what the build gives" {
    "$TOP/mk/docs-figures.sh" --check
}
