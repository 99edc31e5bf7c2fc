# sweep.bats - `hxmesh sweep`: every combination once, the figures of `hxmesh run`, files, and refusals.

# shellcheck disable=SC2016 # what stands in quotes is for jq
load emulator_support

setup() {
    fresh_name
    TABLE="$BATS_TEST_TMPDIR/table"
}

sweep() { hxmesh sweep --quiet "$@" >"$TABLE" 2>"$BATS_TEST_TMPDIR/stderr"; }

@test "sweep: the figures are those of the runs, in a table, CSV, JSON and a plot" {
    cd "$BATS_TEST_TMPDIR"
    sweep "2x2 Hx2Mesh" "3x2 Hx1Mesh" --clock virtual -t uniform,tornado -m 1KiB..4KiB --jobs 2 \
        --csv s.csv --json s.json --plot s.svg
    [ "$(grep -c good "$TABLE")" -eq 12 ]
    [ "$(wc -l <s.csv)" -eq 13 ]
    jq -e 'length == 12 and ([.[] | [.spec, .traffic, .message]] | unique | length) == 12' s.json
    jq 'map(del(.["host.wall_seconds"]))' s.json >"$REPORT"
    hxmesh run "3x2 Hx1Mesh" --clock virtual -t tornado -m 2KiB --workers 1 --json - >one.json
    holds '[.[] | select(.spec == "3x2 Hx1Mesh" and .traffic == "tornado" and .message == 2048) |
            .share_of_injection == $one[0].share_of_injection and .["latency_ns.p99"] == $one[0].latency_ns.p99 and
            .packet_hops == $one[0].packet_hops] == [true]' --slurpfile one one.json
    head -n 1 s.csv | grep -q '^spec,traffic,message,clock,.*,share_of_injection,.*,latency_ns.p50,'
    # The plot has its origin.
    [ "$(grep -c '<polyline' s.svg)" -eq 4 ]
    grep -q 'hxmesh sweep' s.svg
    grep -q 'hxmesh [0-9]*\.[0-9]*\.[0-9]*, .*T.*Z' s.svg
    grep -q 'seed 1' s.svg
}

@test "sweep: refused and failed runs are reported and the others kept" {
    run -1 --separate-stderr hxmesh sweep --quiet "3x1 Hx1Mesh" --clock virtual -t uniform,bit-reverse --csv -
    [ "${#lines[@]}" -eq 2 ]
    # shellcheck disable=SC2154 # of run
    [[ "$stderr" = "hxmesh: error: 3x1 Hx1Mesh traffic bit-reverse: --traffic: bit-reverse needs a power of two"* ]]
    run -2 hxmesh sweep "3x1 Hx1Mesh" --message 1KiB..x
    [ "$output" = "hxmesh: error: --message: 'x' is not a size (write for example 8192, 64KiB, 1MiB or 2GiB)" ]
    run -2 hxmesh sweep "3x1 Hx1Mesh" --clock wall,virtual --jobs 2
    [ "$output" = "hxmesh: error: --jobs: live runs side by side take each other's time (use --clock virtual)" ]
    run -2 hxmesh sweep "3x1 Hx1Mesh" -t uniform,incast --plot x.svg
    [ "$output" = "hxmesh: error: --plot: no number is varied (write for example --message 1KiB..1MiB)" ]
    run -3 hxmesh sweep "3x1 Hx1Mush"
}

@test "sweep: help has the values and ranges of a run's options" {
    local run sweep
    run=$("$HXMESH" run --help | tr -s ' \n' ' ')
    sweep=$("$HXMESH" sweep --help | tr -s ' \n' ' ')
    for words in "(1 to 16TiB; default 64KiB)" "best, tree, ring, rings, torus" "(1 to 4;" "(1e-06 to 1; default 1)"; do
        [[ $run == *"$words"* && $sweep == *"$words"* ]] || { echo "$words"; return 1; }
    done
}

