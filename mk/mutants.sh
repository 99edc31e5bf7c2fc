#!/usr/bin/env bash
# mutants.sh BUILD [FILE...] - changes one token of a source file at a time (mk/mutants.awk) and runs tests to see
# whether one fails.
#
# Prints a line for each mutant: killed (a test failed or did not end), survived, equivalent (tests/mutants.txt says why
# it is harmless; not tried), or broken (does not compile). The last line counts them. Exits with 1 if fewer than 95 %
# of the killed and survived ones were killed.
#
# FILE: source files (all with judges below); FILE:LINE: one line. MUTANTS: number to draw from all of the files (60),
# or "all". SEED (1): the same seed and sources give the same mutants. Everything is built in a copy of the sources in
# BUILD, with little optimization; a mutant rebuilds only what depends on its file. A test may take five seconds plus
# five times its time on good sources.
set -euo pipefail

unset MAKEFLAGS MFLAGS MAKELEVEL
known=$PWD/tests/mutants.txt
build=$1
shift
copy=$build/copy
sources=(Makefile mk README.md include firmware hal lib fabric-emu tools nodes program docs examples tests)

# Prints the tests that judge a file, as paths below tests/.
judges_of() {
    case $1 in
    firmware/credit.c) echo unit/test_credit unit/test_link property/prop_{credit,session,link} ;;
    firmware/detour.c) echo unit/test_detour unit/topology/test_detours ;;
    firmware/endpoint*.[ch] | firmware/round_trip.c | firmware/s*_set.h)
        echo unit/test_{endpoint{,_answers,_arrivals,_hello,_late,_losses,_memory,_numbers,_peers,_places,_restarts,_unreachable},round_trip,send_set} property/prop_endpoint ;;
    firmware/frame.c | firmware/frame_parts.h | firmware/bytes.h | firmware/crc32c.c) echo unit/test_{frame,frame_refused,crc32c,auth_tag} ;;
    firmware/geometry.c | firmware/route.c)
        echo unit/test_{geometry,switch,tree,capture_paths,dependency} property/prop_{route,deadlock,given_back} ;;
    firmware/collective*.[ch]) echo unit/test_collective{,_brief,_methods,_rings,_sum} property/prop_collective ;;
    firmware/auth_tag.c | firmware/siphash.h) echo unit/test_{auth_tag,endpoint_hello} property/prop_auth_tag ;;
    firmware/switch*.[ch] | firmware/bits.h | include/hxmesh/lanes.h) echo unit/test_{switch,tree,router_vcs,lanes,send_set} property/prop_switch ;;
    hal/cable/*) echo unit/test_{loopback,link} property/prop_{link,fabric,auth_tag} ;;
    hal/shm/tap.[ch] | hal/shm/noted.c) echo unit/shm/test_{tap,tap_records,feed} ;;
    hal/shm/faulty.[ch]) echo unit/shm/test_faulty property/shm/prop_crash ;;
    hal/simd/*) echo unit/shm/test_crc ;;
    hal/shm/clock.[ch]) echo unit/shm/test_clock ;;
    hal/shm/*) echo unit/shm/test_{pool,redo,ring,tap,eject,changed_descriptor} property/shm/prop_{two_workers,crash} ;;
    hal/virtual/*) echo unit/virtual/test_{event_queue,channel,cycle,link,queue,arena,tap,tap_note,timing,wheel} \
        property/virtual/prop_{latency,rates,steps,watchdog} ;;
    lib/schedule/executor*.[ch] | lib/schedule/estimate.c | lib/schedule/groups.c | lib/schedule/ordinals.c | lib/schedule/choices.c)
        echo unit/test_executor{,_collectives} ;;
    lib/schedule/build.c | lib/schedule/schedule.c | lib/schedule/structure.c) echo unit/test_schedule_file ;;
    lib/topology/*) echo unit/test_bounds unit/topology/test_{bigraph,bisection,detours,dimensions,dragonfly,fabric,failures,fat_tree,galois} \
        unit/topology/test_{graph,hyperx,validate,kautz,single_path,slim_fly,torus,worst_case} ;;
    lib/base/arena.c) echo unit/test_arena{,_clean,_races} unit/test_metrics ;;
    esac
}

# runner_of JUDGE: its program.
runner_of() {
    case $1 in */shm/*) echo build/test-shm ;; */virtual/*) echo build/test-virtual ;; *) echo build/test-loopback ;; esac
}

make_judges() {
    mapfile -t runners < <(for name in "$@"; do runner_of "$name"; done | sort -u)
    make -C "$copy" -s -j"$(nproc)" BUILD=build DPDK= WARNINGS=-w OPTIMIZE=-O1 OPTIMIZE_FAST=-O1 WHOLE= "${runners[@]}"
}

# Copies the sources. Touches files mutated by earlier runs, as their objects are newer than the restored sources.
lay_out() {
    local file
    mkdir -p "$copy"
    (cd "$copy" && rm -rf "${sources[@]}")
    cp -rp "${sources[@]}" "$copy"
    touch "$build/changed"
    sort -u "$build/changed" | while read -r file; do [ ! -f "$copy/$file" ] || touch "$copy/$file"; done
}

restore() {
    cp "$1" "$copy/$1"
}

# Prints MUTANTS mutants of the given files or lines, drawn by SEED, in order of lines.
draw() {
    local -a files
    mapfile -t files < <(printf '%s\n' "${@%:*}" | sort -u)
    awk -f mk/mutants.awk "${files[@]}" |
        awk -F '\t' -v given="$*" 'BEGIN { n = split(given, place, " "); while (n) is_given[place[n--]] = 1 }
                                   is_given[$1] || is_given[$1 ":" $2]' |
        awk -v seed="${SEED:-1}" 'BEGIN { for (n = seed % 2147483646 + 1; n;) { n = n * 16807 % 2147483647
                                                                              if (++warm == 9) break } }
                                  { n = n * 16807 % 2147483647; printf "%010d\t%08d\t%s\n", n, NR, $0 }' |
        sort -k1,1 | if [ "${MUTANTS:=60}" = all ]; then cat; else head -n "$MUTANTS"; fi | sort -k2,2 | cut -f3-
}

# Runs a judge in the copy, in its own namespaces if the kernel allows.
judge() {
    (cd "$copy" && ulimit -c 0 && timeout --kill-after=5 "$2" "${own_machine[@]}" "$(runner_of "$1")" "$1" >../judge.log 2>&1 </dev/null)
}

# Measures the seconds of each judge on good sources, where it must pass.
try_judges() {
    local begin name
    for name in "$@"; do
        begin=$SECONDS
        judge "$name" 600 || { tail -n 50 "$build/judge.log"; echo "mutants: $name fails without a mutant"; exit 1; }
        seconds[$name]=$((SECONDS - begin))
    done
}

# The judges of a file: the one that killed the last mutant, then fast ones first.
in_order() {
    local name
    for name in $(judges_of "$1"); do
        echo "$([ "$name" != "$killer" ] && echo "${seconds[$name]}" || echo -1) $name"
    done | sort --stable --key=1,1n | cut --delimiter=' ' --fields=2
}

is_known() {
    grep -qxF -e "$1 $2: $3" -e "$1 $2: *" -e "$1: *" "$known"
}

# Tries FILE with LINE replaced; sets $outcome.
try_mutant() {
    local file=$1 line=$2 text=$3 name
    echo "$file" >>"$build/changed"
    awk -v at="$line" 'FNR == NR { text = $0; next } FNR == at { print text; next } { print }' \
        <(printf '%s\n' "$text") "$file" >"$copy/$file"
    local -a judges
    mapfile -t judges < <(in_order "$file")
    for name in "${judges[@]}"; do
        if ! make_judges "$name" >"$build/make.log" 2>&1; then
            outcome=broken
            return
        fi
        if ! judge "$name" $((5 + 5 * seconds[$name])); then
            outcome="killed by $name"
            killer=$name
            return
        fi
    done
    outcome=survived
}

own_machine=("$PWD/mk/own-machine.sh")
"${own_machine[@]}" true || own_machine=()

if [ $# -eq 0 ]; then
    set -- firmware/*.[ch] hal/shm/*.[ch] hal/virtual/*.[ch] lib/base/arena.c
fi
for file in "$@"; do
    [ -n "$(judges_of "${file%:*}")" ] || { echo "mutants: $file has no judges in mk/mutants.sh"; exit 2; }
done

mkdir -p "$build"
mapfile -t drawn < <(draw "$@")
mapfile -t all_judges < <(for file in $(printf '%s\n' "${drawn[@]}" | cut -f1 | sort -u); do judges_of "$file"; done |
    tr ' ' '\n' | sort -u)
lay_out
make_judges "${all_judges[@]}" >"$build/make.log" 2>&1 || { tail -n 30 "$build/make.log"; exit 1; }
declare -A seconds
try_judges "${all_judges[@]}"

killed=0 survived=0 equivalent=0 broken=0 last='' killer=''
trap '[ -z "$last" ] || restore "$last"' EXIT
for mutant in "${drawn[@]}"; do
    IFS=$'\t' read -r file line function text <<<"$mutant"
    [ -z "$last" ] || [ "$last" = "$file" ] || restore "$last"
    last=$file
    change=${text#"${text%%[! ]*}"}
    outcome=equivalent
    is_known "$file" "$function" "$change" || try_mutant "$file" "$line" "$text"
    case $outcome in
    killed*) killed=$((killed + 1)) ;;
    survived) survived=$((survived + 1)) ;;
    equivalent) equivalent=$((equivalent + 1)) ;;
    broken) broken=$((broken + 1)) ;;
    esac
    printf '%s:%s: %s: %s: %s\n' "$file" "$line" "$outcome" "$function" "$change"
done

judged=$((killed + survived))
percent=$((judged > 0 ? 100 * killed / judged : 100))
echo
echo "${#drawn[@]} mutants: $killed killed, $survived survived, $equivalent equivalent, $broken broken; $percent % of $judged killed"
[ "$percent" -ge 95 ]
