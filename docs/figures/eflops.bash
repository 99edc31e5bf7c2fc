# eflops.bash - all-reduces of EFLOPS, as `hxmesh reproduce eflops` makes them.
#
# shellcheck shell=bash
. docs/figures/common.bash

# us STEP HOSTS WAY SIZE: with STEP us of software for each step. WAY is a fabric and a way of the paper.
us() {
    local spec algorithm=halving place=() steps
    case $3-$2 in
    tree*-64 | tree*-128) spec="fat-tree hosts=$2 radix=16" ;;
    tree*-256 | tree*-512) spec="fat-tree hosts=$2 radix=32" ;;
    tree*) spec="fat-tree hosts=$2 radix=64" ;;
    *-8) spec="bigraph m=2 n=4" ;;
    *-16) spec="bigraph m=2 n=8" ;;
    *-32) spec="bigraph m=4 n=8" ;;
    *-64) spec="bigraph m=4 n=16" ;;
    *-128) spec="bigraph m=8 n=16" ;;
    *-256) spec="bigraph m=8 n=32" ;;
    *-512) spec="bigraph m=16 n=32" ;;
    *-1024) spec="bigraph m=16 n=64" ;;
    esac
    case $3 in
    *ring) algorithm=ring ;;
    *random) place=(--place random --seed 1) ;;
    *linear) place=(--place linear) ;;
    esac
    steps=$(awk -v n="$2" -v how=$algorithm 'BEGIN { print how == "ring" ? 2 * (n - 1) : 2 * log(n) / log(2) }')
    value ".seconds * 1e6 + $steps * $1" "$spec" -t all-reduce --algorithm $algorithm "${place[@]}" -m "$4" \
        --timing sc15 --buffer 3200KiB
}