@test "sweep: one file for two outputs, and an unknown figure, are refused before anything runs" {
    cd "$BATS_TEST_TMPDIR"
    run -2 hxmesh sweep "3x1 Hx1Mesh" -m 1KiB,2KiB --csv s --json ./s --plot s
    [ "$output" = "hxmesh: error: --json: './s' is the file of --csv too: one would overwrite the other" ]
    run -2 hxmesh sweep "3x1 Hx1Mesh" -m 1KiB,2KiB --csv s --plot s
    [ "$output" = "hxmesh: error: --csv: 's' is the file of --plot too: one would overwrite the other" ]
    run -2 hxmesh sweep "3x1 Hx1Mesh" -m 1KiB,2KiB --y latency_ns.p98
    [[ "$output" == "hxmesh: error: --y: 'latency_ns.p98' is no figure of a report (did you mean 'latency_ns.p99'?); share_of_injection, "* ]]
    # A picture is SVG, with any name; and a share of the wall clock depends on this machine.
    run -2 hxmesh sweep "3x1 Hx1Mesh" -m 1KiB,2KiB --plot x.Png
    [ "$output" = "hxmesh: error: --plot: 'x.Png' would be SVG by the name of another kind (write it as x.svg; rsvg-convert makes png of it)" ]
    run -2 hxmesh jobs "$OLDPWD/examples/jobs.csv" --fabric "4x4 Hx2Mesh" --plot x.pdf
    [[ "$output" == "hxmesh: error: --plot: 'x.pdf' would be SVG"* ]]
    sweep "2x1 Hx1Mesh" -m 1KiB,2KiB --plot x.svg
    [ "$(cat stderr)" = "hxmesh: warning: --plot: share_of_injection of the wall clock says how fast this machine is, and not the fabric (--clock virtual does)" ]
    [ ! -e s ]
}

@test "sweep: every number of a report is a figure" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 'fabric: 2x1 Hx1Mesh' 'capture: {file: x.pcapng}' >x.hxm.yaml
    printf 'start,source,destination,bytes\n0,0,1,8KiB\n' >f.csv
    sweep x.hxm.yaml -m 1KiB --json 1.json
    sweep "2x1 Hx1Mesh" --clock virtual -t uniform --duration 9us --warm-up 1us --json 2.json
    sweep "2x1 Hx1Mesh" --clock virtual -t all-reduce,./f.csv --json 3.json
    for figure in $(jq -r '.[] | del(.planes, .seed) | to_entries[] | select(.value | type == "number") | .key' ./?.json | sort -u |
        grep -vE '^(settings|fabric)\.|^(schema|message|duration|warm-up)$'); do
        # With a good figure, --x is what is wrong.
        run -2 hxmesh sweep "2x1 Hx1Mesh" --y "$figure" --x none
        [[ "$output" == *": --x: "* ]] || { echo "$figure: $output"; return 1; }
    done
}

@test "sweep: saturation is where a known link is full, for any other axes" {
    cd "$BATS_TEST_TMPDIR"
    # One link for all hosts of a router: 1/h of their injection. Acknowledgements go the other way.
    sweep "mlfm h=4" "mlfm h=3" --clock virtual -t worst-case -m 8KiB -d 100us --warm-up 20us --saturation --jobs 2 --json s.json
    cp s.json "$REPORT"
    holds 'map(.saturation) | (.[0] * 4 - 1 | fabs) < 0.005 and (.[1] * 3 - 1 | fabs) < 0.005'
    holds 'all((.saturation - .share_of_injection | fabs) < 1e-9 and .share_offered == .rate)'
    # No higher: a load of which 2 % more than that arrives late grows a queue, so it is unstable.
    holds 'all(.saturation >= 0.97 * .rate and .saturation <= .rate and .["open_loop.stable"])'
    grep -q 'spec  *saturation  *time  *Gb/s' "$TABLE"
    # A link that never fills saturates at 1.
    sweep "1x2 Hx1Mesh" --clock virtual -t permutation -m 64KiB -d 100us --warm-up 20us --link 100 --saturation --json s.json
    cp s.json "$REPORT"
    holds '.[0].saturation <= 1 and .[0].saturation > 0.4'
    run -2 hxmesh sweep "mlfm h=3" --saturation -d 1us --rate 0.5
    [ "$output" = "hxmesh: error: --rate: is what --saturation looks for: which of both?" ]
    run -2 hxmesh sweep "mlfm h=3" --saturation
    [ "$output" = "hxmesh: error: --saturation: needs a --duration (and a --warm-up, so that what it takes to fill does not count)" ]
}

