#!/usr/bin/env bash
# bench.sh BUILD PROGRAM... - runs benchmark programs one after another and joins their JSON in BUILD/bench.json.
set -euo pipefail

build=$1
shift
if [ $# -eq 0 ]; then
    echo "bench: no benchmark programs"
    exit 0
fi
export HXMESH=${HXMESH:-$build/hxmesh}

results=()
for program in "$@"; do
    "$program" --json "$program.json"
    results+=("$program.json")
done
jq --slurp 'reduce .[] as $result ({}; . * $result)' "${results[@]}" >"$build/bench.json"
echo
echo "$build/bench.json:"
jq . "$build/bench.json"
