#!/bin/bash
# faults_random.bash [RUNS [SEED [stay]]] - random faults over all topologies under the virtual clock. All are repaired
# long before a message fails, so every message must arrive, once and complete, and traffic must recover within a
# bounded time. With `stay` one fault in four is never repaired: each run must end, and each message must be delivered
# or given up. HXMESH is the program; the first run with an error is printed with its command, and ends it.
set -u
RUNS=${1:-10000}
SEED=${2:-1}
STAY=${3:-}
HXMESH=${HXMESH:-build/hxmesh}
REPORT=$(mktemp)
LASTING=$(mktemp)
trap 'rm -f "$REPORT" "$LASTING"' EXIT

# Values to draw from; a run takes one of each by its seed.
FABRICS=("2x2 Hx2Mesh" "4x4 Hx2Mesh" "3x2 H2x4Mesh" "4x4 Hx1Mesh" "2x2 Hx4Mesh" "fat-tree hosts=32 radix=8" "fat-tree hosts=64 radix=16 taper=2"
    "dragonfly a=4 p=2 h=2" "torus 6x6" "torus 3x3x3" "mesh 5x4" "hyperx 4x4 p=2" "slim-fly q=5 p=2" "mlfm h=4" "oft k=3"
    "bigraph m=4 n=8" "kautz degree=3 length=2 p=2" "Ring(4)_FC(4)_Switch(2)")
TRAFFIC=(all-to-all uniform permutation all-to-all-random)
MTBF=(2us 5us 20us)
MTTR=(2us 10us 40us)

# ns from a fault until all its hits have arrived: outages of up to a millisecond, and the time between an endpoint's
# probes.
LONGEST=10000000

# shellcheck disable=SC2016 # what stands in quotes is for jq
WHOLE='.complete and .messages == .messages_begun and .messages_failed == 0 and .packets_lost == 0 and .bytes_corrupted == 0 and
       .buffers_missing == 0 and ([.faults[]?.whole_after_ns] | all(. != null and . < $longest))'

# `messages` arrived: if all answers of one were lost, it is given up as well.
# shellcheck disable=SC2016
ENDED='(.interrupted | not) and .messages <= .messages_begun and .messages + .messages_failed >= .messages_begun and
       .complete == (.messages_failed == 0) and .bytes_corrupted == 0 and .buffers_missing == 0 and .virtual_seconds < 1'

# write_lasting COMMAND...: the first faults of a run go to $LASTING; each fourth has no end.
write_lasting() {
    "$@" --json - | jq --raw-output '.faults[:12][].fault' | sed '1~4s/ for [^ ]*$//' >"$LASTING"
}

for ((i = 0; i < RUNS; i++)); do
    seed=$((SEED + i))
    command=("$HXMESH" run "${FABRICS[seed % ${#FABRICS[@]}]}" --clock virtual --quiet --no-links --seed "$seed"
        --traffic "${TRAFFIC[seed / 3 % ${#TRAFFIC[@]}]}" --message $((1024 << seed % 6)) --planes $((1 + seed / 5 % 2))
        --workers $((1 + seed / 2 % 2)) --check-steps)
    random=(--faults random --mtbf "${MTBF[seed / 7 % 3]}" --mttr "${MTTR[seed / 11 % 3]}")
    if [ -n "$STAY" ]; then
        write_lasting "${command[@]}" "${random[@]}"
        command+=(--faults "$LASTING")
    else
        command+=("${random[@]}")
    fi
    code=0
    timeout 1200 "${command[@]}" --json - >"$REPORT" || code=$?
    if [ -z "$STAY" ] && [ "$code" -eq 0 ] && jq --exit-status --argjson longest $LONGEST "$WHOLE" "$REPORT" >/dev/null; then
        continue
    fi
    # 1: some messages were given up.
    if [ -n "$STAY" ] && [ "$code" -le 1 ] && jq --exit-status "$ENDED" "$REPORT" >/dev/null; then
        continue
    fi
    printf 'not whole:'
    printf ' %q' "${command[@]}"
    printf '\n'
    [ -z "$STAY" ] || cat "$LASTING"
    jq --compact-output '{complete, messages, messages_begun, messages_failed, packets_lost, buffers_missing,
        longest: ([.faults[]?.whole_after_ns // -1] | max)}' "$REPORT"
    exit 1
done
if [ -n "$STAY" ]; then
    echo "$RUNS runs from seed $SEED on: each message arrived or was given up"
else
    echo "$RUNS runs from seed $SEED on: everything arrived"
fi
