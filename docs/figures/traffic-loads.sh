#!/usr/bin/env bash
# Offered load, accepted load and latency of four patterns: three rows of nine of each.
# seconds: 30
hxmesh sweep "4x4 Hx2Mesh" --clock virtual --traffic uniform,tornado,transpose,bit-reverse --rate 0.05..0.45/9 \
    --message 64KiB --duration 120us --warm-up 40us --jobs 2 --quiet |
    awk '$1 == "traffic" || $2 == 0.1 || $2 == 0.25 || $2 == 0.45 { print "    " $0 }'
