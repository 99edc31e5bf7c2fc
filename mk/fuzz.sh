#!/usr/bin/env bash
# fuzz.sh SECONDS OUTPUT PROGRAM... - lets each libFuzzer program search for SECONDS, starting from the stored corpus.
#
# New inputs stay in OUTPUT/corpus; one that fails is kept as OUTPUT/failing-*. Once its cause is repaired it belongs
# into tests/fuzz/corpus/NAME, where every `make check` replays it.
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
    echo "== $name: $seconds s"
    "$program" -max_total_time="$seconds" -artifact_prefix="$output/failing-$name-" -print_final_stats=1 -verbosity=0 \
        "${corpora[@]}" || status=1
done
exit "$status"
