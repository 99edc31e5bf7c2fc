#!/usr/bin/env bash
# Lengths of paths.
# seconds: 1
. docs/figures/common.bash
table_of topoopt/fig14 "paths"
