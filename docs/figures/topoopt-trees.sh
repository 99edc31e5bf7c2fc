#!/usr/bin/env bash
# Iterations on a fat tree of equal cost over those on circuits, 4 interfaces.
# seconds: 50
. docs/figures/common.bash
table_of topoopt/fig11 "fat tree / TopoOpt"
