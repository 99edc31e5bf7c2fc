#!/usr/bin/env bash
# Iterations on circuits over those on an ideal switch, 8 interfaces.
# seconds: 52
. docs/figures/common.bash
table_of topoopt/fig27 "TopoOpt / ideal"
