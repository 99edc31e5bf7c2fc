#!/usr/bin/env bash
# coverage.sh BUILD [TEXT] - runs suites of BUILD/test-loopback, which is built with --coverage, and prints how many
# lines of each folder ran: of .c files that this program is built of, without those of tests and without headers.
#
# Of all suites it runs unit tests, or with TEXT those with this text in their name, with few cases. With TEXT it prints
# folders of which a line ran.
set -euo pipefail

build=$1 text=${2:-unit/}
runner=$build/test-loopback

mapfile -t suites < <("$runner" | grep -F -- "$text" || true)
[ ${#suites[@]} -gt 0 ] || { echo "hxmesh: error: coverage: no suite has '$text' in its name ($runner lists them)" >&2; exit 2; }
find "$build" -name '*.gcda' -delete
status=0
printf '%s\0' "${suites[@]}" | HX_WHICH=quick xargs -0 -n 1 -P "$(nproc)" "$runner" >"$build/coverage.log" 2>&1 || status=$?
[ "$status" -eq 0 ] || echo "hxmesh: error: coverage: a test failed ($build/coverage.log)" >&2

# gcov says "File 'NAME'", then "Lines executed:SHARE% of LINES".
find "$build" -name '*.gcno' -print0 | xargs -0 gcov --no-output --relative-only 2>/dev/null | awk -v selected="${2:-}" '
    /^File / { file = substr($2, 2, length($2) - 2); next }
    /^Lines executed:/ && file ~ /\.c$/ && file !~ /^tests\// {
        folder = file
        sub(/\/[^\/]*$/, "", folder)
        split($2, share, /[:%]/)
        lines[folder] += $4
        ran[folder] += int(share[2] * $4 / 100 + 0.5)
    }
    { file = "" }
    function row(name, lines, ran) { return sprintf("%-28s %8d %8d %7.1f %%", name, lines, ran, lines ? 100 * ran / lines : 0) }
    END {
        printf "%-28s %8s %8s %9s\n", "folder", "lines", "ran", "share"
        for (folder in lines) {
            if (ran[folder] || !selected)
                print row(folder, lines[folder], ran[folder]) | "sort"
            all += lines[folder]
            all_ran += ran[folder]
        }
        close("sort")
        if (!selected)
            print row("all", all, all_ran)
    }'
exit "$status"
