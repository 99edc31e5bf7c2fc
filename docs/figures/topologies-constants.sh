#!/usr/bin/env bash
# What constants of the simulated switch change. What needs another build: by such builds.
# seconds: 12
. docs/figures/common.bash
of_bound() { value .share_of_bound "$@" | percent 0; }

# latency TRAIN: mean, ns, of the run of the third line, and when it ends.
latency() {
    value '"\(.latency_ns.mean | round) \(.seconds)"' "16x16 Hx2Mesh" -m 512KiB --shifts 12 --train "$1"
}

# crossbar GBPS: share of injection of one-packet messages.
crossbar() {
    value .share_of_injection "slim-fly q=7 p=5" --timing sc15 -t uniform --rate 1 -n 0 -d 200us --warm-up 50us -m 8KiB \
        --buffer 3200KiB --crossbar "$1" | percent 0
}
head_of choice traffic chosen otherwise
row "a VC grants at most 64 packets of its buffer" "\`16x16 Hx2Mesh -m 256KiB --shifts 12\`" \
    "$(of_bound "16x16 Hx2Mesh" -m 256KiB --shifts 12) % of its bound" "all of 32 MiB: 65 %"
row "an output takes a packet four crossbar times ahead" "16x16 Hx2Mesh, injection at 98 %" "98 %" \
    "one: 94 % after 1 ms, filling"
read -r one seconds <<<"$(latency 1)"
read -r four longer <<<"$(latency 4)"
row "switches forward single packets (\`--train 1\`, [trains](performance.md#trains))" \
    "\`16x16 Hx2Mesh -m 512KiB --shifts 12\`" "mean latency $(thousands "$one") ns" "\`--train 4\`: $(thousands "$four") ns; $(
        awk -v one="$seconds" -v four="$longer" 'BEGIN {
            printf "ends %.1f %% %s", 100 * (four < one ? 1 - four / one : four / one - 1), (four < one ? "sooner" : "later")
        }')"
row "the crossbar of \`--timing sc15\`: 8 links' rate" "one-packet messages, below" \
    "$(crossbar 800) %, with 4 $(crossbar 400) %" "2: $(crossbar 200) %"
