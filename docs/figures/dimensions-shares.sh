#!/usr/bin/env bash
# Use of bandwidth by each way.
# seconds: 1
. docs/figures/common.bash
table_of multidim/fig14 "use of bandwidth (%)"
