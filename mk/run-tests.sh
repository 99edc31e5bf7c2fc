#!/usr/bin/env bash
# run-tests.sh LOGS RUN... - runs tests, a line each; ends with times and "N passed, N failed[, N skipped]".
# run-tests.sh LOGS --list RUN... - prints the runs that are wanted, in their order.
# run-tests.sh LOGS --keep-seconds - saves the time of each run in tests/seconds.txt.
#
# A RUN is PROGRAM@WHAT: a runner and one of its suites (build/test-shm@unit/shm/test_ring), a fuzz target and its
# stored inputs, or a program and a FILE.bats that tests its command line. Runs go in parallel, one a core: first those
# that failed last time, then the longest first, by their seconds here or in tests/seconds.txt. A long .bats file is
# several runs, FILE:K/N. Parts of runs follow from tests/seconds.txt alone, so they are the same on each machine.
# Command line tests look at the machine (processes, /dev/shm, network interfaces), so each run has its own namespaces.
# If the kernel allows none, they run one after another.
#
# HX_WHICH: tests to run. quick (as `make check`): few cases, no command line tests that are tagged `all` or run under
# sanitizers, and under sanitizers no tests marked `sanitizers: check-all`. all: everything. K/N: part K of N of
# the tests that only `all` has, and of all under sanitizers, which take turns in `make check`. HX_FILE: only runs with
# this text in their name. HX_TEST: only tests of that name, * and ? as in a shell. HX_TEST_TIMEOUT: limit for a run in
# seconds (1800). HX_TEST_UNDER: emulator for programs of another processor; command line tests use it themselves.
set -euo pipefail

unset MAKEFLAGS MFLAGS MAKELEVEL
export HX_WHICH=${HX_WHICH:-quick}
here=$(dirname "$0")
most=30 # seconds of a .bats file; a longer one is several runs

logs=$1
shift
record=$logs/seconds # "RUN SECONDS" of processor time, RUN without its folder; RUN+all with full counts
mkdir -p "$logs"
touch "$record" "$logs/failed"

# merged RECORD...: the seconds of each run, from the first record that has it.
merged() { awk '!($1 in seconds) { seconds[$1] = $2 } END { for (run in seconds) print run, seconds[run] }' "$@" | sort; }

lists=no
if [ "${1:-}" = --list ]; then
    lists=yes
    shift
fi
if [ "${1:-}" = --keep-seconds ]; then
    merged "$record" tests/seconds.txt >"$record.merged"
    mv "$record.merged" tests/seconds.txt
    exit 0
fi

# ---- selection and order of runs ----------------------------------------------------------------------------------

says() { grep -q "$@"; }

# wanted RUN: whether the run has any test that is wanted.
wanted() {
    local what=${1#*@}
    [[ "$1 tests/$what.c" == *"${HX_FILE:-}"* ]] || return 1
    case $HX_WHICH:$1 in
    quick:*/asan/*.bats) return 1 ;;
    quick:*/asan/test-*) ! says 'sanitizers: check-all' "tests/$what.c" ;;
    *:*/asan/*.bats) says '^# asan' "$what" ;;
    *.bats) [ -n "$("$here/bats-tests.sh" "$1")" ] ;;
    [0-9]*@tests/fuzz/* | [0-9]*:*/asan/* | [0-9]*:*/tsan/*) ;;
    [0-9]*) says 'effort\(_few\|_is_quick\)\?(\|support_shapes.h' "tests/$what.c" ;;
    esac
}

# with_seconds RECORD...: "SECONDS RUN" of each run on stdin.
with_seconds() {
    merged "$@" | awk -v which="$HX_WHICH" '
        known { seconds[$1] = $2; next }
        { name = $1; sub(/^.*build[^\/]*\//, "", name)
          if (which != "quick" && (name "+all") in seconds) name = name "+all"
          print (name in seconds ? seconds[name] : 1), $1 }' known=1 - known=0 <(cat <&3)
} 3<&0

# part K/N: the runs of part K of "SECONDS RUN" on stdin: each, the longest first, goes to the part with the least
# seconds.
part() {
    sort -k1,1nr -k2,2 | awk -v part="${1%/*}" -v parts="${1#*/}" '
        { least = 1
          for (p = 2; p <= parts; p++) if (sum[p] < sum[least]) least = p
          sum[least] += $1
          if (least == part) print }'
}

