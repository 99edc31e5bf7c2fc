#!/usr/bin/env bash
# Times as fast as EqualBW.
# seconds: 1
. docs/figures/common.bash
table_of multidim/fig13 "times as fast as EqualBW"