@test "sweep: a line of latencies ends where the load is unstable" {
    cd "$BATS_TEST_TMPDIR"
    # A quarter of the injection is what one link carries.
    sweep "mlfm h=4" --clock virtual -t worst-case -m 8KiB -d 100us --warm-up 20us --rate 0.1,0.2,0.4,0.8,1 --jobs 2 \
        --y latency_ns.mean --plot s.svg --csv s.csv --json s.json
    [ "$(grep -c good "$TABLE")" -eq 2 ]
    [ "$(grep -c unstable "$TABLE")" -eq 2 ]
    grep -q 'full rate$' "$TABLE"
    jq -e 'map(.["open_loop.stable"]) == [true, true, false, false, null] and
           (map(.["latency_ns.mean"] != null) == [true, true, false, false, true])' s.json
    [ "$(grep -c '<polyline' s.svg)" -eq 1 ]
    [ "$(grep '<polyline' s.svg | grep -oE '[0-9.]+,[0-9.]+' | wc -l)" -eq 2 ]
    # A rate alone is no end of a range, and its latencies are drawn.
    sweep "1x1 Hx2Mesh" --clock virtual -t permutation -m 8KiB,16KiB --rate 1 --y latency_ns.mean --plot one.svg
    [ "$(grep -c 'good$' "$TABLE")" -eq 2 ]
    [ "$(grep '<polyline' one.svg | grep -oE '[0-9.]+,[0-9.]+' | wc -l)" -eq 2 ]
    # Shares have no end.
    sweep "mlfm h=4" --clock virtual -t worst-case -m 8KiB -d 50us --rate 0.2,0.4 --plot s.svg
    [ "$(grep '<polyline' s.svg | grep -oE '[0-9.]+,[0-9.]+' | wc -l)" -eq 2 ]
}

@test "sweep: several seeds give a mean and its 95 % interval" {
    local seed
    cd "$BATS_TEST_TMPDIR"
    for seed in 7 8 9 10; do
        hxmesh run "2x2 Hx2Mesh" --clock virtual -t uniform -m 8KiB -d 40us --rate 0.2 --arrivals poisson \
            --seed "$seed" --workers 1 --json - --quiet
    done | jq .latency_ns.mean >values
    sweep "2x2 Hx2Mesh" --clock virtual -t uniform -m 8KiB -d 40us --rate 0.2,0.3 --arrivals poisson --seed 7 --seeds 4 \
        --jobs 2 --y latency_ns.mean --plot s.svg --csv s.csv --json s.json
    # Student's t of three degrees of freedom, from a table.
    awk '{ sum += $1; squares += $1 * $1 } END { m = sum / NR; v = (squares - NR * m * m) / (NR - 1)
        print m, 3.18245 * sqrt(v / NR) }' values >by_hand
    jq -r '.[0] | "\(.["latency_ns.mean"]) \(.["latency_ns.mean.ci95"])"' s.json | paste -d ' ' by_hand - |
        awk '{ exit !(($1 - $3) ^ 2 < 1e-6 && ($2 - $4) ^ 2 < 1e-4 * $2 ^ 2 && $2 > 0) }'
    jq -e 'length == 2 and all(.seeds == 4 and .seed == 7 and .["settings.message"] == 8192)' s.json
    head -n 1 s.csv | grep -q ',latency_ns.mean,latency_ns.mean.ci95,'
    [ "$(wc -l <s.csv)" -eq 3 ]
    grep -q ' +- ' "$TABLE"
    [ "$(grep -c 'class="interval"' s.svg)" -eq 6 ] # a line and two caps for each of two points
    run -2 hxmesh sweep "2x2 Hx2Mesh" --seed 1,2 --seeds 3
    [ "$output" = "hxmesh: error: --seed: has several values, and --seeds counts them: which of both?" ]
}

