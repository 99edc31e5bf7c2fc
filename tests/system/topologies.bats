# asan
# topologies.bats - hxmesh topologies: the arguments of each word, and errors for wrong ones.

load tools_support

topologies() { "$HXMESH-topologies" "$@"; }

# counts SPEC FILTER: the filter holds for the output of info.
counts() { info "$1" --json - | json_holds "$2" || { echo "$1: not $2"; info "$1" --json -; return 1; }; }

@test "topologies: JSON has a word, its parameters and an example of each" {
    topologies --json - | json_holds 'length >= 12 and all(.[]; keys == ["example", "parameters", "word"]) and
        (map(.word) | index("fat-tree") and index("slim-fly") and index("HxMesh"))'
}

@test "topologies: the list has the same words" {
    run topologies
    [ "$status" -eq 0 ]
    while read -r word; do
        [[ "$output" == *"$word: "* ]]
    done < <(topologies --json - | jq -r '.[].word')
}

@test "topologies: every example is a fabric of that topology" {
    while IFS=$'\t' read -r word example; do
        [[ "$example" != graph* ]] || continue # its file is the reader's
        info "$example" --json - | jq -e --arg word "$word" '.topology == $word and .hosts > 0' >/dev/null
    done < <(topologies --json - | jq -r '.[] | [.word, .example] | @tsv')
}

@test "topologies: a misspelt word is answered by the nearest one" {
    local lists="hxmesh topologies lists what there is)"
    refused 3 "fat-tre hosts=64: is not a fabric (did you mean 'fat-tree'? write for example 'fat-tree hosts=1024 radix=64 taper=1'; $lists" \
        "$HXMESH" run "fat-tre hosts=64"
    refused 3 "torrus 4x4: is not a fabric (did you mean 'torus'? write for example 'torus 32x32 board=2x2'; $lists" \
        "$HXMESH" run "torrus 4x4"
    refused 3 "4x4 Hx2Mehs: is not a fabric (did you mean 'HxMesh'? write for example '4x4 Hx2Mesh'; $lists" \
        "$HXMESH" run "4x4 Hx2Mehs"
    refused 3 "slimfly q=5: is not a fabric (did you mean 'slim-fly'? write for example 'slim-fly q=13 p=9'; $lists" \
        info "slimfly q=5"
    refused 3 "Rign(4)_FC(8): is not a fabric (did you mean 'Ring(K)_FC(K)_Switch(K)'? write for example 'Ring(4)_FC(8)_Switch(32) gbps=400,200,100'; $lists" \
        check "Rign(4)_FC(8)"
    refused 3 "fat-tree host=64: unknown key 'host' (did you mean 'hosts'?)" info "fat-tree host=64"
}

@test "topologies: impossible parameters are answered by the nearest possible ones" {
    refused 3 "slim-fly q=6: q is a prime power 4w - 1, 4w or 4w + 1 up to 41; 5 is the nearest" info "slim-fly q=6"
    refused 3 "slim-fly q=43: q is a prime power 4w - 1, 4w or 4w + 1 up to 41; 41 is the nearest" info "slim-fly q=43"
    refused 3 "oft k=11: k=11: k - 1 must be a power of a prime and k at most 32; the nearest is k=10" info "oft k=11"
    refused 3 "fat-tree radix=63: radix=63 is odd: 62 and 64 can be" info "fat-tree radix=63"
    refused 3 "hyperx 128x128: a side of 128: 2 to 64 are possible" info "hyperx 128x128"
    refused 3 "dragonfly a=4 p=2 h=1 groups=9: a group has 4 links to others: groups=5 at most" \
        info "dragonfly a=4 p=2 h=1 groups=9"
    refused 3 "torus 1100x1100: more than 1048576 hosts" info "torus 1100x1100"
    refused 3 "fat-tree hosts=64 radix=2: 3 levels of 2 ports with 1 host a leaf join 2 hosts at most" info "fat-tree hosts=64 radix=2"
    refused 3 "Ring(4)_FC(1): a dimension of 1: 2 to 64 are possible" info "Ring(4)_FC(1) " # as it was written
    refused 3 "graph cube.csv Extra: 'Extra' is a word too many" info "graph cube.csv Extra"
}

