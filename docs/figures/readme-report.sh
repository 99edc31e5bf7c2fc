#!/usr/bin/env bash
# The begin of a report.
# seconds: 1
. docs/figures/common.bash
{
    echo "\$ hxmesh run \"4x4 Hx2Mesh\" --clock virtual --verify"
    hxmesh run "4x4 Hx2Mesh" --clock virtual --verify --quiet | of_fabric | head -n 14
} | sed 's/^/    /'
