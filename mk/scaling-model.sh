#!/usr/bin/env bash
# scaling-model.sh [NAME=VALUE...] - a model of what a run over many machines costs: seconds for a simulated
# millisecond of an Hx2Mesh at full load, for all-to-all and for neighbour exchange, and the largest term.
#
# Inputs:
#   hops=5.4e6      packet-hops a second and core
#   cores=16        ranks a machine, one a core
#   message=2       us of a core for a message to one neighbour and one from it
#   latency=20      us of a message between machines
#   link=10         Gb/s of a machine's link
#   window=83.56    ns
#   record=104      bytes of a packet that crosses
#   credit=16       bytes of its credit
#   machines=16,64,256
#   boards=128,512  boards a side
#
# A window takes the sum of four terms, each of the busiest rank or machine: work (packet-hops), messages (neighbours),
# latency (one message; a reduction's steps where not all are neighbours), bandwidth (bytes that a machine sends).
# Parts follow lib/workload/layout.c: a rank has consecutive boards, row by row. The switches of a row are with the
# board in its middle, those of column c are with rank c modulo ranks.
set -euo pipefail

options=()
for option; do
    [[ $option =~ ^(hops|cores|message|latency|link|window|record|credit|machines|boards)=[0-9.,e]+$ ]] || {
        echo "hxmesh: error: scaling-model: '$option' is no input (NAME=VALUE, see mk/scaling-model.sh)" >&2
        exit 2
    }
    options+=(-v "$option")
done

awk -v hops=5.4e6 -v cores=16 -v message=2 -v latency=20 -v link=10 -v window=83.56 -v record=104 -v credit=16 \
    -v machines=16,64,256 -v boards=128,512 "${options[@]}" '
function least(a, b) { return a < b ? a : b }
function up(a) { return a == int(a) ? a : int(a) + 1 }

# Switches that a packet visits in the tree of a row or column: a leaf has 32 ports down.
function visits(lines) { return lines > 32 ? 1 + 2 * (1 - 32 / lines) : 1 }

function row(traffic, side, count) {
    lines = 2 * side
    accelerators = lines * lines
    ranks = count * cores

    # Of a packet: probability that it crosses a column (and a row), packet-hops, and visits in one of both trees.
    # Injection: 4 links of 400 Gb/s an accelerator, a packet has 8192 bytes.
    if (traffic == "all-to-all") {
        crosses = 1 - 1 / side
        tree = visits(lines)
        share = 0.25
        steps = 3 + 2 * tree * crosses
    } else {
        # Half of the exchanges stay on the board; the next board is rarely at another leaf.
        crosses = 0.25
        tree = lines > 32 ? 1 + 2 / 16 : 1
        share = 0.93
        steps = 2 + 2 * tree * crosses
    }
    packets = accelerators * share * 1600 * window / (8192 * 8)
    switched = packets * tree * crosses

    # The hosts are even. Switches are with fewer ranks where there are more ranks than columns, or rows of boards.
    busiest = (packets * steps - 2 * switched) / ranks + switched / least(ranks, lines) + switched / least(ranks, side)
    work = busiest / hops * 1e6

    # The busiest rank owns a column, and so meets a rank of each row of boards; it meets the owners of its boards
    # columns, some of them the same ranks, and its row of boards.
    mine = up(side * side / ranks) * 2
    own = least(ranks, side * up(lines / ranks))
    mine = least(ranks, mine)
    met = ranks <= side ? ranks - 1 : least(ranks - 1, int(own + mine - own * mine / ranks + ranks / side - 1.5))
    messages = met * message

    turns = met < ranks - 1 ? up(log(count) / log(2)) : 1
    wait = count > 1 ? latency * turns : 0

    # Packets up to the switches of a column and down again; also along rows where a row of boards has several machines.
    owners = least(count, up(lines / cores))
    apart = count > side ? 1 - side / count : 0
    bytes = packets * crosses * (record + credit) * ((1 - 1 / count) * (1 / count + 1 / owners) + 2 * apart / count)
    wire = bytes * 8 / (link * 1000)

    total = work + messages + wait + wire
    most = work; name = "work"
    if (messages > most) { most = messages; name = "messages" }
    if (wait > most) { most = wait; name = "latency" }
    if (wire > most) { most = wire; name = "bandwidth" }
    printf "%-11s %12d %8d %6d %9.0f %9.0f %9.0f %9.0f %10.2f  %s\n", traffic, accelerators, count, met, work, messages,
        wait, wire, total * 1e6 / window / 1e6, name
}

BEGIN {
    printf "%-11s %12s %8s %6s %9s %9s %9s %9s %10s  %s\n", "traffic", "accelerators", "machines", "meets", "work us",
        "messages", "latency", "bandwidth", "s / sim ms", "bound"
    sides = split(boards, side, ",")
    counts = split(machines, count, ",")
    for (s = 1; s <= sides; s++)
        for (m = 1; m <= counts; m++) {
            row("all-to-all", side[s], count[m])
            row("neighbour", side[s], count[m])
        }
}'
