#!/usr/bin/env bash
# Iterations on circuits over those on an ideal switch, 4 interfaces.
# seconds: 50
. docs/figures/common.bash
table_of topoopt/fig11 "TopoOpt / ideal"
