#!/usr/bin/env bash
# hop_cost.sh TREE [SPEC ARGUMENT...] - where the instructions of a packet hop go under the virtual clock, as a Markdown
# table: of one run, or of those in docs/performance.md. TREE has a build of hxmesh-virtual.
#
# callgrind counts the instructions of each source line, inlined or not. A file belongs to a part of the work, and some
# functions to another than their file. Set-up is a part of its own: it does not grow with the run.
set -euo pipefail

[ $# -ge 1 ] || {
    echo "hxmesh: error: hop_cost: usage: hop_cost.sh TREE [SPEC ARGUMENT...]" >&2
    exit 2
}
tree=$1
shift
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# count COLUMN SPEC ARGUMENT... - adds lines to $out/costs: column, part, instructions a hop; tabs between.
count() {
    local column=$1 hops worker
    shift
    if ! valgrind --tool=callgrind --trace-children=yes --callgrind-out-file="$out/callgrind.%p" \
        "$tree/build/hxmesh-virtual" "$@" --clock virtual --workers 1 --quiet --json "$out/report" >"$out/log" 2>&1; then
        cat "$out/log" >&2
        exit 1
    fi
    hops=$(jq .packet_hops "$out/report")
    # The worker is the process with most instructions.
    worker=$(grep -H '^totals:' "$out"/callgrind.* | sed 's/:totals:/ /' | sort -k 2 -n -r | head -n 1 | cut -d ' ' -f 1)
    awk -v hops="$hops" -v column="$column" "$parts" "$worker" >>"$out/costs"
    rm "$out"/callgrind.*
}

# shellcheck disable=SC2016 # a program for awk
parts='
    function part_of(file, function_,    i) {
        for (i = 1; i <= rules; i++)
            if ((on[i] == "file" ? file : function_) ~ pattern[i]) return part[i]
        return "other"
    }
    function rule(name, of, what) { part[++rules] = name; on[rules] = of; pattern[rules] = what }
    # A name is (number) text at first, then (number).
    function name_of(kind, text,    number) {
        number = substr(text, 1, index(text, ")"))
        if (length(text) > length(number)) known[kind number] = substr(text, length(number) + 2)
        return known[kind number]
    }
    BEGIN {
        rule("set-up and report", "function", "^(build_|driver_start|worker_report|model_|layout_|hx_endpoint_init|hx_switch_init|virtual_sim_node_init|workload_make|_dl_|main)")
        rule("set-up and report", "file", "(^|/)(topology|spec|base|elf|fabric-emu/report)/|fabric-emu/virtual/(build|model|main|launch|report)[.]c|fabric-emu/[a-z_]*[.]c|switch_setup|arena")
        rule("prefetching", "file", "hal/virtual/prefetch")
        rule("event queue, wheel, visits", "file", "hal/virtual/(event|wheel|sim_node|order)|fabric-emu/virtual/worker")
        rule("switch: outputs, waiting, credit", "file", "firmware/(switch|route|detour|credit|geometry)|include/hxmesh/(switch|route|lanes|detour)|firmware/bits")
        rule("links: times, queues, credit", "file", "hal/virtual/")
        rule("endpoint, receiving", "file", "firmware/endpoint_receive")
        rule("endpoint, acknowledgements and deadlines", "file", "firmware/(endpoint_late|endpoint_hello|round_trip)")
        rule("headers", "file", "firmware/frame|hal/simd|firmware/bytes|include/hxmesh/frame")
        rule("endpoint, sending", "file", "firmware/(endpoint|send_set)|include/hxmesh/endpoint")
        rule("workload and driver", "file", "(^|/)(workload|schedule)/|fabric-emu/virtual/|hal/")
        rule("libc", "file", "memset|memcpy|memmove|string|malloc|[?][?][?]")
    }
    /^fn=/ { function_ = name_of("f", substr($0, 4)); next }
    /^f[lie]=/ { file = name_of("l", substr($0, 4)); next }
    /^cfn=/ { name_of("f", substr($0, 5)); next }
    /^cf[il]=/ { name_of("l", substr($0, 5)); next }
    /^c?ob=/ { next }
    /^calls=/ { inclusive = 1; next } # the next line has what the callee spends
    /^[0-9+*-]/ {
        if (!inclusive) {
            all += $2
            cost[part_of(file, function_)] += $2
        }
        inclusive = 0
    }
    END {
        for (name in cost) printf "%d\t%s\t%.0f\n", column, name, cost[name] / hops
        printf "%d\tall\t%.0f\n", column, all / hops
    }'

if [ $# -gt 0 ]; then
    runs=1
    echo "| part, instructions a hop | $* |"
    count 1 "$@"
else
    runs=4
    echo "| part, instructions a hop | 64, all-to-all | 64, permutation | 1,024, all-to-all | 1,024, uniform at 10 % |"
    count 1 "4x4 Hx2Mesh" -m 256KiB
    count 2 "4x4 Hx2Mesh" -t permutation -m 4MiB
    count 3 "16x16 Hx2Mesh" -m 256KiB --shifts 1
    count 4 "16x16 Hx2Mesh" -t uniform --rate 0.1 -m 8KiB -n 0 -d 30us
fi
# The parts, the largest first.
awk -F '\t' -v runs=$runs '
    BEGIN {
        line = "|---|"
        for (run = 1; run <= runs; run++) line = line "---|"
        print line
    }
    {
        cost[$2, $1] = $3
        if (most[$2] < $3) most[$2] = $3
    }
    function row(name,    run, text) {
        text = "| " name " |"
        for (run = 1; run <= runs; run++) text = text " " cost[name, run] + 0 " |"
        print text
    }
    END {
        while (1) {
            best = ""
            for (name in most)
                if (name != "all" && most[name] >= 1 && (best == "" || most[name] > most[best])) best = name
            if (best == "") break
            row(best)
            delete most[best]
        }
        row("all")
    }' "$out/costs"
