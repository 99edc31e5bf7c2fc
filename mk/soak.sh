#!/usr/bin/env bash
# soak.sh OUTPUT HXMESH SECONDS [SEED] - runs random fabrics drawn from SEED, one after the other, for SECONDS (0: until
# it is stopped), and checks each.
#
# Random are fabric, traffic, message, count, routing, planes, workers, buffers and capture. Each is run
#
#     under the virtual clock by 1, 2 and 4 workers     the same JSON, byte for byte, but for `host`
#     live                                              by a random number of workers
#     captured under one of the clocks, or not          `hxmesh verify` finds nothing
#
# Every report must show a complete run: no packet lost or in flight, no byte corrupted, no message failed, no buffer
# missing, and only allowed drops. Live, impatient senders repeat packets. Some fabrics have faults. Then packets may be
# dropped for lack of a path, for damage or with their worker, and under the virtual clock messages may fail. Without
# faults, both clocks must refuse the same fabrics.
#
# A finding is shrunk: options are left out, and fabric and messages get smaller, as long as it is still found. Then its
# seed and commands are printed. Exits with 1 if there is any finding.
set -euo pipefail

output=$1
hxmesh=$2
seconds=$3
seed=${4:-1}
mkdir -p "$output"

fabrics=("1x2 Hx1Mesh" "2x2 Hx1Mesh" "2x1 Hx2Mesh" "2x2 Hx2Mesh" "3x2 H2x1Mesh" "4x4 Hx1Mesh" "4x2 Hx2Mesh"
    "fat-tree hosts=8 radix=8" "fat-tree hosts=16 radix=4 levels=3" "fat-tree hosts=32 radix=8 taper=3" "torus 3x3"
    "torus 4x4 board=2x2" "torus 3x2x2" "mesh 4x3" "hyperx 3x3 p=2" "dragonfly a=2 p=2 h=1 groups=3"
    "slim-fly q=3 p=1" "kautz degree=2 length=2 p=2" "mlfm h=2" "oft k=3" "bigraph m=2 n=4" "Ring(2)_FC(3)_Switch(3)"
    "torus 4x4 fail=router1,1/2" "fat-tree hosts=16 radix=8 fail=leaf0/5")
traffics=(all-to-all all-to-all-random uniform permutation bisection neighbour incast tornado hotspot worst-case
    broadcast reduce-scatter all-gather all-reduce)
routings=(minimal valiant ugal ugal-threshold)

# ---- random cases ----

# Sets $drawn to a number 0 .. $1 - 1.
draw() {
    state=$((state * 6364136223846793005 + 1442695040888963407))
    drawn=$(((state >> 33 & 0x7fffffff) % $1))
}

is_collective() { [[ ${shared[1]} =~ ^(broadcast|reduce-scatter|all-gather|all-reduce)$ ]]; }

# Draws the case of a seed: $fabric, options for both clocks ($shared) and for one ($live, $simulated), in pairs.
draw_case() {
    state=$1
    draw 1 # one more step, so that near seeds differ
    draw ${#fabrics[@]} && fabric=${fabrics[drawn]}
    draw ${#traffics[@]} && shared=(--traffic "${traffics[drawn]}")
    draw 40000 && shared+=(--message $((1 + drawn)))
    is_collective || { draw 3 && shared+=(--count $((1 + drawn))); } # a collective runs once
    draw 1000 && shared+=(--seed "$drawn")
    case $fabric in
    *fail=*) ;;
    fat-tree* | mlfm* | oft* | dragonfly* | slim-fly* | bigraph* | hyperx*) # others make no detours
        draw ${#routings[@]} && shared+=(--routing "${routings[drawn]}")
        ;;
    esac
    draw 4 && [ "$drawn" -ne 0 ] || shared+=(--planes 2)
    draw 4 && live=(--workers $((1 + drawn)))
    draw 4 && live+=(--credits $((32 << drawn)))
    simulated=()
    draw 3 && [ "$drawn" -ne 0 ] || simulated+=(--buffer 96KiB)
    draw 3 && [ "$drawn" -ne 0 ] || simulated+=(--select adaptive)
    draw 3 && captured=$drawn # 0: live, 1: under the virtual clock, 2: none
    draw 3
    case $drawn in
    0) draw 200 && simulated+=(--faults random --mtbf "$((5 + drawn))us") ;;
    1) draw 4 && simulated+=(--fault "all loss=$drawn% corrupt=0.$drawn% duplicate=1% credit-loss=10%") ;;
    esac
    draw 6 # a live run takes some 10 ms, or a second if packets are lost
    case $drawn in
    0) draw 4 && live+=(--fault "all loss=0.$drawn% corrupt=0.$drawn% duplicate=1% reorder=$drawn% credit-loss=10% for 200ms") ;;
    1) is_collective || { draw 20 && live+=(--fault "worker0 killed at ${drawn}ms"); } ;; # a collective would lose a member
    2) draw 20 && live+=(--fault "worker0 stopped at ${drawn}ms for 50ms") ;;
    esac
}

# ---- checks ----

has_faults() { [[ $* == *--fault* ]]; }

# Drops allowed under the virtual clock: none, or with faults their effects.
may_drop() { ! has_faults "${simulated[@]}" || echo no_route,unreachable,checksum,duplicate,stale,malformed,failed; }

# Live, an impatient sender repeats packets; faults fail no messages.
may_drop_live() {
    echo "duplicate,stale$(! has_faults "${live[@]}" || echo ,no_route,unreachable,checksum,malformed,unexpected,worker_lost)"
}

