#!/usr/bin/env bash
# docs/library.md: examples/python/latency_load.py.
# seconds: 3
. docs/figures/common.bash
picture_of_example latency_load
