#!/usr/bin/env bash
# DLRM by interfaces of a server.
# seconds: 3
. docs/figures/common.bash
table_of topoopt/fig28 "DLRM, ms"
