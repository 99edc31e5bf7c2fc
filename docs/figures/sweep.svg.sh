#!/usr/bin/env bash
# Share of injection over the offered rate, four patterns; without the lines that say when and where it was drawn.
# seconds: 30
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit
hxmesh sweep "4x4 Hx2Mesh" --clock virtual --traffic uniform,tornado,transpose,bit-reverse --rate 0.05..0.45/9 \
    --message 64KiB --duration 120us --warm-up 40us --jobs 2 --quiet --plot sweep.svg >/dev/null
sed 's/, [0-9]*-[0-9-]*T[0-9:]*Z[^<]*</</' sweep.svg
