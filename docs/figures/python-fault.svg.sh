#!/usr/bin/env bash
# docs/library.md: examples/python/fault.py.
# seconds: 3
. docs/figures/common.bash
picture_of_example fault
