#!/usr/bin/env bash
# bats-tests.sh PROGRAM@FILE.bats[:K/N] - prints the names of the tests of a run of run-tests.sh, a line each. HX_WHICH
# says of what: those of `make check` (quick), those that it leaves out, tagged `all` (K/N), or all; under sanitizers
# all. With :K/N, every N-th of these from the K-th.
set -euo pipefail
program=${1%%@*} what=${1#*@}
file=${what%%:*}
IFS=':/' read -ra piece <<<"${what:${#file}+1}"
case $HX_WHICH:$program in
quick:*) which=quick ;;
[0-9]*:*/asan/*) which=all ;;
[0-9]*) which=beyond ;;
*) which=all ;;
esac

awk -v which="$which" -v k="${piece[0]:-1}" -v n="${piece[1]:-1}" '
    /^# bats file_tags=/ { file_tags = substr($0, 18) }
    /^# bats test_tags=/ { tags = substr($0, 18) }
    /^@test / {
        left_out = ("," file_tags "," tags) ~ /(=|,)all(,|$)/
        if (which == "all" || (which == "beyond") == left_out)
            if (count++ % n == k - 1) { sub(/^@test "/, ""); sub(/" *\{.*$/, ""); print }
        tags = ""
    }' "$file"
