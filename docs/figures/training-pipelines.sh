#!/usr/bin/env bash
# Rates of dimensions for two jobs with a pipeline.
# seconds: 1
. docs/figures/common.bash
head_of "job, 300 GB/s" network "times as fast as EqualBW: search" SmartBW
for job in "llama3-405b Ring(8)_FC(16)_Switch(32)" "deepseek-v3 Ring(8)_FC(16)_Switch(16)"; do
    mapfile -t cells < <(hxmesh bandwidth "${job#* }" "examples/models/${job% *}.model.yaml" --budget 300 |
        awk '/^ *an iteration/ { on = 1 } on && ($1 == "search" || $1 == "SmartBW") { print $1, $5 }' | sort -r |
        sed 's/.* //')
    row "\`${job% *}\`" "\`${job#* }\`" "${cells[@]}"
done
