#!/usr/bin/env bash
# Share of injection over the offered rate, four patterns.
# seconds: 30
. docs/figures/common.bash
cd "$(mktemp -d -p "$HX_WORK")" || exit
hxmesh sweep "4x4 Hx2Mesh" --clock virtual --traffic uniform,tornado,transpose,bit-reverse --rate 0.05..0.45/9 \
    --message 64KiB --duration 120us --warm-up 40us --jobs 2 --quiet --plot sweep.svg >/dev/null
picture_of_fabric <sweep.svg