# in_order: the runs of "SECONDS RUN" on stdin in the order to start them; cuts long .bats files.
in_order() {
    awk -v most="$most" -v failures="$logs/failed" -v list="$here/bats-tests.sh" '
        function tests(run, command, name, count) {
            command = list " \"" run "\""
            while ((command | getline name) > 0) count++
            close(command)
            return count
        }
        BEGIN { while ((getline run <failures) > 0) failed[run] }
        { n = $2 ~ /\.bats$/ ? int($1 / most) + 1 : 1
          if (n > 1) { most_runs = tests($2); if (n > most_runs) n = most_runs }
          for (k = 1; k <= n; k++) print !($2 in failed), $1 / n, $2 (n > 1 ? ":" k "/" n : "") }' |
        sort -k1,1n -k2,2nr | cut -d ' ' -f 3
}

mapfile -t runs < <(
    for run in "$@"; do ! wanted "$run" || echo "$run"; done |
        case $HX_WHICH in
        [0-9]*) with_seconds tests/seconds.txt | part "$HX_WHICH" ;;
        *) with_seconds "$record" tests/seconds.txt ;;
        esac | in_order
)
[ ${#runs[@]} -gt 0 ] || { echo "hxmesh: error: run-tests: no run has '${HX_FILE:-}' in its name" >&2; exit 2; }
if [ "$lists" = yes ]; then
    printf '%s\n' "${runs[@]}"
    exit 0
fi

# ---- running ------------------------------------------------------------------------------------------------------

export HX_OWN_MACHINE=no
! "$here/own-machine.sh" true 2>/dev/null || HX_OWN_MACHINE=yes

# side_by_side N RUN...
status=0
side_by_side() {
    local at_once=$1
    shift
    [ $# -eq 0 ] || printf '%s\0' "$@" | xargs -0 -n 1 -P "$at_once" "$here/run-test.sh" "$logs" 8>&- || status=1
}

exec 8>"$logs/lock-of-all"
flock --nonblock 8 || { echo "hxmesh: error: run-tests: tests run there already ($logs)" >&2; exit 2; }
rm -f "$logs"/*.log "$logs"/*.time "$logs"/*.result
alone=()
together=()
for run in "${runs[@]}"; do
    if [[ $run == *.bats* && $HX_OWN_MACHINE == no ]]; then alone+=("$run"); else together+=("$run"); fi
done
side_by_side "$(nproc)" "${together[@]}"
side_by_side 1 "${alone[@]}"

# Times by kind of run.
echo
cat "$logs"/*.result | awk -F '|' -v record="$record.new" -v failures="$logs/failed" -v which="$HX_WHICH" '
    function row(kind) {
        return sprintf("%-20s %6d %6d %9.1f %9.1f %9.1f", kind, runs[kind], tests[kind], wall[kind], user[kind], sys[kind]) }
    function add(of) { runs[of]++; tests[of] += $2 + $3 + $4; wall[of] += $5; user[of] += $6; sys[of] += $7 }
    BEGIN { printf "%-20s %6s %6s %9s %9s %9s\n", "kind", "runs", "tests", "wall s", "user s", "system s"; printf "" >failures }
    { kind = $1 ~ /\/asan\// ? "asan " : $1 ~ /\/tsan\// ? "tsan " : "plain "
      kind = kind ($1 ~ /@property/ ? "property" : $1 ~ /\.bats/ ? "command line" : $1 ~ /@tests\/fuzz/ ? "fuzz" : "unit")
      add(kind)
      add("all")
      passed += $2; failed += $3; skipped += $4
      name = $1
      sub(/:[0-9]+\/[0-9]+$/, "", name)
      if ($3) print name >failures
      sub(/^.*build[^\/]*\//, "", name)
      seconds[name (which == "quick" ? "" : "+all")] += $6 + $7 }
    END { for (kind in runs) if (kind != "all") print row(kind) | "sort"
          close("sort")
          for (name in seconds) print name, seconds[name] >record
          print row("all")
          printf "\n%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
          exit failed > 0 || passed == 0 }' || status=1
[ -n "${HX_TEST:-}" ] || { merged "$record.new" "$record" >"$record.merged" && mv "$record.merged" "$record"; }
rm -f "$record.new"
exit "$status"
