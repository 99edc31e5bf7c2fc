#!/usr/bin/env bash
# All-reduces of eight fabrics by the fastest algorithm, and by that of `best`.
# seconds: 115
. docs/figures/common.bash
once best tests/system/collective_best.py "$(dirname "$(type -P hxmesh)")" | sed '/^$/,$d'
