#!/usr/bin/env bash
# firmware.sh OUTPUT [TARGET] - compiles firmware/ freestanding for every target or for one, links it relocatably and
# prints its sizes.
#
# It refuses undefined symbols except memcpy, memset and the compiler's arithmetic; static data; recursion; and stack
# frames of unknown size.
set -euo pipefail

# ccache keeps objects, but not their call graphs.
export CCACHE_DISABLE=1

# name | compiler | options
targets=(
    "host|gcc|-O2"
    "aarch64|aarch64-linux-gnu-gcc|-O2 -mno-outline-atomics"
    "riscv64|riscv64-unknown-elf-gcc|-O2 -march=rv64imac -mabi=lp64 -mcmodel=medany"
    "cortex-m7|arm-none-eabi-gcc|-Os -mcpu=cortex-m7 -mthumb"
    "cortex-r52|arm-none-eabi-gcc|-O2 -mcpu=cortex-r52 -marm -mfloat-abi=soft"
)
common=(-std=c11 -ffreestanding -nostdlib -fno-pic -fno-asynchronous-unwind-tables -fcallgraph-info=su
    -Wall -Wextra -Wconversion -Werror -Iinclude -I. -Ihal/loopback -Ifirmware)

output=$1
shopt -s nullglob
sources=(firmware/*.c)
if [ ${#sources[@]} -eq 0 ]; then
    echo "firmware: no sources"
    exit 0
fi

refuse() {
    echo "hxmesh: error: firmware on $name: $*" >&2
    exit 1
}

# Compiles every source into $directory and joins them in $directory/firmware.elf.
build() {
    rm -rf "$directory"
    mkdir -p "$directory"
    local source
    for source in "${sources[@]}"; do
        printf '%s\0-o\0%s\0' "$source" "$directory/$(basename "$source" .c).o"
    done | xargs -0 -n 3 -P "$(nproc)" "$compiler" "${common[@]}" "${options[@]}" -c &&
        "$compiler" "${options[@]}" -nostdlib -r "$directory"/*.o -o "$directory/firmware.elf"
}

# Prints undefined symbols other than the permitted functions and the compiler's arithmetic (libgcc).
foreign_symbols() {
    local library
    library=$("$compiler" "${options[@]}" -print-libgcc-file-name)
    comm -23 <("$nm" --undefined-only "$directory/firmware.elf" | awk '{ print $2 }' | sort -u) <(
        {
            printf 'memcpy\nmemset\n'
            "$nm" --defined-only "$library" 2>/dev/null | awk 'NF == 3 { print $3 }'
        } | sort -u
    )
}

# Prints "CODE READONLY STATIC" in bytes.
section_bytes() {
    "$size" --format=sysv "$directory/firmware.elf" | awk '
        $1 ~ /^\.text/ { code += $2 }
        $1 ~ /^\.s?rodata/ || $1 ~ /^\.data\.rel\.ro/ { readonly += $2; next }
        $1 ~ /^\.(s?data|s?bss|tdata|tbss)/ { static += $2 }
        END { print code + 0, readonly + 0, static + 0 }'
}

# Prints "FRAME FUNCTION PATH ROOT" from the compiler's call graphs: the largest frame in bytes and its function, the
# deepest path of calls in bytes and its first function. The stack of memcpy and memset is not included.
stack_bytes() {
    awk -F'"' '
        function deepest(f,    n, i, callee, below, list) {
            if (f in depth) return depth[f]
            if (f in open) { print "recursion through " f; failed = 1; exit 1 }
            open[f] = 1
            n = split(calls[f], list, "\n")
            below = 0
            for (i = 2; i <= n; i++) { callee = deepest(list[i]); if (callee > below) below = callee }
            delete open[f]
            return depth[f] = frame[f] + below
        }
        /^node:/ && match($4, /[0-9]+ bytes \([a-z,]+\)/) {
            words = substr($4, RSTART, RLENGTH)
            if (words ~ /\(dynamic\)/) { print "a stack frame of unknown size in " $2; failed = 1; exit 1 }
            split(words, word, " ")
            if (word[1] > frame[$2] + 0) frame[$2] = word[1] + 0
        }
        /^edge:/ { calls[$2] = calls[$2] "\n" $4 }
        END {
            if (failed) exit 1
            for (f in frame) if (frame[f] > largest || largest == "") { largest = frame[f]; owner = f }
            for (f in frame) if (deepest(f) > path || path == "") { path = depth[f]; root = f }
            sub(/.*:/, "", owner); sub(/.*:/, "", root)
            print largest + 0, owner, path + 0, root
        }' "$directory"/*.ci
}

echo "firmware, freestanding (bytes; static data: .data + .bss; path: all frames of the deepest chain of calls):"
printf '%-10s %8s %10s %12s   %-36s %s\n' target code read-only static-data "largest stack frame" "deepest stack path"
for target in "${targets[@]}"; do
    IFS='|' read -r name compiler words <<<"$target"
    [ "${2:-$name}" = "$name" ] || continue
    read -ra options <<<"$words"
    directory=$output/$name
    nm=${compiler%gcc}nm
    size=${compiler%gcc}size
    build || refuse "does not compile freestanding"
    foreign=$(foreign_symbols)
    [ -z "$foreign" ] || refuse "needs what a freestanding platform does not have: ${foreign//$'\n'/ }"
    read -r code readonly static < <(section_bytes)
    [ "$static" -eq 0 ] || refuse "$static bytes of static data (.data + .bss); firmware has no globals"
    stack=$(stack_bytes) || refuse "$stack"
    read -r frame owner path root <<<"$stack"
    printf '%-10s %8d %10d %12d   %-36s %s\n' \
        "$name" "$code" "$readonly" "$static" "$frame in $owner" "$path from $root"
done
