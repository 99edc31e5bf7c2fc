#!/usr/bin/env bash
# The best layouts of a model of 70 billion parameters on 1,024 accelerators.
# seconds: 25
. docs/figures/common.bash
console 'hxmesh plan examples/models/llama3-70b.model.yaml "16x16 Hx2Mesh" --quiet'