@test "sweep: figures over the number of dead links, with bands" {
    local k
    cd "$BATS_TEST_TMPDIR"
    sweep "2x2 Hx2Mesh" --clock virtual -t all-to-all,all-reduce -m 64KiB --failures 0..5 --seed 3 --seeds 3 --jobs 2 \
        --json s.json --plot s.svg
    jq -e 'map(.failures) == [range(2) | 0, 1, 2, 4, 5] and all(.seeds == 3)' s.json
    # Each point is the mean of its runs.
    for k in 3 4 5; do
        hxmesh run "2x2 Hx2Mesh" --clock virtual -t all-reduce -m 64KiB --failures 4 --seed "$k" -w 1 --quiet --json -
    done | jq .seconds | awk '{ sum += $1 } END { print sum / NR }' >mean
    jq -e --slurpfile mean mean '.[8].seconds / $mean[0] - 1 | fabs < 1e-5' s.json
    # Both lines begin at 0, on an axis of even steps, with a band around.
    [ "$(grep -c 'class="band"' s.svg)" -eq 2 ]
    [ "$(grep '<polyline' s.svg | grep -oE '[0-9.]+,[0-9.]+' | wc -l)" -eq 10 ]
    grep '<polyline' s.svg | grep -oE '[0-9.]+,' | head -5 | tr -d '\n' | awk -F, '{ step = ($5 - $1) / 5
        for (i = 2; i < 5; i++) if (($i - $1 - step * (i == 4 ? 4 : i - 1)) ^ 2 > 0.1) exit 1 }'
    grep -q '>failures<' s.svg
    # Relative to its first point each line begins at 100 %, and other points keep their ratio.
    sweep "2x2 Hx2Mesh" --clock virtual -t all-to-all,all-reduce -m 64KiB --failures 0,5 --seed 3 --seeds 3 --jobs 2 --y gbps_per_host \
        --relative --json r.json --plot r.svg
    grep -q '>gbps per host (% of the first)<' r.svg
    [ "$(grep '<polyline' r.svg | grep -oE ',[0-9.]+' | sed -n '1p;3p' | sort -u | wc -l)" -eq 1 ]
    jq -r '.[].gbps_per_host' r.json >figures
    grep '<polyline' r.svg | grep -oE ',[0-9.]+' | tr -d , | paste figures - | awk '{ gbps[NR] = $1; y[NR] = 450 - $2 }
        END { for (i = 1; i < 4; i += 2) if ((y[i + 1] / y[i] - gbps[i + 1] / gbps[i]) ^ 2 > 1e-6) exit 1 }'
    run -2 hxmesh sweep "2x2 Hx2Mesh" --relative
    [[ "$output" == *"--plot"* ]]
}

@test "sweep: an option of a schedule is for files only" {
    sweep "2x2 Hx2Mesh" --clock virtual -t uniform,"$BATS_TEST_DIRNAME/../../examples/schedules/ping-pong.schedule.yaml" \
        -m 1KiB,2KiB --place linear,grid -w 1 --json "$REPORT"
    [ "$(grep -c good "$TABLE")" -eq 6 ]
    holds 'map([.message, .place]) == [[1024, null], [2048, null], [1024, "linear"], [1024, "grid"], [2048, "linear"], [2048, "grid"]]'
    # A file of messages has neither.
    printf 'start,source,destination,bytes\n0,0,1,8KiB\n' >"$BATS_TEST_TMPDIR/f.csv"
    sweep "2x2 Hx2Mesh" --clock virtual -t uniform,"$BATS_TEST_TMPDIR/f.csv" -m 1KiB,2KiB --json "$REPORT"
    holds 'map(.message) == [1024, 2048, null]'
}

