#!/usr/bin/env bash
# The estimate of the page's own model.
# seconds: 1
. docs/figures/common.bash
examples_of training mine.model.yaml
console 'hxmesh train "2x2 Hx2Mesh" mine.model.yaml --estimate'
