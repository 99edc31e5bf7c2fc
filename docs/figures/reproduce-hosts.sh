#!/usr/bin/env bash
# Hosts by radix of the switches.
# seconds: 1
. docs/figures/common.bash
table_of diameter2/fig3 "hosts by radix"
