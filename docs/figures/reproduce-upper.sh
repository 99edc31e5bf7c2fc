#!/usr/bin/env bash
# Jobs' traffic over the upper level of the large cluster.
# seconds: 12
. docs/figures/common.bash
table_of hammingmesh/fig9 "traffic over the upper level (%)"
