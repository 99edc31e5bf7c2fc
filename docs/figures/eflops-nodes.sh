#!/usr/bin/env bash
# All-reduces of 256 KiB over the number of nodes, us.
# seconds: 120
. docs/figures/eflops.bash
head_of "256 KiB" 64 128 256 512 1,024 growth paper
while IFS=: read -r title way paper; do
    for hosts in 64 128 256 512 1024; do us 6.5 $hosts "$way" 256KiB; done |
        awk -v title="$title" -v paper="$paper" '
            function shown(us) { return us < 1000 ? sprintf("%.1f", us) : sprintf("%d,%05.1f", us / 1000, us % 1000) }
            { cells = cells " " shown($1) " |"; last = $1 }
            NR == 1 { first = $1 }
            END { print "| " title " |" cells " " shown(last - first) " |" paper " |" }'
done <<'LINES'
fat tree, ring:tree ring:
fat tree, halving:tree halving:
BiGraph, ring:bigraph ring:
BiGraph, halving, random:bigraph random:
BiGraph, halving, linear:bigraph linear:
BiGraph, HDRM:bigraph hdrm: 130 at 64, 181 at 1,024
LINES
