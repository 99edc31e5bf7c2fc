#!/usr/bin/env bash
# What a run says of what repeats itself.
# seconds: 1
. docs/figures/common.bash
hxmesh run "2x2 Hx2Mesh" --clock virtual --traffic examples/schedules/data-parallel.schedule.yaml --set gradient=1MiB \
    --set iterations=40 --algorithm ring --repeats cut --workers 1 --quiet | lines_of repeats
