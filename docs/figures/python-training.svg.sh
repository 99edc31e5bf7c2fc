#!/usr/bin/env bash
# docs/library.md: examples/python/training.py.
# seconds: 40
. docs/figures/common.bash
picture_of_example training
