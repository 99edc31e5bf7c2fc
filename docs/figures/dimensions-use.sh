#!/usr/bin/env bash
# Use of bandwidth by three networks of dimensions.
# seconds: 200
. docs/figures/common.bash
table_of multidim/fig3 "use (%)"
