#!/bin/sh
# rooms.sh - checks the #include lines of all sources against mk/rooms.txt, and the names in pages for programmers
# against the sources (mk/page_names.awk).
#
# Prints each include between rooms that the table does not allow, and each circle of files in a room. A file and its
# header count as one: a.c and a.h. An intended circle has a comment "circle: REASON" on the line of the include that
# closes it; that include is ignored.
#
#     mk/rooms.sh            exits with 0: none; 1: some, listed on stdout
#     mk/rooms.sh --arrows   prints the number of includes from room to room
set -eu
cd "$(dirname "$0")/.."
arrows=${1:-}
pages="README.md CONTRIBUTING.md docs/architecture.md docs/add-topology.md docs/add-collective.md docs/porting.md
    docs/bare-metal.md docs/proofs.md docs/testing.md"
list=${TMPDIR:-/tmp}/rooms.$$
trap 'rm -f "$list"' EXIT
git ls-files --cached --others --exclude-standard | sort -u |
    while read -r file; do if [ -f "$file" ]; then echo "$file"; fi; done >"$list"
sources=$(grep '\.[chS]$' "$list")

bad=0
# shellcheck disable=SC2046,SC2086 # no source has a space in its name
awk -f mk/page_names.awk "$list" $pages $sources $(grep '\.bash$' "$list") || bad=1

# shellcheck disable=SC2086 # no source has a space in its name
awk -v arrows="$arrows" '
function folder_of(path) { return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/) - 1) : "." }
function room_of(path,    at) {
    for (at = path; at in rank == 0 && at != ".";)
        at = folder_of(at)
    return at
}
function module_of(path) { sub(/\.[chS]$/, "", path); return path }

# The file that an include names: relative to the including file, to the root, or to folders of a platform
# (mk/compile.mk).
function target_of(from, name,    try) {
    try = folder_of(from) "/" name
    while (sub(/[^\/]+\/\.\.\//, "", try)) ;
    if (try in there) return try
    if (name in there) return name
    if ("include/" name in there) return "include/" name
    if ("lib/" name in there) return "lib/" name
    if ("hal/" name in there) return "hal/" name
    if ("firmware/" name in there) return "firmware/" name
    if (from ~ /virtual/ && "hal/virtual/" name in there) return "hal/virtual/" name
    if (from ~ /dpdk/ && "hal/dpdk/" name in there) return "hal/dpdk/" name
    if ("hal/shm/" name in there) return "hal/shm/" name
    return ""
}

# Tarjan: circles are strongly connected components of more than one module.
function visit(m,    i, to, part, size) {
    low[m] = number[m] = ++visited
    stack[++depth] = m
    on_stack[m] = 1
    for (i = 1; i <= edges[m]; i++) {
        to = edge[m, i]
        if (!(to in number)) {
            visit(to)
            if (low[to] < low[m]) low[m] = low[to]
        } else if (on_stack[to] && number[to] < low[m])
            low[m] = number[to]
    }
    if (low[m] != number[m])
        return
    part = ""
    size = 0
    do {
        to = stack[depth--]
        on_stack[to] = 0
        part = part " " to
        size++
    } while (to != m)
    if (size > 1) {
        print "circle:" part
        for (i = split(part, member, " "); i > 0; i--)
            in_circle[member[i]] = m
        bad = 1
    }
}

BEGIN {
    for (i = 1; i < ARGC; i++)
        if (ARGV[i] != "mk/rooms.txt" && ARGV[i] !~ /=/)
            there[ARGV[i]] = 1
}
FILENAME == "mk/rooms.txt" {
    sub(/#.*/, "")
    if (NF == 0)
        next
    room = $1
    sub(/:$/, "", room)
    rank[room] = ++rooms
    for (i = 2; i <= NF; i++) {
        if ($i != "*" && !($i in rank)) {
            print "mk/rooms.txt:" FNR ": " room " may not include " $i ", which does not stand above it"
            bad = 1
        }
        may[room, $i] = 1
    }
    next
}
FNR == 1 {
    room = room_of(FILENAME)
    if (!(room in rank)) {
        print FILENAME ": is in no room of mk/rooms.txt"
        bad = 1
    }
}
/^#include "/ {
    split($0, quoted, "\"")
    if (quoted[2] ~ /^(hal|conformance)_port\.h$/ && (folder_of(FILENAME) !~ /^hal\/./ || FILENAME ~ /^hal\/conformance/) || /circle: /)
        next
    target = target_of(FILENAME, quoted[2])
    if (target == "")
        next
    to = room_of(target)
    count[room " -> " to]++
    if (to != room && !((room, to) in may) && !((room, "*") in may)) {
        print FILENAME ":" FNR ": " room " may not include " target
        bad = 1
    }
    from_module = module_of(FILENAME)
    to_module = module_of(target)
    if (from_module != to_module && !((from_module, to_module) in seen)) {
        seen[from_module, to_module] = 1
        if (!edges[from_module]++)
            order[++modules] = from_module
        edge[from_module, edges[from_module]] = to_module
    }
}
END {
    if (arrows) {
        for (pair in count)
            print pair, count[pair]
        exit 0
    }
    for (i = 1; i <= modules; i++)
        if (!(order[i] in number))
            visit(order[i])
    exit bad
}' mk/rooms.txt $sources && [ "$bad" -eq 0 ]
