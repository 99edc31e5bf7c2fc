#!/usr/bin/env bash
# live.sh [MODEL] [FOLDER] - optical circuits that change under a running job, and under Open MPI.
#
# Finds circuits between 12 servers of 4 interfaces for a training job (hxmesh topology), and plans other ones: two
# interfaces of each server stay in the ring of stride 1, the other two change from stride 5 to 3, to 2 and back each
# 250 ms, and are dark for 2 ms. An iteration of the job runs on that, then two programs of Open MPI at a time, by
# messages and by IP. Both are captured, and verified. MODEL: a model file (ResNet50); FOLDER: for the files (removed
# at the end if not given). Exits with 0 if nothing is lost and all rules hold.
#
# Needs jq, Open MPI (mpicc), libfabric, /dev/net/tun and user namespaces (docs/programs.md), but not root.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
model=$(realpath "${1:-$here/../models/resnet50.model.yaml}")
folder=${2:-}
hxmesh=$(realpath "${HXMESH:-$here/../../build/hxmesh}")
name=circuits-$$
work=${folder:-$(mktemp -d)}
mkdir -p "$work"
work=$(realpath "$work")
end() {
    "$hxmesh" down --name "$name" --quiet 2>/dev/null || true
    [ -n "$folder" ] || rm -rf "$work"
}
trap end EXIT

SERVERS=12
STATES=120 # of the plan: half a minute

# circuits STRIDE SEPARATOR: those of a ring, or of several if the stride divides the number of servers.
circuits() {
    local i
    for ((i = 0; i < SERVERS; i++)); do
        printf 's%d%ss%d\n' $i "$2" $(((i + $1) % SERVERS))
    done
}

# The graph has all circuits of any time. Those that the plan never names are always there.
plan() {
    local states=() i stride
    {
        cat job.csv
        for stride in 3 2; do
            circuits $stride , | sed 's/$/,100,1000,aoc/'
        done
    } >all.csv
    for stride in 5 3 2; do
        states+=("$(circuits $stride - | paste -s -d ,)")
    done
    {
        printf 'dark 2ms\ninterfaces 2\n'
        for ((i = 0; i < STATES; i++)); do
            printf 'at %dms: %s\n' $((250 * i)) "${states[i % 3]}"
        done
    } >job.circuits
}

job() {
    echo "== the job, 12 servers of 4 interfaces"
    "$hxmesh" run "graph all.csv" --circuits job.circuits --traffic job.schedule --capture job.pcapng --snaplen 96 \
        --quiet --json run.json >/dev/null
    jq --raw-output '"\(.messages) messages, \(.packets_sent) packets, \(.packets_lost) lost, " +
        "\(.packets_repeated) repeated, \(.messages_failed) messages failed",
        "\(.circuits.changes) changes of \(.circuits.links) links, \(.circuits.rerouted) packets took another path; " +
        "all routes followed after \(.circuits.followed_after_ns.median / 1e6) ms (median), " +
        "\(.circuits.followed_after_ns.most / 1e6) ms at most"' run.json
    "$hxmesh" verify job.pcapng
}

# exchange HOW: a rank of Open MPI on each server; they check every byte.
exchange() { "$hxmesh" exec --name "$name" --mpi $SERVERS --over "$1" -- ./exchange; }

programs() {
    local capture by_messages
    echo "== Open MPI, by messages and by IP at a time"
    mpicc -O2 -o exchange "$here/../programs/exchange.c"
    "$hxmesh" up "graph all.csv" --circuits job.circuits --name "$name" --quiet
    "$hxmesh" capture --name "$name" -w programs.pcapng --snaplen 96 --buffer 128MiB --quiet &
    capture=$!
    exchange messages &
    by_messages=$!
    exchange ip
    wait $by_messages
    "$hxmesh" fault --name "$name" --list --json - |
        jq --raw-output '"\(.changes | length) links closed so far, \(.faults | length) faults"'
    kill -INT $capture
    wait $capture
    "$hxmesh" down --name "$name" --quiet
    "$hxmesh" verify programs.pcapng
}

cd "$work"
"$hxmesh" topology "$model" --servers $SERVERS --degree 4 --write job --quiet >/dev/null
plan
job
programs
