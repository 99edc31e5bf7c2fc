#!/usr/bin/env bash
# Share of injection over the offered rate, four patterns.
# seconds: 30
plot=$(mktemp --suffix .svg)
trap 'rm -f "$plot"' EXIT
hxmesh sweep "4x4 Hx2Mesh" --clock virtual --traffic uniform,tornado,transpose,bit-reverse --rate 0.05..0.45/9 \
    --message 64KiB --duration 120us --warm-up 40us --jobs 2 --quiet --plot "$plot" >/dev/null
cat "$plot"
