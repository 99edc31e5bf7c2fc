#!/usr/bin/env bash
# Rates of dimensions, and times of an iteration.
# seconds: 800
. docs/figures/common.bash
table_of multidim/fig10 "-   Transformer-1T"