@test "sweep: one figure over another" {
    cd "$BATS_TEST_TMPDIR"
    sweep "mlfm h=2" --clock virtual -t uniform -m 8KiB -d 50us --rate 0.1..0.3 --y latency_ns.mean --x share_of_injection \
        --plot s.svg
    [ "$(grep -c good "$TABLE")" -eq 5 ]
    grep -q '>share of injection (%)<' s.svg
    grep -q '>latency mean ([nu]s)<' s.svg
    grep -q '>latency mean over share of injection<' s.svg
    grep -q '>mlfm h=2<' s.svg # in the legend
}

@test "sweep: times have units, and one value may be a range" {
    cd "$BATS_TEST_TMPDIR"
    sweep "2x1 Hx1Mesh" --clock virtual -t uniform --duration 10us,20us -m 8KiB..8KiB --y virtual_seconds --plot s.svg
    [ "$(grep -c good "$TABLE")" -eq 2 ]
    grep -qE '^ *10us +10 us .* good$' "$TABLE"
    grep -q '>time (us)<' s.svg
    grep -q '>duration (us)<' s.svg
    sweep "2x1 Hx1Mesh" --clock virtual -t uniform --count 1..3/3 --y messages --plot s.svg
    # Whole numbers only at both axes.
    run ! grep -E '>[0-9]+\.[0-9]+<' s.svg
}

@test "sweep: hosts with unequal injection are reported, and equalized by planes or rates" {
    cd "$BATS_TEST_TMPDIR"
    sweep "2x2 Hx1Mesh" "fat-tree hosts=4 radix=4" --clock virtual -t neighbour -m 8KiB --json s.json
    [ "$(cat stderr)" = "hxmesh: warning: fat-tree hosts=4 radix=4: its hosts inject 400 Gb/s, those of 2x2 Hx1Mesh 1600: shares and times are not alike (--equal-injection makes them so)" ]
    head -n 4 "$TABLE" | grep -qE '^  spec +time +Gb/s +injects +planes +links'
    sweep "2x2 Hx1Mesh" "fat-tree hosts=4 radix=4" --clock virtual -t neighbour -m 8KiB --equal-injection --json s.json
    [ ! -s stderr ]
    cp s.json "$REPORT"
    holds 'map([.planes, .host_links, .injection_gbps, .link_gbps]) == [[1, 4, 1600, 400], [4, 1, 1600, 400]]'
    holds 'all(.gbps_per_host - .bytes_delivered * 8 / .accelerators / .seconds / 1e9 | fabs < 1e-6)'
    # Six links, four and one: four planes do not suffice.
    sweep "2x2 Hx1Mesh" "torus 2x2x2" "fat-tree hosts=4 radix=4" --clock virtual -t neighbour -m 8KiB --equal-injection --json s.json
    cp s.json "$REPORT"
    holds 'map([.planes, (.injection_gbps | round)]) == [[1, 2400], [1, 2400], [4, 2400]]'
    holds 'map(.["settings.link"]) == [600, 400, 600]'
    run -2 hxmesh sweep "2x2 Hx1Mesh" "torus 2x2x2" "fat-tree hosts=4 radix=4" --equal-injection
    [ "$output" = "hxmesh: error: --equal-injection: 2x2 Hx1Mesh would need links of 600 Gb/s, which only --clock virtual has (write the rates yourself, a run for each)" ]
    run -2 hxmesh sweep "2x2 Hx1Mesh" "fat-tree hosts=4 radix=4" --equal-injection --planes 2
    [ "$output" = "hxmesh: error: --planes: is what --equal-injection sets: which of both?" ]
}

