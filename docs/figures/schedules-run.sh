#!/usr/bin/env bash
# What a run says of a schedule.
# seconds: 1
. docs/figures/common.bash
hxmesh run "2x2 Hx2Mesh" --clock virtual --traffic examples/schedules/data-parallel.schedule.yaml --workers 1 --quiet |
    lines_of schedule "critical path" | head -n 8
