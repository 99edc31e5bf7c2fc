#!/usr/bin/env bash
# An iteration of the page's own model.
# seconds: 1
. docs/figures/common.bash
examples_of training mine.model.yaml
hxmesh train "2x2 Hx2Mesh" mine.model.yaml --workers 1 --quiet | fenced
