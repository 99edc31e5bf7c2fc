# shellcheck shell=bash
# two_machines.bash - sourced by the examples beside it: two machines, left and right, as network namespaces of this
# user.
#
# enter_machines SCRIPT ARGUMENTS...: runs SCRIPT again inside the left machine, with $MACHINES_INSIDE. Exits with 77 if
# this user may not have network namespaces.
# open_machines: starts the right machine, and makes $folder for files. All ends with the script.
# cable NAME: joins both by a veth pair; its ends have this name on both machines.
# cable_for_mpi: joins both by cable `wire`, with addresses. Writes $folder/machines, a hostfile, and $folder/agent,
# which mpirun calls in place of ssh.
# "${in_right[@]}" COMMAND...: runs a command on the right machine.

enter_machines() {
    local own=(unshare --net --mount --uts)
    [ "${MACHINES_INSIDE:-}" != yes ] || return 0
    [ "$(id -u)" -eq 0 ] || own=(unshare --user --map-root-user --net --mount --uts)
    "${own[@]}" true 2>/dev/null || {
        echo "${1##*/}: skipped: this user may not have network namespaces (unshare --net)" >&2
        exit 77
    }
    MACHINES_INSIDE=yes exec "${own[@]}" "$@"
}

close_machines() {
    local process
    for process in $(jobs -p); do
        kill "$process" 2>/dev/null || true
    done
    wait
    rm -rf "$folder"
}

# The left machine is this namespace. The right one lasts as long as a process in it.
open_machines() {
    local right
    folder=$(mktemp -d)
    trap close_machines EXIT
    hostname left
    unshare --net --uts sleep 1000 &
    right=$!
    until [ "$(readlink "/proc/$right/ns/uts")" != "$(readlink /proc/self/ns/uts)" ]; do sleep 0.05; done
    in_right=(nsenter --net --uts --target "$right")
    "${in_right[@]}" hostname right
    ip link set lo up
    "${in_right[@]}" ip link set lo up
}

cable() {
    ip link add "$1" mtu 9000 type veth peer name "$1" mtu 9000 netns "${in_right[-1]}"
    ip link set "$1" up
    "${in_right[@]}" ip link set "$1" up
}

cable_for_mpi() {
    cable wire
    ip address add 10.77.0.1/24 dev wire
    "${in_right[@]}" ip address add 10.77.0.2/24 dev wire
    printf '#!/bin/sh\nshift\nexec %s sh -c "$*"\n' "${in_right[*]}" >"$folder/agent"
    chmod +x "$folder/agent"
    printf '10.77.0.%d slots=1\n' 1 2 >"$folder/machines"
}
