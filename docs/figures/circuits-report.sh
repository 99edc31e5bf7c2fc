#!/usr/bin/env bash
# Circuits for DLRM beside two other networks.
# seconds: 1
. docs/figures/common.bash
console 'hxmesh topology examples/models/dlrm-topoopt.model.yaml --servers 12 --strategy placed --compare ideal --compare fat-tree'
