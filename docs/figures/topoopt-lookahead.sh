#!/usr/bin/env bash
# The same, over those at look-ahead panels.
# seconds: 1
. docs/figures/common.bash
table_of topoopt/fig10 "over TopoOpt, look-ahead"
