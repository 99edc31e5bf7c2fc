#!/usr/bin/env bash
# Rates of dimensions for a transformer.
# seconds: 1
. docs/figures/common.bash
console 'hxmesh bandwidth "Ring(8)_FC(8)_Switch(16)" examples/models/transformer-1t.model.yaml --budget 300'
