# asan
# reproduce.bats - hxmesh reproduce: tables, JSON and plots of runs; failed and interrupted runs.
#
# Most tests use a copy of the program in its own folder, with a script as the program `hxmesh` beside it: it reports at
# once what a perfect simulator would.

load tools_support

setup() { own_programs reproduce; }

teardown() {
    if [ -f child.pid ]; then
        kill -KILL "$(cat child.pid)" 2>/dev/null || true
    fi
}

# rows: rows of the tables on stdin, each in one line although tables are in parts of 80 columns, by the name that
# begins it.
rows() {
    awk '/^  [^ ]/ { name = $0; sub(/^  /, "", name); sub(/  .*/, "", name); rest = substr($0, 3 + length(name))
                     if (!(name in row)) order[++count] = name
                     row[name] = row[name] rest }
         END { for (i = 1; i <= count; i++) print order[i] row[order[i]] }'
}

# ended PID: it has ended within ten seconds.
ended() {
    for _ in $(seq 200); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.05
    done
    kill -KILL "$1"
    return 1
}

# A good run: shares of a quarter and of nine tenths, 1 ms.
# shellcheck disable=SC2016 # the stand-in's own
good='echo "$*" >>calls
read -rd "" report <<END
{"share_of_injection": 0.25, "virtual_seconds": 0.001, "packet_hops": 5000000, "alltoall_bound": 0.2667,
 "latency_ns": {"p50": 1500, "p99": 9000}, "receive_share": [0.1, 0.2, 0.3, 0.4], "collective": {"share": 0.9, "vector_share": 0.9},
 "schedule": [{"seconds": 0.12, "computing_seconds": {"most": 0.1}}], "host": {"packet_hops_per_second": 7500000}}
END
echo "$report"'

reproduce() { timeout --kill-after=5 1200 bin/hxmesh-reproduce "$@" --out out; }

# failed LINE BODY: with such an `hxmesh`, fig12 ends with 1 and exactly that line on stderr.
failed() {
    local line=$1
    beside "$2"
    run --separate-stderr reproduce fig12 --quiet
    [ "$status" -eq 1 ]
    # shellcheck disable=SC2154 # bats sets it
    [ "$stderr" = "hxmesh: error: $first: $line" ] || { echo "$stderr"; return 1; }
    [[ "$output" == *"INCOMPLETE: 45 of 45 runs"* ]]
    json_holds '.complete == false and .runs[0].state == "failed" and .runs[1].state == "not run"' <out/fig12.json
}
first='hxmesh run "16x16 Hx2Mesh" --clock virtual --traffic permutation --message 16MiB --seed 1 --no-links --json -'

@test "reproduce: table II has the paper's values beside the measured ones" {
    beside "$good"
    run --separate-stderr reproduce table2 --full --quiet
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    table=$(rows <<<"$output")
    [[ "$table" =~ 16x16\ Hx2Mesh\ +25.00\ +25.4\ +26.64\ +1.0000\ +21.1253\ +90.00\ +98.3\ +4\ +5.41\ +5.4 ]]
    [[ "$table" =~ 8x8\ Hx4Mesh\ +25.00\ +11.3\ +14.02\ +1.0000\ +48.7538\ +90.00\ +98.4\ +8\ +2.71\ +2.7 ]]
    [[ "$table" =~ 32x32\ Hx1Mesh\ +25.00\ +-\ +51.56\ +1.0000\ +-\ +90.00\ +-\ +4\ +10.82\ +10.8 ]]
    [[ "$table" =~ 64x64\ Hx2Mesh\ +25.00\ +-\ +[0-9.]+\ +-\ +-\ +90.00\ +92.3\ +8\ +224.12\ +224 ]]
    [[ "$table" =~ 32x32\ Hx4Mesh\ +25.00\ +-\ +[0-9.]+\ +-\ +-\ +90.00\ +92.2\ +8\ +43.29\ +43.3 ]]
    [[ "$output" == *"91.6 %"*"cannot be had"* ]]
    [[ "$output" == *"64x64 Hx2Mesh, 32x32 Hx4Mesh: all-to-all over a random sample of 64 shifts, chosen by seed 1"* ]]
    [[ "$output" == *"the fabric being full"* ]]
    grep -qF 'run fat-tree hosts=16384 --clock virtual --traffic all-to-all --message 64KiB --shifts 512 --duration 120us --warm-up 60us --seed 1' calls
    grep -qF 'run torus 128x128 board=2x2 --clock virtual --traffic all-to-all --message 64KiB --shifts 512 --duration 300us --warm-up 150us' calls
    [[ "$table" =~ fat-tree\ hosts=16384\ down=32\ up=16\ +25.00\ +47.6\ +50.09\ +-\ +-\ +90.00\ +99.8\ +6\ +418.93\ +419 ]]
    [ "$output" = "$(cat out/table2.txt)" ]
    [ "$(sort calls | uniq -d | wc -l)" -eq 0 ]
}

