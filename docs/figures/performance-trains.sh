#!/usr/bin/env bash
# Trains of one, then of four: times, shares, latencies.
# seconds: 12
. docs/figures/common.bash
# line TITLE SHARE SPEC OPTION...: SHARE is the key that is shown.
line() {
    local train
    for train in 1 4; do
        value "[.seconds, .$2, .latency_ns.mean] | @tsv" "${@:3}" --train "$train"
    done | awk -v title="$1" '
        function thousands(n) { return n < 1000 ? n : sprintf("%d,%03d", n / 1000, n % 1000) }
        { seconds[NR] = $1; share[NR] = 100 * $2; latency[NR] = thousands($3) }
        END {
            printf "| %s | %.3f | %.1f, %.1f | %s, %s |\n", title, seconds[2] / seconds[1], share[1], share[2],
                latency[1], latency[2]
        }'
}

# of_bound, of_injection SPEC OPTION...
of_bound() { line "\`$*\`" share_of_bound "$@"; }
of_injection() { line "\`$*\`" share_of_injection "$@"; }
head_of run "time, four / one" "share of bound or injection, %" "mean latency, ns"
of_bound "4x4 Hx2Mesh" -m 512KiB
of_bound "8x8 Hx2Mesh" -m 512KiB --shifts 32
of_bound "16x16 Hx2Mesh" -m 512KiB --shifts 12
of_bound "16x16 Hx2Mesh" -t permutation -m 1MiB
of_bound "16x16 Hx2Mesh" -t uniform --rate 0.1 -m 256KiB -n 0 -d 300us
of_bound "64x64 Hx2Mesh" --shifts 1 -m 256KiB
of_bound "slim-fly q=13 p=9" --shifts 6 -m 256KiB
of_bound "torus 8x8" -m 512KiB
of_injection "fat-tree hosts=256" -t permutation -m 1MiB
line "\`8x8 Hx2Mesh -t all-reduce -m 8MiB\`, messages of 64 KiB" share_of_injection "8x8 Hx2Mesh" -t all-reduce -m 8MiB
