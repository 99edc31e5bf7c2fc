#!/usr/bin/env bash
# The page's own model on three fabrics that inject equally.
# seconds: 3
. docs/figures/common.bash
examples_of training mine.model.yaml
hxmesh train "2x2 Hx2Mesh" mine.model.yaml --equal-injection --compare "fat-tree hosts=16" --compare "torus 4x4" \
    --workers 1 --quiet | fenced