@test "sweep: an option for some of the runs is left out of the others, which run once" {
    sweep "3x2 Hx1Mesh" --clock virtual -t all-to-all,all-reduce,uniform --algorithm tree,ring --count 1,2 -m 1KiB --json "$REPORT"
    [ "$(grep -c good "$TABLE")" -eq 6 ]
    grep -qE '^  all-to-all +- +1 ' "$TABLE"
    holds 'map([.traffic, .algorithm, .count]) == [["all-to-all", null, 1], ["all-to-all", null, 2], ["all-reduce", "tree", null],
        ["all-reduce", "ring", null], ["uniform", null, 1], ["uniform", null, 2]]'
    # An option for none of them is an error.
    run -2 hxmesh sweep --quiet "3x2 Hx1Mesh" "2x2 Hx1Mesh" -t all-to-all --algorithm tree
    [[ "$output" == *"--algorithm: is for --traffic SCHEDULE, broadcast"* ]]
}

@test "sweep: all algorithms side by side, size by size" {
    cd "$BATS_TEST_TMPDIR"
    sweep "3x1 H1x2Mesh" --clock virtual -t all-reduce --algorithm all -m 1KiB..4KiB --json s.json --plot s.svg
    [ ! -s stderr ]
    # Every algorithm has runs, or a note.
    {
        jq -r '.[].algorithm' s.json
        sed -n 's/^  left out of .* runs: \(.*\); first refusal: .*/\1/p' "$TABLE" | sed 's/, /\n/g'
    } | sort -u >algorithms
    run -2 hxmesh run "2x1 Hx1Mesh" -t all-reduce --algorithm none-of-these
    sed 's/.*(one of //; s/).*//; s/, /\n/g' <<<"$output" | grep -v '^best$' | sort -u | diff - algorithms
    grep -qE '^  left out of 3 of 3 runs: rings(, [a-z-]*)*; first refusal: 3x1 H1x2Mesh: job 0 is a grid of 3 x 2, which has no two rings' "$TABLE"
    run ! grep -q 'rings$' <(sed -n 4p "$TABLE")
    # Each line has the figures of its runs, and marks the least time.
    [ "$(grep -cE '^  [124]KiB .*\*' "$TABLE")" -eq 3 ]
    cp s.json "$REPORT"
    holds 'all(.["collective.seconds"] == .seconds and .["collective.bus_gbps"] > .["collective.algorithm_gbps"])'
    while read -r size bus; do
        grep -E "^  $size .*\*[^*]* $bus( |$)" "$TABLE"
    done < <(jq -r 'group_by(.message)[] | min_by(.seconds) | "\(.message / 1024)KiB \(.["collective.bus_gbps"] * 10 | round / 10)"' s.json)
    grep -q '>collective bus bandwidth (Gb/s)<' s.svg
    grep -q '>3x1 H1x2Mesh, tree<' s.svg
}

