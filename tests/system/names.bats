# names.bats - names of links: what a report calls a link, faults, captures and failures of a spec take, for the same
# link. A link that was cut by its name carries nothing.

# shellcheck disable=SC2016,SC2154 # what stands in quotes is for jq; bats sets stderr
load emulator_support

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# simulate REPORT FABRIC ARGUMENTS...: some traffic; what comes before 20 us does not count.
simulate() {
    local report=$1
    shift
    hxmesh run "$@" --clock virtual --share-cores --workers 1 --traffic uniform --message 2KiB --duration 40us --warm-up 20us \
        --quiet --json "$report" >text
}

# names_of REPORT EVERY: links that were busy: of those in order of traffic each EVERYth, by their first end.
names_of() {
    jq -r --argjson every "$2" '[.links[] | select(.busy > 0)] | sort_by(-.packets) | to_entries[] |
        select(.key % $every == 0) | .value.from' "$1"
}

# cuts FABRIC EVERY: each EVERYth link of the report is cut by its name. Then it is not busy in either direction, its
# ports are still in the report, and all that another run says of it is under that name.
cuts() {
    local fabric=$1 every=$2 name
    simulate whole.json "$fabric"
    names_of whole.json "$every" >names
    [ -s names ]
    while read -r name; do
        simulate cut.json "$fabric" --fault "$name down" || [ $? -eq 1 ] # a host may be cut off
        jq -e --arg name "$name" '[.links[] | select(.from == $name or .to == $name)] |
            length == 2 and all(.busy == 0)' cut.json >text || { echo "$fabric: $name: $(cat text)"; return 1; }
        # The links that both reports have lead from and to the same ports.
        jq -e --slurpfile whole whole.json '([.links[] | {(.from): .to}] | add) as $now |
            $whole[0].links | all($now[.from] == .to)' cut.json >text || { echo "$fabric: other names with a fault"; return 1; }
    done <names
}

SOME=("torus 4x3" "mesh 3x4" "torus 3x4x2" "2x2 Hx2Mesh" "fat-tree hosts=16 radix=8")
@test "names: a link that a report names is cut by that name" {
    for fabric in "${SOME[@]}"; do cuts "$fabric" 17; done
}

MORE=("torus 5" "torus 2x2" "torus 4x4 board=2x2" "torus 2x3x2x2" "mesh 5" "mesh 2x3x2" "hyperx 3x4 p=2" "slim-fly q=3 p=2"
    "dragonfly a=4 p=2 h=2 groups=3" "mlfm h=3" "oft k=3" "bigraph m=4 n=6" "kautz degree=3 length=2 p=2"
    "Ring(4)_FC(3)_Switch(2)" "Ring(6)" "3x2 H2x3Mesh" "graph $(realpath "$BATS_TEST_DIRNAME/../../examples/graph/cube.csv")")
# bats test_tags=all
@test "names: a link of any topology is cut by the name in the report" {
    for fabric in "${MORE[@]}"; do cuts "$fabric" 31; done
}

@test "names: a host of a torus is cut off with its links, captured by its names, and left out by fail=" {
    simulate cut.json "torus 4x4" --fault "a1,1 down" --capture run.pcapng --capture-ports 'a1,1/*' || [ $? -eq 1 ]
    jq -e '[.links[] | select((.from + .to) | test("a1,1/p0/[EWNS]"))] | length == 8 and all(.busy == 0)' cut.json >text
    hxmesh verify run.pcapng --quiet --json - | jq -e '.ports == 6 and .passed' >text # a1,1: E W N S trace local
    simulate less.json "torus 4x4 fail=a1,1/N"
    jq -e '(.links | length) > 60 and ([.links[] | .from, .to] | index("a1,1/p0/N") | not) and
        ([.links[] | .from, .to] | index("a1,1/p0/S"))' less.json >text
    simulate less.json "torus 4x4 fail=a1,1"
    jq -e '[.links[] | .from + .to | select(test("a1,1/"))] == []' less.json >text
    run -2 --separate-stderr hxmesh run "torus 4x4" --clock virtual --traffic incast --target 5,0 --fault "a1,1/N down"
    [ "$stderr" = "hxmesh: error: --target: a5,0 is outside the torus 4x4 (addr_hi 0 .. 3, addr_lo 0 .. 3)" ]
    hxmesh route "torus 4x4 fail=a1,1/N" --from 1,1 --to 1,3 --quiet >text
    grep -qE '^a1,1 to a1,3: .* minimal path' text
    grep -q 'a1,1/p0/S' text
}
