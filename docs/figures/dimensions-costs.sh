#!/usr/bin/env bash
# Performance per cost by each way.
# seconds: 1
. docs/figures/common.bash
table_of multidim/fig15 "per cost, over EqualBW"