# run REPORT MAY_DROP ARGUMENT... - runs hxmesh; sets $code, and $finding if the run is bad. MAY_DROP: names of drops;
# with `failed` messages may fail too.
run() {
    local report=$1 may_drop=$2
    shift 2
    code=0
    timeout --kill-after=5 120 "$hxmesh" run "$@" --quiet --json "$report" >"$output/log" 2>&1 || code=$?
    command="hxmesh run $(printf '%q ' "$@")"
    case $code in
    2 | 3 | 4) return ;; # refused
    0) ;;
    124 | 137) finding="it does not come to an end" && return ;;
    *) finding="it ended with $code: $(tail -n 1 "$output/log")" && return ;;
    esac
    finding=$(jq -r --arg may "$may_drop" '
        [ if .complete then empty else "not complete" end,
          (.packets_lost, .packets_in_flight, .bytes_corrupted, (.buffers_missing // 0)
            | select(. != 0) | "something is lost, corrupted, missing or under way"),
          (.messages_failed | select(. != 0 and ($may | contains("failed") | not)) | "\(.) messages failed"),
          (.messages | select(. == 0) | "no messages"),
          (.drops | to_entries[] | select(.value != 0 and (.key as $k | $may | split(",") | index($k) | not))
            | "\(.value) dropped as \(.key)") ] | first // empty' "$report")
}

verify() {
    local why
    why=$("$hxmesh" verify "$1" --quiet 2>&1) || finding="verify: $(head -n 2 <<<"$why" | tr '\n' ' ')"
}

# Runs and checks the case: sets $finding to the error or to nothing, $command to the command that shows it, and
# $refused.
judge() {
    local codes=() workers
    finding='' command='' refused=no
    rm -f "$output"/*.json "$output"/*.pcapng
    for workers in 1 2 4; do
        local more=()
        [ "$captured" -ne 1 ] || more=(--capture "$output/virtual.pcapng")
        run "$output/$workers.json" "$(may_drop)" "$fabric" --clock virtual --verify "${shared[@]}" "${simulated[@]}" \
            --share-cores --workers "$workers" "${more[@]}"
        [ -z "$finding" ] || return 0
        codes+=("$code")
        [ "$code" -eq 0 ] || continue
        jq 'del(.host)' "$output/$workers.json" >"$output/$workers.same.json"
        cmp -s "$output/1.same.json" "$output/$workers.same.json" || {
            finding="another report with $workers workers than with 1"
            return 0
        }
        [ ! -e "$output/virtual.pcapng" ] || verify "$output/virtual.pcapng"
        [ -z "$finding" ] || return 0
    done
    local more=()
    [ "$captured" -ne 0 ] || more=(--capture "$output/live.pcapng")
    run "$output/live.json" "$(may_drop_live)" "$fabric" "${shared[@]}" "${live[@]}" "${more[@]}"
    [ -z "$finding" ] || return 0
    has_faults "${simulated[@]}" "${live[@]}" || codes+=("$code")
    [ ! -e "$output/live.pcapng" ] || [ "$code" -ne 0 ] || verify "$output/live.pcapng"
    [ -z "$finding" ] || return 0
    [ "${codes[0]}" -eq 0 ] || refused=yes
    if [ "$(printf '%s\n' "${codes[@]}" | sort -u | wc -l)" -ne 1 ]; then
        finding="refused by one clock or number of workers only: codes ${codes[*]}"
    fi
}

# ---- shrinking ----

# Checks the smaller case. Returns true if it still fails.
still() {
    judge
    [ -n "$finding" ]
}

# Removes each pair of the named array that is not needed.
shrink_options() {
    local -n options=$1
    local i whole
    for ((i = ${#options[@]} - 2; i >= 0; i -= 2)); do
        whole=("${options[@]}")
        options=("${options[@]:0:i}" "${options[@]:i+2}")
        still || options=("${whole[@]}")
    done
}

# Halves the number of an option for both clocks as often as possible.
shrink_number() {
    local i old
    for ((i = 0; i < ${#shared[@]}; i += 2)); do
        [ "${shared[i]}" = "$1" ] || continue
        while old=${shared[i + 1]} && [ "$old" -gt 1 ]; do
            shared[i + 1]=$((old / 2))
            still || { shared[i + 1]=$old && break; }
        done
    done
}

shrink() {
    local old smaller
    old=$fabric
    for smaller in "${fabrics[@]}"; do # the smallest are first
        fabric=$smaller
        [ "$fabric" != "$old" ] && still && break
        fabric=$old
    done
    shrink_options shared
    shrink_options live
    shrink_options simulated
    shrink_number --count
    shrink_number --message
    old=$captured
    captured=2
    still || captured=$old
    judge
}

# ---- main loop ----

cases=0 refusals=0 findings=0 stop=no
trap 'stop=yes' INT TERM
begin=$SECONDS
while [ "$stop" = no ] && { [ "$seconds" -eq 0 ] || [ $((SECONDS - begin)) -lt "$seconds" ]; }; do
    draw_case "$seed"
    judge
    [ "$stop" = no ] || break # an interruption is no finding
    cases=$((cases + 1))
    [ "$refused" = no ] || refusals=$((refusals + 1))
    if [ -n "$finding" ]; then
        findings=$((findings + 1))
        echo "seed $seed: $finding"
        shrink
        echo "  shrunk: $finding"
        echo "  $command"
    fi
    seed=$((seed + 1))
done
echo "soak: $cases fabrics ($refusals refused), $findings findings, $((SECONDS - begin)) s; the next seed is $seed"
[ "$findings" -eq 0 ]
