#!/bin/bash
# verify_random.bash [RUNS [SEED]] - captures of runs drawn by seed, all legal: every fabric, traffic, fault and way to
# capture, whole or in pieces. `hxmesh verify` must refuse none. HXMESH is the program; the first that it refuses is
# printed with its command, and ends it. LIVE=0: under the virtual clock alone.
# shellcheck disable=SC2034,SC2054 # lists are drawn from by name; places and patterns have commas
set -u
RUNS=${1:-10000}
SEED=${2:-1}
HXMESH=${HXMESH:-build/hxmesh}
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT

FABRICS=("2x2 Hx2Mesh" "4x4 Hx2Mesh" "3x2 H2x4Mesh" "4x4 Hx1Mesh" "2x2 Hx3Mesh" "fat-tree hosts=32 radix=8" "fat-tree hosts=24 radix=8 taper=2"
    "dragonfly a=4 p=2 h=2" "torus 4x4" "torus 3x3x2" "mesh 5x4" "hyperx 3x3 p=2" "slim-fly q=3 p=2" "mlfm h=3" "oft k=3" "bigraph m=4 n=6"
    "kautz degree=3 length=2 p=2" "Ring(4)_FC(2)_Switch(2)" "dragonfly a=4 p=2 h=2 routing=valiant" "dragonfly a=2 p=2 h=1 routing=ugal"
    "slim-fly q=3 p=2 routing=valiant" "hyperx 3x3 p=2 routing=valiant" "hyperx 4x2 p=1 routing=ugal" "Ring(3)_FC(3) gbps=100,25")
TRAFFIC=(all-to-all uniform permutation all-to-all-random incast neighbour tornado all-reduce broadcast)
MESSAGES=(4 64 1KiB 5000 8KiB 20KiB 40KiB)
TIMES=(1us 2us 5us 10us 20us 50us)
IMPAIRS=(loss=10% corrupt=10% duplicate=30% reorder=20% credit-loss=20% delay=1us delay=7us rate=5% "corrupt=15% duplicate=10%"
    "loss=5% corrupt=5% duplicate=5% reorder=5%" "duplicate=20% delay=2us" "reorder=30% delay=3us")
SNAPLENS=(64 96 128 1000 8256)
PORTS=('*/local' 'a0,*' 'a1,0/*' '*/p0/*' '*/p0/local' '*,*')

# A word of the list whose name is given, by chance; the answer is in $drawn.
draw() {
    local -n list=$1
    drawn=${list[RANDOM % ${#list[@]}]}
}

chance() {
    ((RANDOM % 100 < $1))
}

# What may fail in any fabric is everything, a host, or one of its links.
draw_faults() {
    local places=(all a0,0 a0,0/E a1,0 all plane0) place time for_time
    faults=
    for ((n = RANDOM % 3 + 1; n > 0; n--)); do
        draw places && place=$drawn
        draw TIMES && time=$drawn
        draw TIMES && for_time=$drawn
        draw IMPAIRS
        if $cuts && chance 30; then
            drawn=down
            [ "$place" != all ] || place=a0,0
            chance 70 || drawn="flaps every 4us"
        fi
        faults+="${faults:+; }$place $drawn at $time"
        chance 30 || faults+=" for $for_time"
    done
}

draw_run() {
    draw FABRICS && fabric=$drawn
    cuts=true
    [[ $fabric != *routing=* ]] || cuts=false
    run=("$HXMESH" run "$fabric" --seed "$seed" --quiet --no-links)
    draw TRAFFIC && traffic=$drawn
    run+=(--traffic "$traffic")
    [[ $traffic == all-reduce || $traffic == broadcast ]] || chance 60 || run+=(--count $((1 + RANDOM % 4)))
    draw MESSAGES && run+=(--message "$drawn" --workers $((1 + RANDOM % 2)))
    chance 70 || run+=(--planes 2)
    chance 60 || run+=(--verify)
}

# Simulated; what fails is drawn here or by the program.
draw_virtual() {
    run+=(--clock virtual)
    draw_faults
    case $((RANDOM % 4)) in
    0 | 1) run+=(--fault "$faults") ;;
    2) ! $cuts || run+=(--faults random --mtbf 3us --mttr 5us) ;;
    esac
}

draw_live() {
    ! chance 50 || run+=(--capture-drop --capture-buffer 1MiB)
    draw_faults
    ! chance 40 || run+=(--fault "$(sed -E 's/([0-9]+)us/\1ms/g; s/flaps every [0-9]+ms/down/' <<<"$faults")")
}

# The whole file, the middle of it, or what was written until somebody killed the writer. 3: no frame is left.
PIECES=(whole whole whole middle head)
judge() {
    local first=$((RANDOM % 3000 + 1)) many=$((RANDOM * 4)) share=$((RANDOM % 60 + 40)) size
    [[ ${run[*]} != *--fault* ]] || first=1 # faults are told in the first frames
    case $1 in
    whole) "$HXMESH" verify --quiet "$FOLDER/run.pcapng" ;;
    middle)
        editcap -r "$FOLDER/run.pcapng" "$FOLDER/part.pcapng" "$first-$((first + many))" &&
            "$HXMESH" verify --quiet --part "$FOLDER/part.pcapng"
        ;;
    head)
        size=$(stat -c %s "$FOLDER/run.pcapng")
        head -c $((size * share / 100)) "$FOLDER/run.pcapng" >"$FOLDER/cut.pcapng"
        "$HXMESH" verify --quiet "$FOLDER/cut.pcapng" || [ $? -ne 3 ]
        ;;
    esac
}

# fail WHAT FILE: says what was run, and the beginning of what came of it.
fail() {
    printf '%s: seed %d, %s:' "$1" "$seed" "$piece"
    printf ' %q' "${run[@]}"
    printf '\n'
    head -4 "$2"
    exit 1
}

for ((i = 0; i < RUNS; i++)); do
    seed=$((SEED + i))
    RANDOM=$seed
    draw_run
    if [ "${LIVE:-1}" -ne 0 ] && chance 10; then
        draw_live
    else
        draw_virtual
    fi
    draw SNAPLENS && run+=(--snaplen "$drawn" --capture "$FOLDER/run.pcapng")
    draw PORTS
    chance 60 || run+=(--capture-ports "$drawn")
    draw PIECES && piece=$drawn
    timeout 300 "${run[@]}" >"$FOLDER/log" 2>&1
    (($? <= 1)) || fail "not run" "$FOLDER/log" # 1: a message failed, for its host is cut off
    judge "$piece" >"$FOLDER/verdict" 2>&1 || grep -q ': NOT CHECKED: ' "$FOLDER/verdict" || fail refused "$FOLDER/verdict"
done
echo "$RUNS captures from seed $SEED on: none refused"
