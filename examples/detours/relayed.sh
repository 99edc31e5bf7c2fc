#!/usr/bin/env bash
# relayed.sh N EIGHTHS line|any permutation|neighbours [SEED] - writes a traffic file for an NxN Hx2Mesh in which random
# detours are explicit messages.
#
# EIGHTHS (0 to 8) eighths of each message go to a random accelerator of another board, which forwards them. `line`: a
# board in the row that the message leaves or the column that it enters, one crossing more; `any`: any board.
# permutation: one message of 1 MiB from each host; neighbours: six of 256 KiB on the largest 3D torus for N = 4 or 8.
# SEED: of the random choices (1).
#
#     examples/detours/relayed.sh 4 2 line permutation >relayed.csv
#     hxmesh run "4x4 Hx2Mesh" --clock virtual --traffic relayed.csv
set -euo pipefail

if ! [[ ${1-} =~ ^[1-9][0-9]*$ && ${2-} =~ ^[0-8]$ && ${3-} =~ ^(line|any)$ && ${4-} =~ ^(permutation|neighbours)$ ]] ||
    [[ $4 == neighbours && $1 != 4 && $1 != 8 ]]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi

awk -v x="$1" -v eighths="$2" -v where="$3" -v pattern="$4" -v seed="${5-1}" '
function below(n) { return int(rand() * n) }
function other(not1, not2, b) { do b = below(x); while (b == not1 || b == not2); return b }
function message(a, b) { if (a != b) print "0," a "," b "," bytes / 8 }
function column(rank) { return int(rank % n / 2) }
function row(rank) { return int(rank / n / 2) }

# A random accelerator on a board that the detour may use; -1: none.
function relay(a, b, c, r, fc, fr, tc, tr) {
    fc = column(a); fr = row(a); tc = column(b); tr = row(b)
    if (fc == tc && fr == tr || x < 3)
        return -1
    if (where == "any") {
        do { c = below(x); r = below(x) } while (c == fc && r == fr || c == tc && r == tr)
    } else if (fr == tr || fc != tc && rand() < 0.5) {
        c = other(fc, tc); r = fr
    } else {
        c = tc; r = other(fr, tr)
    }
    return (2 * r + below(2)) * n + 2 * c + below(2)
}

function pair(a, b) { from[pairs] = a; to[pairs++] = b }

# One eighth of every message, then the next, so that each host sends to all its partners at a time.
function send(part, by, i) {
    for (part = 0; part < 8; part++) for (i = 0; i < pairs; i++) {
        by = part < eighths ? relay(from[i], to[i]) : -1
        if (by >= 0) { message(from[i], by); message(by, to[i]) } else message(from[i], to[i])
    }
}

function place(i, j, k) { return (i + s[1]) % s[1] + s[1] * ((j + s[2]) % s[2] + s[2] * ((k + s[3]) % s[3])) }

BEGIN {
    srand(seed); n = 2 * x; pairs = 0
    print "start,source,destination,bytes"
    if (pattern == "permutation") {
        bytes = 1048576
        for (i = 0; i < n * n; i++) order[i] = i
        for (i = n * n - 1; i > 0; i--) { j = below(i + 1); t = order[i]; order[i] = order[j]; order[j] = t }
        for (i = 0; i < n * n; i++) pair(order[i], order[(i + 1) % (n * n)])
    } else {
        bytes = 262144
        split(x == 4 ? "4 4 4" : "6 6 7", s, " ")
        for (k = 0; k < s[3]; k++) for (j = 0; j < s[2]; j++) for (i = 0; i < s[1]; i++)
            for (d = -1; d <= 1; d += 2) {
                pair(place(i, j, k), place(i + d, j, k))
                pair(place(i, j, k), place(i, j + d, k))
                pair(place(i, j, k), place(i, j, k + d))
            }
    }
    send()
}'
