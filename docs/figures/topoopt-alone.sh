#!/usr/bin/env bash
# These jobs alone.
# seconds: 200
. docs/figures/common.bash
table_of topoopt/fig16 "jobs alone, ms"