@test "sweep: what no algorithm can do is an error, what some cannot is a note" {
    cd "$BATS_TEST_TMPDIR"
    run -0 --separate-stderr hxmesh sweep --quiet "3x1 H1x2Mesh" --clock virtual -t broadcast --algorithm rings,all --csv -
    # shellcheck disable=SC2154 # stderr, stderr_lines: of run
    [[ "$stderr" == "hxmesh: warning: --algorithm: left out of 1 of 1 runs: rings"*"; first refusal: 3x1 H1x2Mesh: "* ]]
    # shellcheck disable=SC2154
    [ "${#stderr_lines[@]}" -eq 1 ]
    run -3 --separate-stderr hxmesh sweep --quiet "2x2 Hx2Mesh fail=board1,1" --clock virtual -t all-reduce --algorithm all
    [[ "$stderr" == "hxmesh: error: 2x2 Hx2Mesh fail=board1,1 algorithm tree: "*" are not all crossings of "* ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
    # One that is asked for by name is an error too.
    run -1 --separate-stderr hxmesh sweep --quiet "3x1 H1x2Mesh" --clock virtual -t broadcast --algorithm tree,rings
    [[ "$stderr" == "hxmesh: error: 3x1 H1x2Mesh algorithm rings: "* ]]
    [[ "$output" == *"refused"* ]]
}

@test "sweep: columns are chosen, or as many as fit 80 characters" {
    sweep "2x1 Hx1Mesh" "fat-tree hosts=2 radix=4 levels=2" --clock virtual -t neighbour -m 8KiB --columns packet_hops,latency_ns.max
    grep -qE '^  spec +packet_hops +max +result$' "$TABLE"
    sweep "2x1 Hx1Mesh" "fat-tree hosts=2 radix=4 levels=2" --clock virtual -t neighbour,uniform -m 8KiB
    [ "$(sed 1,2d "$TABLE" | wc -L)" -le 80 ]
    grep -q '^  not shown: .*p99 mean (--columns)$' "$TABLE"
    run -2 hxmesh sweep "2x1 Hx1Mesh" --columns planes,x
    [[ "$output" == "hxmesh: error: --columns: 'x' is no figure of a report"* ]]
}

@test "sweep: parameters of a schedule are axes, with the time of an iteration" {
    local model=$BATS_TEST_DIRNAME/../../examples/schedules/pipeline-data.schedule.yaml
    cd "$BATS_TEST_TMPDIR"
    sweep "4x4 Hx1Mesh" --clock virtual -t "$model" --set activation=8KiB..16KiB --set "forward=10 us,20us" \
        --set gradient=8KiB -w 1 --csv s.csv --plot s.svg --json "$REPORT"
    grep -qE '^  set.activation +set.forward +iteration +time ' "$TABLE"
    holds 'map([.["set.activation"], .["set.forward"], .["set.gradient"]]) ==
        [[8192, 10000, 8192], [8192, 20000, 8192], [16384, 10000, 8192], [16384, 20000, 8192]]'
    head -n 1 s.csv | grep -q '^spec,traffic,set.activation,set.forward,set.gradient,'
    grep -q '>set activation<' s.svg
    # Each row is the run with its values, and none of the others.
    hxmesh run "4x4 Hx1Mesh" --clock virtual -t "$model" --set activation=16KiB --set forward=10us --set gradient=8KiB -w 1 \
        --quiet --json - >one.json
    holds '.[2].iteration_seconds == $one[0].schedule[0].seconds and .[2].packet_hops == $one[0].packet_hops' --slurpfile one one.json
    # What is given again has more values, of any option.
    sweep "2x1 Hx1Mesh" --clock virtual -t uniform -m 1KiB -m 2KiB --json "$REPORT"
    holds 'map(.message) == [1024, 2048]'
    run -2 hxmesh sweep "4x4 Hx1Mesh" -t "$model" --set forward
    [ "$output" = "hxmesh: error: --set: is NAME=VALUE (write for example --set batch=8 or --set batch=8,16)" ]
    run -2 hxmesh sweep "4x4 Hx1Mesh" -t "$model" --set forward=1us --set forward=8
    [ "$output" = "hxmesh: error: --set: is given twice, with values of two kinds" ]
}

@test "sweep: interrupted, it keeps complete results" {
    cd "$BATS_TEST_TMPDIR"
    env --default-signal=INT "$HXMESH" sweep "2x1 Hx1Mesh" --clock virtual -t uniform --duration 1us,1h --csv s.csv \
        >"$TABLE" 2>/dev/null 3>&- &
    PID=$!
    # A second child means that the first is over and the second has begun.
    until pgrep -P "$PID" -f 'duration 1h' >/dev/null; do sleep 0.01; done
    kill -INT "$PID"
    CODE=0
    wait "$PID" || CODE=$?
    [ "$CODE" -eq 130 ]
    grep -q '1us .* good' "$TABLE"
    grep -q '1h .* not run' "$TABLE"
    [ "$(wc -l <s.csv)" -eq 2 ]
}
