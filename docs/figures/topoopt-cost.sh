#!/usr/bin/env bash
# What interfaces cost, over those at patch panels.
# seconds: 1
. docs/figures/common.bash
table_of topoopt/fig10 "over TopoOpt, patch panels"