@test "topologies: a word alone is a small fabric, and a HammingMesh needs numbers" {
    for word in fat-tree dragonfly slim-fly mlfm oft bigraph kautz; do
        info "$word" --json - | json_holds '.hosts >= 16 and .hosts <= 320' || { echo "$word"; return 1; }
    done
    for word in HxMesh hx2mesh H2x4Mesh; do
        refused 3 "$word: says neither how many boards there are nor of what size (write for example '4x4 Hx2Mesh')" info "$word"
    done
}

@test "topologies: a disconnected graph, or one with too many ports at a switch, is refused" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' a,s b,s c,t d,t >parts.csv
    refused 3 "parts.csv: there is no path from 'a' to 'c'" info "graph parts.csv"
    printf 'h%d,s\n' {1..70} >many.csv
    refused 3 "many.csv: 's' has 70 ports, more than 64" info "graph many.csv"
}

@test "topologies: each has the parts of its paper" {
    counts "fat-tree hosts=1024" '.hosts == 1024 and .switches == 16 * 48 and .cables == {dac: 16384, aoc: 16384} and
        .diameter == 4 and .router_diameter == 2 and .bisection == 512'
    counts "fat-tree hosts=16384" '.switches == 16 * 1280 and .cables.aoc == 16 * 2 * 16384 and .diameter == 6'
    counts "mlfm h=15" '.hosts == 3600 and .switches == 16 * 360 and .radix == 30 and .diameter == 4'
    counts "oft k=12" '.hosts == 3192 and .switches == 16 * 399 and .radix == 24 and .diameter == 4'
    counts "bigraph m=8 n=16" '.hosts == 128 and .switches == 16 * 16 and .radix == 16 and .cables.aoc == 16 * 64'
    counts "torus 32x32 board=2x2" '.hosts == 1024 and .switches == 0 and .cables == {dac: 0, aoc: 4096} and
        .diameter == 32 and .bisection == 64 and .host_links == 4'
    counts "mesh 16x16" '.hosts == 256 and .diameter == 30 and .bisection == 16'
    counts "torus 8x8x4" '.hosts == 256 and .router_diameter == 10 and .bisection == 64'
    counts "hyperx 32x32 p=1" '.hosts == 1024 and .radix == 63 and .router_diameter == 2 and .bisection == 32 * 256'
    counts "Ring(4)_FC(8)_Switch(32)" '.hosts == 1024 and .switches == 32 and .router_diameter == 2 + 1 + 2'
    counts "kautz degree=4 length=3 p=4" '.hosts == 4 * 80 and .router_diameter <= 3'
    counts "dragonfly a=16 p=8 h=8 groups=8" '.hosts == 1024 and .switches == 16 * 64 and
        .cables == {dac: (16 * 1920), aoc: (16 * 512)} and .router_diameter <= 3'
    counts "slim-fly q=13 p=9" '.hosts == 3042 and .switches == 16 * 338 and .radix == 19 + 9 and .router_diameter == 2'
}

@test "topologies: a file names one like the command line" {
    info "$BATS_TEST_DIRNAME/../../examples/tree.hxm.yaml" --json - |
        json_holds '.name == "tree" and .topology == "fat-tree" and .hosts == 64 and .alltoall_bound < 1'
}

@test "topologies: the output of --edges is the same fabric to graph FILE" {
    cd "$BATS_TEST_TMPDIR"
    for spec in "fat-tree hosts=64 radix=16 taper=2" "slim-fly q=3 p=2" "kautz degree=2 length=2 p=2" "torus 4x4"; do
        info "$spec" --edges graph.csv >/dev/null
        [ "$(info "graph graph.csv" --json - | jq -c '[.hosts, .router_diameter]')" = \
            "$(info "$spec" --json - | jq -c '[.hosts, .router_diameter]')" ]
    done
}
