#!/usr/bin/env bash
# What dead links leave of the bandwidth.
# seconds: 90
. docs/figures/common.bash
cd "$(mktemp -d -p "$HX_WORK")" || exit
# shellcheck disable=SC2154 # mk/docs-figures.sh sets it
ln -s "$top/examples" .
hxmesh sweep "8x8 Hx2Mesh" --clock virtual --failures 0..32 --seeds 5 --jobs 2 --quiet \
    --traffic all-to-all,all-reduce,examples/models/gpt-3-moe-sc22.schedule.yaml --message 32KiB \
    --set stages=16 --set share=16 --set forward=100us --set backward=200us \
    --y gbps_per_host --relative --plot faults.svg >/dev/null
picture_of_fabric <faults.svg
