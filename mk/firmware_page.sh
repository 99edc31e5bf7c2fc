#!/usr/bin/env bash
# firmware_page.sh write|check PAGE <SIZES - updates or checks the table of firmware sizes in PAGE; SIZES is the output
# of mk/firmware.sh.
#
# A row is "| TARGET | CODE | READ-ONLY | STATIC | FRAME | PATH |", with commas between thousands. `write` replaces the
# rows of targets in SIZES. `check` compares them and prints differences on stderr.
set -euo pipefail

action=$1 page=$2

# Prints SIZES as rows of the table.
rows() {
    awk '
        function thousands(n,    s) {
            s = n ""
            while (match(s, /^[0-9][0-9][0-9][0-9]+/))
                s = substr(s, 1, RLENGTH - 3) "," substr(s, RLENGTH - 2)
            return s
        }
        $2 ~ /^[0-9]+$/ {
            printf "| %s | %s | %s | %s | %s | %s |\n", $1, thousands($2), thousands($3), thousands($4), thousands($5), thousands($8)
        }'
}

case $action in
write)
    rows | awk 'NR == FNR { row[$2] = $0; next } $1 == "|" && $2 in row { $0 = row[$2] } { print }' - "$page" >"$page.new"
    cat "$page.new" >"$page"
    rm "$page.new"
    ;;
check)
    # Up to a twentieth of difference is tolerated: another compiler version, or a change not worth a new table.
    rows | awk -v page="$page" '
        function near(a, b) { return a >= b * 0.95 && a <= b * 1.05 }
        function same(said, is,    a, b, i, n) {
            gsub(/[|,]/, "", said); gsub(/[|,]/, "", is)
            n = split(is, b, " ")
            if (split(said, a, " ") != n) return 0
            for (i = 2; i <= n; i++) if (!near(a[i], b[i])) return 0
            return 1
        }
        NR == FNR { is[$2] = $0; next }
        $1 == "|" && $2 in is { said[$2] = $0 }
        END {
            for (target in is)
                if (!same(said[target], is[target])) {
                    printf "%s says \"%s\", it is \"%s\" (make firmware-table)\n", page, said[target], is[target]
                    stale = 1
                }
            exit stale
        }' - "$page" >&2
    ;;
esac