@test "reproduce: the JSON has date, machine, command lines, times" {
    beside "$good"
    reproduce fig13 --workers 3 --quiet >/dev/null
    json_holds '.paper == "hammingmesh" and .experiment == "fig13" and .complete and (.date | test("^20..-..-..T..:..:..Z$")) and .machine.cores > 0 and
        (.machine.cpu | length > 0) and (.runs | length) == (.results | length)' <out/fig13.json
    json_holds '.runs[0] | .wall_seconds >= 0 and .packet_hops_per_second == 7500000 and .packet_hops == 5000000 and
        .command == "hxmesh run \"16x16 Hx2Mesh\" --clock virtual --traffic all-reduce --algorithm torus --message 1MiB --workers 3 --no-links --json -"' \
        <out/fig13.json
    json_holds '[.results[] | .algorithm] | unique == ["ring", "rings", "torus", "tree"]' <out/fig13.json
    [ "$(wc -l <calls)" -eq "$(jq '.runs | length' out/fig13.json)" ]
    grep -qx 'run 8x8 Hx4Mesh --clock virtual --traffic all-reduce --algorithm rings --message 1GiB --workers 3 --no-links --json - --quiet' calls
}

@test "reproduce: training jobs have the paper's times beside the simulated ones" {
    beside "$good"
    run --separate-stderr reproduce sc22/fig15 --quiet
    [ "$status" -eq 0 ]
    [ "$(wc -l <calls)" -eq 48 ]
    [ "$(sort calls | uniq -d | wc -l)" -eq 0 ]
    grep -qxF 'run 12x8 Hx2Mesh --clock virtual --traffic examples/models/gpt-3-sc22.schedule.yaml --algorithm ring --no-links --json - --quiet' calls
    grep -qxF 'run 48x32 Hx1Mesh --clock virtual --traffic examples/models/gpt-3-moe-sc22.schedule.yaml --no-links --json - --quiet' calls
    grep -qxF 'run torus 48x32 board=2x2 --clock virtual --traffic examples/models/gpt-3-moe-sc22.schedule.yaml --algorithm pairwise --no-links --json - --quiet' calls
    grep -qxF 'run fat-tree hosts=1024 --clock virtual --traffic examples/models/dlrm.schedule.yaml --algorithm ring --planes 4 --no-links --json - --quiet' calls
    grep -qxF 'run 8x8 Hx4Mesh --clock virtual --traffic examples/models/cosmoflow.schedule.yaml --set as_run=0 --algorithm torus --no-links --json - --quiet' calls
    table=$(rows <<<"$output")
    # 120 ms everywhere, 100 of them computing: savings are the ratios of cost, 25.30 and 2.47 M$ over 5.41.
    [[ "$table" =~ GPT-3\ +100.00\ +120.00\ +120.00\ +120.00\ +120.00\ +120.00\ +120.00\ +120.00\ +120.00\ +4.68\ .*0.46 ]]
    [[ "$table" =~ GPT-3,\ paper\ +31.8\ +34.8\ +36.4\ +37.5\ +-\ +40.9\ +72.2\ +41.7\ +49.9 ]]
    json_holds '.results[] | select(.job == "ResNet-152" and .fabric == "Dragonfly") | .iteration_ms == 120 and .paper_ms == 109.7 and
        .paper_saving_of_hx2mesh == 4.22 and .paper_saving_of_hx4mesh == 8.81' <out/fig15.json
    grep -q '>75 % tree, paper<' out/fig15.svg
    grep -q 'Cost savings of the Hx4Mesh' out/fig15-2.svg
}

