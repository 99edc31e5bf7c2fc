#!/bin/bash
# faults_single.bash [PORT...] - every single board and every single link of a 4x4 Hx2Mesh (or the places that are named) fails
# and returns under full traffic: everything arrives. Prints how long it was from the death of a link, and of a board, until traffic was
# whole again: the median and the worst. HXMESH is the program.
set -eu
HXMESH=${HXMESH:-build/hxmesh}
REPORT=$(mktemp)
trap 'rm -f "$REPORT"' EXIT
FOR=20us

simulate() { timeout 300 "$HXMESH" run "4x4 Hx2Mesh" --clock virtual --quiet --json - "$@" >"$REPORT"; }

# whole PLACE: ns until traffic was whole, or nothing if something did not arrive.
whole() {
    simulate --no-links --check-steps --fault "$1 down at 5us for $FOR" &&
        jq 'select(.complete and .messages == .messages_begun and .packets_lost == 0 and .buffers_missing == 0) |
            .faults[0] | select(.lost > 0) | .whole_after_ns' "$REPORT"
}

# summary WORD PLACE...: of all of them.
summary() {
    local word=$1 place ns
    shift
    for place in "$@"; do
        ns=$(whole "$place") || ns=
        [ -n "$ns" ] || { echo "not whole: $place"; exit 1; }
        echo "$ns"
    done | sort -n | awk -v word="$word" -v span="$FOR" '/not whole/ { print; bad = 1 } { at[NR] = $1 }
        END { if (!bad) printf "%d %s, each down for %s: whole again after %.0f us (median), %.0f us (worst)\n",
              NR, word, span, at[int((NR + 1) / 2)] / 1e3, at[NR] / 1e3; exit bad }'
}

if [ $# -gt 0 ]; then
    summary places "$@"
    exit
fi
simulate
mapfile -t links < <(jq --raw-output '.links[].from | select(startswith("a"))' "$REPORT")
summary links "${links[@]}"
summary boards board{0..3},{0..3}
