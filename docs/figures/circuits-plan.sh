#!/usr/bin/env bash
# What a run says of circuits that change.
# seconds: 1
. docs/figures/common.bash
examples_of circuits small.model.yaml plan.circuits
hxmesh topology small.model.yaml --strategy placed --write small >/dev/null
hxmesh run "graph small.csv" --clock virtual --traffic small.schedule --circuits plan.circuits --workers 1 --quiet |
    lines_of circuits
