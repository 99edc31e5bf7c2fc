#!/usr/bin/env bash
# model.sh OUTPUT least|quick|full [MODEL] - lets spin search every state of the models in tests/model. Prints TAP with
# states, depth and time.
#
# A run must find no error; or, with one rule broken, it must find that error, since a model that cannot fail proves
# nothing. `least` (for `make check`) proves sessions once and breaks a rule of each model, `quick` is for `make
# check-all`, and `full` adds larger bounds. HX_MODEL_DEPTH: greatest depth of the search in steps (1000000). A search
# that needs more is incomplete, and an error.
set -euo pipefail

output=$1
size=$2
only=${3:-}
tests=0
status=0

# run MODEL EXPECTED DEFINE... - EXPECTED: `proven`, or words of the comment beside the assertion that must fail.
run() {
    local model=$1 expected=$2 folder figures found verdict=ok optimize=-O2
    shift 2
    [ -z "$only" ] || [ "$only" = "$model" ] || return 0
    [ "$size" != least ] || [[ $* =~ ^REPLAYS=0\ RESTARTS|^BREAK_LIMIT|^BREAK_ORDER ]] || return 0
    tests=$((tests + 1))
    # A search that stops at an error takes less time than optimizing it.
    [ "$expected" = proven ] || optimize=-O0
    folder=$output/$model$(printf '_%s' "$@" | tr -c '[:alnum:]_' _)
    rm -rf "$folder"
    mkdir -p "$folder"
    cp "tests/model/$model.pml" "$folder"
    (
        cd "$folder"
        spin -a "${@/#/-D}" "$model.pml" >spin.log 2>&1
        # No warnings, as spin wrote the code. States are stored completely, so the search is exact.
        gcc $optimize -w -DSAFETY -DMEMLIM=6000 pan.c -o pan
        ./pan -b -m"${HX_MODEL_DEPTH:-1000000}" -w22 >pan.log 2>&1
    ) || true
    figures=$(awk '/ states, stored/ { states = $1 }
                   /depth reached/ { sub(",", "", $6); depth = $6 }
                   /elapsed time/ { time = $4 }
                   END { printf "%s states, depth %s, %s s", states, depth, time }' "$folder/pan.log" 2>/dev/null || true)
    if [ "$expected" = proven ]; then
        grep -q 'errors: 0$' "$folder/pan.log" && ! grep -q 'Search not completed' "$folder/pan.log" || verdict="not ok"
    else
        # The line of the failed assertion, from spin's trail.
        found=$(cd "$folder" && spin -t "${@/#/-D}" "$model.pml" 2>/dev/null | sed -n 's/^spin: .*:\([0-9]*\), Error: assertion violated/\1/p' | head -n 1)
        [ -n "$found" ] && sed -n "${found}p" "tests/model/$model.pml" | grep -q "/\* $expected" || verdict="not ok"
    fi
    echo "$verdict $tests - $model $*: $expected ($figures)"
    [ "$verdict" = ok ] || {
        sed 's/^/# /' "$folder"/*.log
        status=1
    }
}

run session proven RESTARTS=0
run session proven REPLAYS=0
run session proven REPLAYS=0 RESTARTS=0 LOSSES=3 WIRE=3 SENDS=4
run session proven REPLAYS=0 DOUBLES=1
run session proven RESTARTS=0 FORGERIES=1 SENDS=2
run session 'no stale grant' BREAK_SESSION REPLAYS=0
run session 'no refusal' BREAK_LIMIT
run session 'no stale grant' BREAK_NAMES
run session 'no stranger' BREAK_NONCE
run session 'heard though the buffer is full' BREAK_FULL
run session 'whole again' BREAK_RECONCILE
run session 'whole again' BREAK_HELD
run redo proven KILLS=1
run redo 'one place' BREAK_RECORD
run redo 'never in none' BREAK_ORDER
run redo 'never in none' BREAK_RELEASE
run redo 'never in none' BREAK_ACQUIRE
run redo 'one place' BREAK_COUNT
run redo 'never in none' BREAK_DRAIN
if [ "$size" = full ]; then
    run session proven REPLAYS=1 RESTARTS=1
    run session proven REPLAYS=0 RESTARTS=2 SENDS=2
    run session proven REPLAYS=0 RESTARTS=0 BUFFER=4 LOSSES=3 WIRE=4 SENDS=7
    run redo proven KILLS=2
fi
echo "1..$tests"
exit "$status"
