#!/usr/bin/env bash
# fuzz.sh SECONDS OUTPUT PROGRAM... - runs each libFuzzer program for SECONDS, starting from the stored corpus.
#
# New inputs stay in OUTPUT/corpus, failing ones in OUTPUT/failing-*. When the cause is repaired, move the input to
# tests/fuzz/corpus/NAME; `make check` replays it there. Prints a line for each program with the number of inputs tried
# and of edges reached.
set -euo pipefail

seconds=$1
output=$2
shift 2
status=0
for program in "$@"; do
    name=${program##*/fuzz_}
    mkdir -p "$output/corpus/$name"
    corpora=("$output/corpus/$name")
    [ ! -d "tests/fuzz/corpus/$name" ] || corpora+=("tests/fuzz/corpus/$name")
    log=$output/$name.log
    verdict=nothing
    "$program" -max_total_time="$seconds" -artifact_prefix="$output/failing-$name-" "${corpora[@]}" >"$log" 2>&1 || {
        verdict=FAILED
        status=1
        tail -n 40 "$log"
    }
    # "#1234 DONE cov: 99 ft: ...": inputs tried, edges reached.
    awk -v name="$name" -v seconds="$seconds" -v verdict="$verdict" '
        / cov: / { tried = substr($1, 2); for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
        END { printf "%-10s %6d s  %12d inputs  %6d edges  %s found\n", name, seconds, tried, edges, verdict }' "$log"
done
exit "$status"
