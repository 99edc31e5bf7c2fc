#!/usr/bin/env bash
# simulated.sh [SPEC [OPTIONS OF hxmesh run...]] - simulates a fabric by two ranks of MPI, each on a machine of its own:
# two network namespaces, joined by a veth pair. Compares the report with that of one worker.
#
# HXMESH: the program (build/hxmesh). Exits with 0 if both reports are the same, with 77 if this user may not have
# network namespaces. Namespaces and files end with this script.
set -euo pipefail

# shellcheck source=examples/machines/two_machines.bash
. "$(dirname "$0")/two_machines.bash"
hxmesh=$(realpath -m "${HXMESH:-$(dirname "$0")/../../build/hxmesh}")
enter_machines "$0" "$@"
open_machines
cable_for_mpi

export OMPI_MCA_plm_rsh_agent=$folder/agent
export OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=wire OMPI_MCA_oob_tcp_if_include=wire

[ "$#" -gt 0 ] || set -- "4x4 Hx2Mesh" --message 16KiB
"$hxmesh" run "$@" --clock virtual --mpi 2 --hostfile "$folder/machines" --quiet --json "$folder/two.json" >/dev/null
"$hxmesh" run "$@" --clock virtual --workers 1 --quiet --json "$folder/one.json" >/dev/null
for report in one two; do
    jq --sort-keys 'del(.host)' "$folder/$report.json" >"$folder/$report"
done
cmp "$folder/one" "$folder/two"
[ "$(jq .host.workers "$folder/two.json")" -eq 2 ]
echo "two machines: the report of one, byte for byte ($(wc -c <"$folder/one") bytes)"
