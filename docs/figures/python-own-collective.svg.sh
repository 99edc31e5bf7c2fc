#!/usr/bin/env bash
# docs/library.md: examples/python/own_collective.py.
# seconds: 3
. docs/figures/common.bash
picture_of_example own_collective
