#!/bin/bash
# faults_single.bash [PORT...] - every single board and every single link of a 4x4 Hx2Mesh (or the given places) fails
# and returns under full traffic: everything arrives. Then every link of it with two planes, and every link between
# switches of two other fabrics, dies for good under light traffic. Prints the time from a death until traffic
# recovered: the median and the worst. HXMESH is the program.
set -eu
HXMESH=${HXMESH:-build/hxmesh}
REPORT=$(mktemp)
trap 'rm -f "$REPORT"' EXIT

# simulate ARGUMENTS...: the fabric $SPEC.
simulate() { timeout 1200 "$HXMESH" run "$SPEC" --clock virtual --quiet --json - "$@" >"$REPORT"; }

# whole PLACE: ns until traffic recovered, 0 without a hit; or nothing if a message is missing.
whole() {
    simulate --no-links "${WITH[@]}" --fault "$1 down $WHEN" &&
        jq 'select(.complete and .messages == .messages_begun and .packets_lost == 0 and .buffers_missing == 0) |
            .faults[0].whole_after_ns // empty' "$REPORT"
}

# summary WORD LEAST PLACE...: of all of them, of which at least LEAST must have hits.
summary() {
    local word=$1 least=$2 place ns
    shift 2
    for place in "$@"; do
        ns=$(whole "$place") || ns=
        [ -n "$ns" ] || { echo "not whole: $SPEC, $place"; exit 1; }
        echo "$ns"
    done | sort -n | awk -v word="$word" -v when="$WHEN" -v least="$least" '/not whole/ { print; bad = 1 } $1 > 0 { at[++hit] = $1 }
        END { if (!bad && hit < least) { printf "only %d of %d %s hit anything\n", hit, NR, word; bad = 1 }
              if (!bad) printf "%s down %s, %d of %d hit traffic: whole again after %.0f us (median), %.0f us (worst)\n",
              word, when, hit, NR, at[int((hit + 1) / 2)] / 1e3, at[hit] / 1e3; exit bad }'
}

SPEC="4x4 Hx2Mesh" WHEN="at 5us for 20us" WITH=(--check-steps)
if [ $# -gt 0 ]; then
    summary places $# "$@"
    exit
fi
simulate
mapfile -t links < <(jq --raw-output '.links[].from | select(startswith("a"))' "$REPORT")
summary links ${#links[@]} "${links[@]}"
summary boards 16 board{0..3},{0..3}

# dies_for_good SPEC FILTER: links with an end's name that matches the filter, one after the other.
dies_for_good() {
    SPEC=$1
    simulate "${WITH[@]}"
    mapfile -t links < <(jq --raw-output ".links[] | select($2) | .from" "$REPORT")
    summary "links of $SPEC" 1 "${links[@]}"
}
WHEN="at 50us" WITH=(--planes 2 --traffic uniform --rate 0.1 --message 8KiB --duration 200us)
dies_for_good "4x4 Hx2Mesh" '.from | test("^a.*/p0/")'
WITH=("${WITH[@]:2}")
dies_for_good "fat-tree hosts=64 radix=16" '[.from, .to] | all(startswith("a") | not)'
dies_for_good "dragonfly a=4 p=2 h=2" '[.from, .to] | all(startswith("a") | not)'
