#!/usr/bin/env bash
# Loads of links.
# seconds: 1
. docs/figures/common.bash
table_of topoopt/fig15 "MB a link"
