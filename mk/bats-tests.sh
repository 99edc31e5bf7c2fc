#!/usr/bin/env bash
# bats-tests.sh all|quick|beyond FILE.bats [K N] - prints the names of a file's tests, a line each: all, those of `make
# check` (quick), or the others (beyond, tagged `all`). With K and N: every N-th of these from the K-th.
awk -v which="$1" -v k="${3:-1}" -v n="${4:-1}" '
    /^# bats file_tags=/ { file_tags = substr($0, 18) }
    /^# bats test_tags=/ { tags = substr($0, 18) }
    /^@test / {
        left_out = (file_tags "," tags) ~ /(=|,)all(,|$)/
        if (which == "all" || (which == "beyond") == left_out)
            if (count++ % n == k - 1) { sub(/^@test "/, ""); sub(/" *\{ *$/, ""); print }
        tags = ""
    }' "$2"
