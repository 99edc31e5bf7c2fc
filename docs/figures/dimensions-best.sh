#!/usr/bin/env bash
# The best network and way of each job.
# seconds: 1
. docs/figures/common.bash
table_of multidim/fig16 "best of 3 networks"