# bats test_tags=all
@test "reproduce: figures are SVG with axes, legend and the paper's marks" {
    beside "$good"
    for experiment in table2 fig11 fig12 fig13 fig17; do
        reproduce "$experiment" --minutes 0 --quiet >/dev/null
    done
    for name in table2 fig11 fig12 table2-2 fig11-2 fig12-2 fig13 fig13-2 fig13-3 fig17 fig17-2; do
        grep -q '^<svg xmlns="http://www.w3.org/2000/svg"' "out/$name.svg"
        grep -q 'fill="#ffffff"' "out/$name.svg"
        if command -v xmllint >/dev/null; then xmllint --noout "out/$name.svg"; fi
    done
    grep -q '(%)</text>' out/fig11.svg
    grep -q '>16x16 Hx2Mesh, paper (table II)<' out/fig11.svg
    run ! grep -q '>32x32 Hx1Mesh, paper' out/fig11.svg
    grep -q '>two rings, closed form<' out/fig17.svg
    grep -q 'values read off a plot are left out' out/fig12.txt
}

# bats test_tags=all
@test "reproduce: an experiment has its paper's name; those of the HammingMesh paper also have a name without it" {
    beside "$good"
    reproduce hammingmesh/fig12 --quick --quiet >/dev/null
    reproduce fig12 --quick --quiet --json - >alone
    [ -s out/fig12.svg ]
    [ "$(jq -c '.[0].results' alone)" = "$(jq -c .results out/fig12.json)" ]
    rm -r out
    reproduce hammingmesh --quick --quiet --json - >paper
    json_holds 'map(.paper + "/" + .experiment) == ["hammingmesh/table2", "hammingmesh/fig7", "hammingmesh/fig8",
        "hammingmesh/fig9", "hammingmesh/fig10", "hammingmesh/fig11", "hammingmesh/fig12",
        "hammingmesh/fig13", "hammingmesh/fig15", "hammingmesh/fig17"]' <paper
    bin/hxmesh-reproduce --help | grep -qxF '  hammingmesh/fig12, 20 minutes'
}

@test "reproduce: figures without runs are counted: hosts by radix, parts and the bisection of the diameter-two study" {
    beside 'exit 7'
    reproduce diameter2/fig3 --quiet | rows >text
    # r / 3 hosts on each of (r / 3 + 1)^2 routers if 3 divides r.
    grep -Eq '^ *24 +972 +1872 +3192 +288 +648 +5256 +3456$' text
    grep -Eq '^ *60 +22500 +27900 +52260 +1800 +8820 +202950 +54000$' text
    grep -Eq '^ *64 +35322 +33792 +63552 +2048 +10648 +262656 +65536$' text
    grep -Eq 'slim-fly q=13 p=10 +3380 +338 +1.95 +2.90 +2 ' text
    grep -Eq 'mlfm h=15 +3600 +360 +2.00 +3.00 +2 ' text
    run ! grep -q 'wall s' text
    json_holds '.paper == "diameter2" and .complete and .runs == []' <out/diameter2/fig3.json
    grep -q '^<svg' out/diameter2/fig3.svg
    reproduce diameter2/fig4 --quick --quiet | rows >text
    grep -Eq 'slim-fly q=5 +150 +65 +0.867 +search' text
    refused 2 "hxmesh reproduce: unknown word 'fig3' (did you mean 'fig7'?)" bin/hxmesh-reproduce fig3
}

