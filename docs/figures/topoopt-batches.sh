#!/usr/bin/env bash
# DLRM over batch sizes.
# seconds: 2
. docs/figures/common.bash
table_of topoopt/fig12 "DLRM, ms"
