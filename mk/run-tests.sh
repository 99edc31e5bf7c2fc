#!/usr/bin/env bash
# run-tests.sh LOGS RUN... - runs test programs, a line each, and closes with "N passed, N failed[, N skipped]".
#
# A RUN is a cmocka program, a fuzz replay (fuzz_NAME, fed with tests/fuzz/corpus/NAME), or PROGRAM@FILE.bats, which
# tests PROGRAM by its command line. Runs go side by side, one a core. Command line tests look at the machine (processes,
# /dev/shm, network interfaces), so each has one to itself, in namespaces; where the kernel allows none they run one after
# another. A run that ends badly without naming a failed test counts as one failed test, and so does a run without any
# test. HX_TEST_TIMEOUT: the most seconds a run may take (1200). HX_TEST_UNDER: what runs programs of another processor; those of
# command line tests see to it themselves.
set -euo pipefail

unset MAKEFLAGS MFLAGS MAKELEVEL
export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"

logs=$1
shift
read -ra under <<<"${HX_TEST_UNDER:-}"

log_of() {
    local name=${1//[\/@]/_}
    echo "$logs/$name.log"
}

own_machine=("$(dirname "$0")/own-machine.sh")
if [ -z "${HX_OWN_MACHINE:-}" ]; then
    HX_OWN_MACHINE=no
    ! "${own_machine[@]}" true 2>/dev/null || HX_OWN_MACHINE=yes
    export HX_OWN_MACHINE
fi
[ "$HX_OWN_MACHINE" = yes ] || own_machine=()

# The command of a run, in the array `command`.
command_of() {
    case $1 in
    *.bats) command=("${own_machine[@]}" env HXMESH="$(realpath -m "${1%@*}")" bats --tap "${1##*@}") ;;
    */fuzz_*) command=("$1" "tests/fuzz/corpus/${1##*/fuzz_}") ;;
    # The thread sanitizer of gcc 12 cannot map its shadow where the kernel randomises addresses by more than 28 bits.
    */tsan/*) command=(setarch --addr-no-randomize "$1") ;;
    *) command=("${under[@]}" "$1") ;;
    esac
}

# Counts of a log as "PASSED FAILED SKIPPED", from cmocka's closing lines and from TAP (bats, fuzz replay).
count() {
    awk '/^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
         /^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
         /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
         /^ok [0-9]+ / { if (/# skip/) skipped++; else passed++ }
         /^not ok [0-9]+ / { failed++ }
         END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

run_one() {
    local run=$1 log status=0 passed failed skipped command
    log=$(log_of "$run")
    command_of "$run"
    local begin=$SECONDS
    timeout --kill-after=10 "${HX_TEST_TIMEOUT:-1200}" "${command[@]}" >"$log" 2>&1 </dev/null || status=$?
    read -r passed failed skipped < <(count "$log")
    local why=
    if [ "$failed" -eq 0 ] && [ "$status" -ne 0 ]; then
        failed=1
        why=" (ended with status $status)"
        [ "$status" -ne 124 ] || why=" (ran out of time)"
    elif [ $((passed + failed + skipped)) -eq 0 ]; then
        failed=1
        why=" (no test in it)"
    fi
    echo "$passed $failed $skipped" >"$log.count"
    (
        flock 9
        printf '%-56s %4d s  %4d passed, %d failed, %d skipped%s\n' \
            "$run" $((SECONDS - begin)) "$passed" "$failed" "$skipped" "$why"
        grep -E '^ok [0-9]+ .*# skip' "$log" | sed 's/^/    /' || true
        if [ "$failed" -ne 0 ]; then
            echo "---- $log"
            tail -n 200 "$log"
            echo "----"
        fi
    ) 9>"$logs/lock"
}

if [ "${HX_RUN_ONE:-}" = 1 ]; then
    unset HX_RUN_ONE
    run_one "$1"
    exit 0
fi

mkdir -p "$logs"
rm -f "$logs"/*.log "$logs"/*.count
# Those that take longest go first, so that no core is left with one of them at the end.
by_time() {
    for run in "$@"; do
        case $run in
        *.bats) echo "0 $run" ;;
        */asan/tests/property/* | */fuzz_*) echo "1 $run" ;;
        */tests/property/*) echo "2 $run" ;;
        *) echo "3 $run" ;;
        esac
    done | sort --stable --key=1,1n | cut --delimiter=' ' --fields=2-
}

# side_by_side N RUN...
side_by_side() {
    local most=$1
    shift
    [ $# -eq 0 ] || printf '%s\0' "$@" | HX_RUN_ONE=1 xargs -0 -n 1 -P "$most" "$0" "$logs"
}

mapfile -t runs < <(by_time "$@")
alone=()
together=()
for run in "${runs[@]}"; do
    if [[ $run == *.bats && $HX_OWN_MACHINE == no ]]; then
        alone+=("$run")
    else
        together+=("$run")
    fi
done
side_by_side "$(nproc)" "${together[@]}"
side_by_side 1 "${alone[@]}"

passed=0 failed=0 skipped=0
for run in "$@"; do
    read -r p f s <"$(log_of "$run").count"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
closing="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || closing+=", $skipped skipped"
echo
echo "$closing"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
