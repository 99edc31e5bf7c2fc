#!/usr/bin/env bash
# The same as a picture.
# seconds: 135
. docs/figures/common.bash
reproduced jobs/interference >/dev/null
cat "$HX_WORK/reproduce/jobs/interference.svg"
