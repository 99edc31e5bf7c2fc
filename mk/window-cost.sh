#!/usr/bin/env bash
# window-cost.sh [BUILD] - measures what a window costs: two workers in shared memory; two ranks of MPI by shared memory
# (vader), by TCP on this machine, and by TCP between two network namespaces, joined by a veth pair.
#
# A run with many windows and little work, for one duration and for four times that: the difference is without start and
# end. Prints microseconds a window, from the least time of three of each. Needs jq; the ranks need Open MPI. Between
# namespaces netem adds latency and limits the rate, where the kernel has it.
set -euo pipefail
shopt -s inherit_errexit

# shellcheck source=examples/machines/two_machines.bash
. "$(dirname "$0")/../examples/machines/two_machines.bash"
build=$(realpath -m "${1:-build}")
short_us=1000
report=$(mktemp)
trap 'rm -f "$report"' EXIT
window_ps=83560 # of "2x2 Hx2Mesh": output, trace, input, one block
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

[ -x "$build/hxmesh-virtual" ] || {
    echo "hxmesh: error: window-cost: $build: has no hxmesh-virtual (make all)" >&2
    exit 2
}

# least US COMMAND...: ns of the shortest run of three, by its report: without the start of mpirun.
least() {
    local duration=$1
    shift
    for _ in 1 2 3; do
        "$@" "2x2 Hx2Mesh" -t uniform --rate 0.01 -m 8KiB -n 0 -d "${duration}us" --clock virtual --quiet \
            --json "$report" >/dev/null
        jq '.host.wall_seconds * 1e9 | floor' "$report"
    done | sort -n | head -n 1
}

# cost COMMAND...: ns a window.
cost() {
    local short long
    short=$(least $short_us "$@")
    long=$(least $((4 * short_us)) "$@")
    echo $(((long - short) * window_ps / (3 * short_us * 1000000)))
}

row() {
    local name=$1 ns
    shift
    ns=$(cost "$@")
    awk -v name="$name" -v ns="$ns" 'BEGIN { printf "%-28s %8.2f us a window\n", name, ns / 1000 }'
}

# ranks NAME OPTION... - two ranks, with options of mpirun.
ranks() {
    local name=$1
    shift
    row "$name" mpirun -n 2 --oversubscribe --quiet --bind-to none --mca pml ob1 "$@" "$build/hxmesh-virtual-mpi"
}

machines() {
    ranks "$1" --hostfile "$folder/machines" --mca plm_rsh_agent "$folder/agent" --mca btl self,tcp \
        --mca btl_tcp_if_include wire --mca oob_tcp_if_include wire
}

# shape OPTION... - lets netem shape both ends; fails if the kernel has no netem.
shape() {
    tc qdisc replace dev wire root netem "$@" 2>/dev/null &&
        "${in_right[@]}" tc qdisc replace dev wire root netem "$@"
}

# The rows of two machines.
between_machines() {
    local latency
    open_machines # all ends with it
    rm "$report"
    report=$folder/report
    cable_for_mpi
    machines "two ranks, TCP over veth"
    shape delay 1us || {
        echo "without latency and rate of a link: this kernel has no netem"
        return 0
    }
    for latency in 1us 10us 100us; do
        shape delay "$latency" rate 10gbit
        machines "two ranks, $latency, 10 Gb/s"
    done
}

if [ "${MACHINES_INSIDE:-}" = yes ]; then
    between_machines
    exit
fi
echo "load $(cut -d ' ' -f 1 /proc/loadavg), $(nproc) processors"
row "one worker" "$build/hxmesh-virtual" -w 1
row "two workers, shared memory" "$build/hxmesh-virtual" -w 2
[ -x "$build/hxmesh-virtual-mpi" ] || exit 0
ranks "two ranks, vader" --mca btl vader,self
ranks "two ranks, TCP" --mca btl tcp,self
(enter_machines "$0" "$build") || [ $? -eq 77 ]
