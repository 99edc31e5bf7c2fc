#!/usr/bin/env bash
# Bandwidth tax of DLRM over batch sizes.
# seconds: 2
. docs/figures/common.bash
table_of topoopt/fig13 "batch"
