#!/usr/bin/env bash
# Links, ports and distances of the study's networks.
# seconds: 1
. docs/figures/common.bash
table_of diameter2/fig3 "fabric"
