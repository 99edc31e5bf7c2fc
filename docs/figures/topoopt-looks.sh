#!/usr/bin/env bash
# Circuits that change each 50 ms.
# seconds: 75
. docs/figures/common.bash
table_of topoopt/fig17 "changes each 50 ms, ms, by dark us"
