#!/usr/bin/env bash
# All-to-all by bytes a pair on the diameter-two networks.
# seconds: 16
. docs/figures/diameter2.bash
head_of "bytes a pair" "7.5 KiB" "15 KiB" "30 KiB" "60 KiB" "120 KiB" "240 KiB" "from 120 to 240 KiB alone"
for spec in "slim-fly q=5 p=3" "slim-fly q=5 p=4" "mlfm h=6" "oft k=5"; do
    for bytes in 7680 15360 30720 61440 122880 245760; do
        value '[.seconds, .share_of_injection] | @tsv' "$spec" -t all-to-all-random -m "$bytes" --timing sc15 \
            --buffer 3200KiB
    done | awk -v spec="$spec" '
        { seconds[NR] = $1; share[NR] = 100 * $2 }
        END {
            printf "| `%s` |", spec
            for (i = 1; i <= 6; i++) printf " %.1f |", share[i]
            printf " %.1f |\n", (2 * share[6] * seconds[6] - share[6] * seconds[6]) / 2 / (seconds[6] - seconds[5])
        }'
done
