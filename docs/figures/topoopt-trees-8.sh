#!/usr/bin/env bash
# Iterations on a fat tree of equal cost over those on circuits, 8 interfaces.
# seconds: 52
. docs/figures/common.bash
table_of topoopt/fig27 "fat tree / TopoOpt"
