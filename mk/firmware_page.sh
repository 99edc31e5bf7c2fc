#!/usr/bin/env bash
# firmware_page.sh write|check PAGE <SIZES - the table of the firmware's sizes in PAGE, from what mk/firmware.sh
# printed.
#
# A row of the table is "| TARGET | CODE | READ-ONLY | STATIC | FRAME | PATH |", thousands apart by a comma. `write`
# gives the row of each target in SIZES these figures. `check` compares them, and says on stderr what differs.
set -euo pipefail

action=$1 page=$2

# Rows of SIZES as the page has them.
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
    # A twentieth more or less is another version of a compiler, or a change that is worth no new table.
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
