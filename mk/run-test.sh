#!/usr/bin/env bash
# run-test.sh LOGS RUN - runs the tests of one run. Prints a line; if it fails, also its log and the commands that
# repeat it.
#
# mk/run-tests.sh explains RUN and the variables. LOGS/NAME.result is "RUN|PASSED|FAILED|SKIPPED|WALL|USER|SYSTEM", in
# tests and seconds. A run that exits with an error but names no failed test counts as one failed test.
set -euo pipefail

export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
here=$(dirname "$0")
logs=$1 run=$2
program=${run%%@*} what=${run#*@}
log=$logs/${run//[\/@: ]/_}.log
read -ra under <<<"${HX_TEST_UNDER:-}"

# The names of the .bats tests to run, as a regular expression.
names() {
    local name
    "$here/bats-tests.sh" "$run" | while IFS= read -r name; do
        # shellcheck disable=SC2053 # it is a pattern
        [[ -n ${HX_TEST:-} && $name != ${HX_TEST} ]] || echo "$name"
    done | sed 's/[][\.*^$+?(){}|]/\\&/g' | paste -sd '|' | sed 's/.*/^(&)$/'
}

case $what in
*.bats*)
    command=(env HXMESH="$(realpath -m "$program")" bats --tap --timing --filter "$(names)" "${what%%:*}")
    [ "$HX_OWN_MACHINE" = no ] || command=("$here/own-machine.sh" "${command[@]}")
    ;;
tests/fuzz/*) command=("$program" "$what") ;;
*)
    command=("${under[@]}" "$program" "$what" ${HX_TEST:+"$HX_TEST"})
    # The thread sanitizer of gcc 12 cannot map its shadow memory if the kernel randomises more than 28 bits of
    # addresses.
    [[ $program != */tsan/* ]] || command=(setarch --addr-no-randomize "${command[@]}")
    ;;
esac

status=0
TIMEFORMAT='%R %U %S'
{ time timeout --kill-after=10 "${HX_TEST_TIMEOUT:-1800}" "${command[@]}" >"$log" 2>&1 </dev/null || status=$?; } 2>"$log.time"
read -r wall user system < <(tail -n 1 "$log.time")

# From cmocka's closing lines and from TAP (bats, fuzz replay).
read -r passed failed skipped < <(
    awk '/^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
         /^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
         /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
         /^ok [0-9]+ / { if (/# skip/) skipped++; else passed++ }
         /^not ok [0-9]+ / { failed++ }
         END { print passed + 0, failed + 0, skipped + 0 }' "$log"
)
why=
if [ "$failed" -eq 0 ] && [ "$status" -ne 0 ]; then
    failed=1
    why=" (ended with status $status)"
    [ "$status" -ne 124 ] || why=" (ran out of time)"
elif [ $((passed + failed + skipped)) -eq 0 ] && [ -z "${HX_TEST:-}" ]; then
    failed=1
    why=" (no test in it)"
fi
echo "$run|$passed|$failed|$skipped|$wall|$user|$system" >"${log%.log}.result"

# Prints for each failed test the command that runs it alone.
repeats() {
    local name alone="mk/run-tests.sh $logs $program@${what%%:*}"
    [ "$HX_WHICH" = quick ] || alone="HX_WHICH=all $alone"
    {
        sed -nE 's/^\[  FAILED  \] ([a-z_0-9A-Z]+)$/\1/p' "$log" | sort -u
        [[ $what != *.bats* ]] || sed -nE 's/^not ok [0-9]+ (.*) in [0-9]+ms.*$/\1/p' "$log"
    } | while read -r name; do printf '    repeat: HX_TEST=%q %s\n' "$name" "$alone"; done
    [[ $what != tests/fuzz/* ]] || echo "    repeat: $alone"
}
(
    flock 9
    printf '%-60s %6.1f s  %4d passed, %d failed, %d skipped%s\n' "$run" "$wall" "$passed" "$failed" "$skipped" "$why"
    grep -E '^ok [0-9]+ .*# skip' "$log" | sed 's/^/    /' || true
    if [ "$failed" -ne 0 ]; then
        echo "---- $log"
        tail -n 200 "$log"
        echo "----"
        repeats
    fi
) 9>"$logs/lock"
