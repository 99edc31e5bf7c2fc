#!/usr/bin/env bash
# Algorithm bandwidth of 64 workers over vector sizes, Gb/s.
# seconds: 150
. docs/figures/eflops.bash
# gbps HOSTS WAY BYTES
gbps() {
    us 16.6 "$1" "$2" "$3" | awk -v bytes="$3" '{
        gbps = bytes * 8 / $1 / 1e3
        printf "%.*f\n", (gbps < 0.01 ? 4 : 2), gbps
    }'
}
head_of "" "1 KiB" "16 KiB" "256 KiB" "1 MiB" "4 MiB" "16 MiB" "64 MiB" "256 MiB" "paper: 1 MiB" "256 MiB"
while IFS=: read -r title way paper most; do
    cells=()
    for bytes in 1024 16384 262144 1048576 4194304 16777216 67108864 268435456; do
        cells+=("$(gbps 64 "$way" $bytes)")
    done
    row "$title" "${cells[@]}" "$paper" "$most"
done <<'LINES'
ring:ring:3.68:25.01
halving, random:random:13.95:14.07
halving, linear:linear::
HDRM:hdrm::34.85
LINES
