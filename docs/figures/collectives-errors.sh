#!/usr/bin/env bash
# The estimates of these all-reduces against their runs.
# seconds: 115
. docs/figures/common.bash
once best tests/system/collective_best.py "$(dirname "$(type -P hxmesh)")" | sed '1,/^$/d'
