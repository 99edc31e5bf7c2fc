#!/usr/bin/env bash
# Jobs that share 432 servers.
# seconds: 200
. docs/figures/common.bash
table_of topoopt/fig16 "fat tree"