# bats test_tags=all
@test "reproduce: job mixes on boards: sizes, boards in use, traffic over the upper level, failures" {
    beside 'exit 7'
    for n in 7 8 9 10; do
        reproduce "fig$n" --quick --quiet >/dev/null
        json_holds '.complete and .runs == []' <"out/fig$n.json"
        if command -v xmllint >/dev/null; then xmllint --noout "out/fig$n.svg"; fi
    done
    json_holds '.results | map(select(.fabric == "64x64 Hx2Mesh") | .utilization.mean) | length == 6 and .[0] > 0.9 and
        .[1] > .[0] and .[2] > .[1] and .[4] > 0.999' <out/fig8.json
    json_holds '.results | map(.all_to_all.mean) | .[0] < 0.5 and .[3] < .[2] / 4' <out/fig9.json
    json_holds '.results | map(select(.failed == 40)) | length == 4 and all(.[]; .utilization.p50 > 0.6)' <out/fig10.json
}

# bats test_tags=all
@test "reproduce: the diameter-two study over load, by routing, and its exchanges" {
    beside "$good"
    reproduce diameter2 --quiet --json - >all
    json_holds 'map(.experiment) == ["fig3", "fig4", "fig6", "fig7", "fig8", "fig9", "fig10", "fig11", "fig12", "fig13", "fig14"] and
        all(.[]; .paper == "diameter2" and .complete)' <all
    [ "$(sort calls | uniq -d | wc -l)" -eq 0 ]
    grep -qx 'run mlfm h=6 routing=ugal:n=4,c=2,t=0.1 --clock virtual --traffic worst-case --message 64KiB --timing sc15 --buffer 3200KiB --rate 0.5 --duration 300us --warm-up 30us --seed 1 --no-links --json - --quiet' calls
    grep -qx 'run oft k=5 routing=valiant --clock virtual --traffic neighbour-3d --message 512KiB --timing sc15 --buffer 3200KiB --no-links --json - --quiet' calls
    grep -qx 'run mlfm h=6 routing=ugal:n=1,c=1 --clock virtual --traffic all-to-all-random --message 240KiB --timing sc15 --buffer 3200KiB --no-links --json - --quiet' calls
    grep -Eq 'mlfm h=6 +minimal +25.0 +25.0 +16.7$' out/diameter2/fig6.txt
    grep -Eq 'oft k=5 +ugal:n=4,c=2 +worst-case +50 +25.0 +1.50 +9.00$' out/diameter2/fig11.txt
    grep -q 'Median latency, worst-case traffic (figure 6)' out/diameter2/fig6-4.svg
    grep -Eq 'slim-fly q=5 p=4 +valiant +25.0 +1000.00$' out/diameter2/fig14.txt
    grep -q '>SF+<' out/diameter2/fig13.svg
    if command -v xmllint >/dev/null; then xmllint --noout out/diameter2/*.svg; fi
}

# Of 1 ms simulated; software takes 6.5 us for each of 126 steps of a ring, and 12 of halving.
# bats test_tags=all
@test "reproduce: EFLOPS has rings, halving by three orders, and the paper's values beside HDRM's" {
    beside "$good"
    reproduce eflops --quiet --json - >all
    json_holds 'map(.experiment) == ["fig12", "fig16"] and all(.[]; .paper == "eflops" and .complete)' <all
    grep -qx 'run bigraph m=4 n=16 --clock virtual --traffic all-reduce --algorithm halving --place random --message 256MiB --timing sc15 --buffer 3200KiB --seed 1 --no-links --json - --quiet' calls
    grep -qx 'run bigraph m=16 n=64 --clock virtual --traffic all-reduce --algorithm halving --message 256KiB --timing sc15 --buffer 3200KiB --no-links --json - --quiet' calls
    grep -Eq '^  BiGraph, ring +1819.0 .* 14299.0 +12480.0$' out/eflops/fig16.txt
    grep -Eq '^  BiGraph, HDRM +1078.0 .* 1130.0 +52.0$' out/eflops/fig16.txt
    grep -Eq '^  HDRM, paper +130 .* 181 +51$' out/eflops/fig16.txt
    rows <out/eflops/fig12.txt | grep -Eq '^1 MiB .* 3.68 +13.95 +-$'
    grep -q '>HDRM, paper<' out/eflops/fig16.svg
    if command -v xmllint >/dev/null; then xmllint --noout out/eflops/*.svg; fi
}

# The closed forms are those of the full version; the quick one has no packets.
@test "reproduce: multidim has three jobs on three networks, and the searches are never behind" {
    beside "$good"
    reproduce multidim --quick --quiet --json - >all
    json_holds 'map(.experiment) == ["fig3", "fig10", "fig13", "fig14", "fig15", "fig16"] and
        all(.[]; .paper == "multidim" and .complete and .runs == []) and
        (map(.results | length) == [3, 24, 360, 450, 360, 135]) and
        (.[5].results | group_by([.network, .job, .budget]) |
            all(.[]; (map(.seconds) | min) == (.[] | select(.way == "search") | .seconds)))' <all
    grep -Eq '^  all +geometric +8.32 +5.40 ' out/multidim/fig15.txt
    grep -q '^<svg' out/multidim/fig13-3.svg
}

# Six jobs by five rates by seven networks. Nothing is ahead of the ideal switch by more than its latencies.
# bats test_tags=all
@test "reproduce: topoopt has six jobs on seven networks, and none is ahead of the ideal switch" {
    beside "$good"
    ln -s "$BATS_TEST_DIRNAME/../../examples" examples
    reproduce topoopt/fig11 --quick --quiet --json - >all
    json_holds '.[0] | .paper == "topoopt" and .complete and .runs == [] and (.results | length) == 210 and
        (.results | group_by([.job, .gbps]) | length == 30 and
            all(.[]; (map(.seconds) | min) > 0.97 * (.[] | select(.network == "ideal") | .seconds)))' <all
    grep -Eq '^  CANDLE +2.68 +3.32 ' out/topoopt/fig11.txt
    grep -q '^<svg' out/topoopt/fig11-6.svg
    reproduce topoopt/fig10 --quiet --json - >all
    grep -Eq '^  TopoOpt, OCS +1.45 .* 1.33 +1.33$' out/topoopt/fig10.txt
}

@test "reproduce: with --json - stdout has only JSON" {
    beside "$good"
    run --separate-stderr reproduce fig12 --quick --json - --quiet
    [ "$status" -eq 0 ]
    json_holds 'length == 1 and .[0].effort == "quick" and .[0].results[0].median_percent == 20 and
        .[0].results[0].least_percent == 10 and .[0].results[0].most_percent == 40 and
        .[0].results[0].mean_percent == 25 and .[0].results[0].seeds == 2' <<<"$output"
    grep -q 'quick version' out/fig12.txt
    grep -q 'quick version' out/fig12.svg
}

@test "reproduce: --fast-forward is for runs of schedules" {
    beside "$good"
    reproduce fig15 --quick --fast-forward 1% --quiet >/dev/null || true
    grep -q -- '--traffic [^ ]*dlrm.schedule.yaml .*--fast-forward 0.01 ' calls
    rm calls
    reproduce fig12 --quick --fast-forward 1% --quiet >/dev/null
    run ! grep -q -- '--fast-forward' calls
}

@test "reproduce: runs that do not fit into --minutes are left out and counted" {
    beside "$good"
    reproduce table2 --minutes 1 --quiet >/dev/null
    grep -q 'runs left out' out/table2.txt
    json_holds '.complete == false and .runs[0].state == "left out" and ([.runs[].state] | index("done") != null)' <out/table2.json
    run ! grep -q -- '--message 1MiB --no-links' calls
}

@test "reproduce: a failed run gives one line and exit code 1" {
    failed "demo: no such thing (hint)" 'echo "hxmesh: error: demo: no such thing (hint)" >&2; exit 3'
    failed "something was lost, corrupted or not finished (exit code 1)" "$good"$'\n'"exit 1"
    failed "ended with exit code 7" 'exit 7'
    failed "ended by signal 9" 'kill -KILL $$'
    failed "its report has no 'virtual_seconds'" "echo '{\"share_of_injection\": 0.25}'"
    failed "its report has no 'share_of_injection'" "echo '{}'"
    failed "its report has no 'share_of_injection'" "echo '{\"share_of_injection\": \"much\"}'"
    beside 'echo "no JSON"'
    run --separate-stderr reproduce fig12 --quiet
    [ "$status" -eq 1 ]
    [[ "$stderr" == "hxmesh: error: $first: its report is no JSON: line 1: "* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
}

@test "reproduce: other output of a run is passed on" {
    beside 'echo "half way" >&2; echo "hxmesh: error: first" >&2; echo "hxmesh: error: second" >&2; printf "no newline" >&2; exit 4'
    run --separate-stderr reproduce fig12 --quiet
    [ "$stderr" = "$(printf 'half way\nno newline\nhxmesh: error: %s: second' "$first")" ]
}

@test "reproduce: SIGINT and SIGTERM reach the run, results so far are kept, exit code 130" {
    for signal in INT TERM; do
        rm -rf calls out signals child.pid
        beside 'trap "echo INT >>signals; exit 130" INT
trap "echo TERM >>signals; exit 130" TERM
if [ -f calls ]; then echo $$ >child.pid; while :; do sleep 0.05; done; fi
'"$good"
        bin/hxmesh-reproduce fig12 --out out --quiet >text 2>errors 3>&- &
        for _ in $(seq 200); do [ -f child.pid ] && break || sleep 0.05; done
        kill "-$signal" $!
        ended $!
        status=0
        wait $! || status=$?
        [ "$status" -eq 130 ]
        [ "$(cat signals)" = "$signal" ]
        [ ! -s errors ]
        run ! kill -0 "$(cat child.pid)"
        json_holds '.complete == false and .runs[0].state == "done" and .runs[2].state == "not run"' <out/fig12.json
        grep -q 'INCOMPLETE: 44 of 45' text
    done
}

# Its runs are in nested loops: of fabrics, of placements, of mixes.
@test "reproduce: one SIGINT ends an experiment that runs without child processes" {
    beside 'trap "exit 130" INT
echo "$*" >>calls
echo $$ >child.pid; while :; do sleep 0.05; done'
    bin/hxmesh-reproduce jobs/interference --quick --out out --quiet >text 2>errors 3>&- &
    for _ in $(seq 200); do [ -s child.pid ] && break || sleep 0.05; done
    kill -INT $!
    ended $!
    status=0
    wait $! || status=$?
    [ "$status" -eq 130 ]
    [ "$(wc -l <calls)" -eq 1 ] || { cat calls; return 1; }
    [ ! -s errors ]
}

@test "reproduce: a run does not outlive its parent" {
    beside 'echo $$ >child.pid; while :; do sleep 0.05; done'
    bin/hxmesh-reproduce fig12 --out out --quiet >/dev/null 2>&1 3>&- &
    for _ in $(seq 200); do [ -s child.pid ] && break || sleep 0.05; done
    kill -KILL $!
    wait $! || true
    ended "$(cat child.pid)"
}

@test "reproduce: bad usage and a bad environment" {
    refused 2 "hxmesh reproduce: unknown word 'fig1' (did you mean 'fig7'?)" bin/hxmesh-reproduce fig1
    refused 2 "hxmesh reproduce: unknown word 'hammingmesh/fig1' (did you mean 'hammingmesh/fig7'?)" \
        bin/hxmesh-reproduce hammingmesh/fig1
    refused 2 "hxmesh reproduce: EXPERIMENT is missing (try 'hxmesh reproduce --help')" bin/hxmesh-reproduce
    refused 2 "--full: --quick is the opposite" bin/hxmesh-reproduce all --quick --full
    refused 4 "$PWD/bin/hxmesh: cannot be run: No such file or directory" bin/hxmesh-reproduce all
    beside "$good"
    touch file
    refused 4 "file/out: cannot be made: Not a directory" bin/hxmesh-reproduce all --out file/out
    refused 4 "file: cannot be made: File exists" bin/hxmesh-reproduce all --out file
    refused 4 "/none/x.json: cannot be written: No such file or directory" bin/hxmesh-reproduce all --json /none/x.json
    [ ! -e calls ]
}

# bats test_tags=all
@test "reproduce: for real, the quick version" {
    # Under a sanitizer, which is ten times slower, one of each kind of run: the programs have tests of their own.
    local experiments=(fig12 diameter2/fig9)
    [[ $HXMESH == */asan/* ]] || experiments=(table2 fig12 sc22/fig15 diameter2/fig6 diameter2/fig9 diameter2/fig13 diameter2/fig14 eflops/fig16)
    for experiment in "${experiments[@]}"; do
        timeout --kill-after=5 1200 "$HXMESH" reproduce "$experiment" --quick --quiet --out out >text
        grep -q 'quick version' text
        json_holds '.complete and all(.runs[]; .state == "done" and .packet_hops > 0)' <"out/${experiment#sc22/}.json"
    done
    [[ $HXMESH == */asan/* ]] ||
        json_holds '.results | length == 17 and all(.[]; .alltoall_percent > 0 and .alltoall_percent < .alltoall_bound_percent * 1.5 and
            .allreduce_percent > 20 and .allreduce_percent < 101)' <out/table2.json
    # Five training jobs on eight fabrics: computing is exposed whole, and communication in part.
    [[ $HXMESH == */asan/* ]] ||
        json_holds '.results | length == 40 and all(.[]; .iteration_ms > .computing_ms and .iteration_ms < 1.1 * .computing_ms) and
            all(.[] | select(.fabric | startswith("Hx") | not); .saving_of_hx2mesh > 0 and .saving_of_hx4mesh > 0)' <out/fig15.json
    # HDRM is the fastest way on a BiGraph.
    [[ $HXMESH == */asan/* ]] ||
        json_holds '[.results[] | select(.way | startswith("BiGraph"))] | group_by(.vector_bytes) | length == 2 and
            all(.[]; length == 4 and min_by(.seconds).way == "BiGraph, HDRM")' <out/eflops/fig16.json
    json_holds 'all(.results[]; 0 < .least_percent and .least_percent <= .median_percent and .median_percent <= .most_percent)' \
        <out/fig12.json
}

# The promise of a HammingMesh: jobs do not interfere. On a torus scattered jobs share most of their paths.
# bats test_tags=all
@test "reproduce: job mixes on four fabrics, for real" {
    timeout --kill-after=5 600 "$HXMESH" reproduce jobs/interference --quick --quiet --out out >text
    json_holds '.complete and (.results | length) == 10 and
        (.results[0] | .fabric == "8x8 Hx2Mesh" and .packets_over_shared_links == 0 and .foreign_packets == 0 and
            .slowdown_max < 1.05) and
        (.results[] | select(.fabric == "torus 8x8x4" and .place == "random") | .packets_over_shared_links > 0.2 and
            .foreign_packets > 0.2 and .slowdown_max > 1.2)' <out/jobs/interference.json
    grep -q '^<svg' out/jobs/interference.svg
    beside 'echo "hxmesh: error: no room" >&2; exit 3'
    run -1 --separate-stderr reproduce jobs/interference --quick --quiet
    [ "$stderr" = "hxmesh: error: hxmesh run: no room" ]
}
