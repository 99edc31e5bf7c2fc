#!/usr/bin/env bash
# Circuits that change when demand changes.
# seconds: 75
. docs/figures/common.bash
table_of topoopt/fig17 "changes on change, ms, by dark us"
