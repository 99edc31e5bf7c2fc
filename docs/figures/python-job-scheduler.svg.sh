#!/usr/bin/env bash
# docs/library.md: examples/python/job_scheduler.py.
# seconds: 3
. docs/figures/common.bash
picture_of_example job_scheduler
