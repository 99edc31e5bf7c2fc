# docs.bats - the documentation's examples work as written, and docs/options.md agrees with the programs.
#
# These examples of README.md and docs/*.md run, in a folder for each file and in the file's order:
#   ```sh        blocks, each as one script that must succeed. `<!-- not run: WHY -->` in the line before leaves one out
#   ```console   blocks: "$ COMMAND", then exactly what it prints
#   indented     lines that begin with "hxmesh ", up to two spaces and what they are for
#
# hxmesh gets a second, in `make check` a third, and is then interrupted, as a reader would do: examples may run for
# long. In console blocks it has a minute. The folder has the examples/ and tools/ of the source tree, a file FILE and a
# capture run.pcapng, and a fabric is running. Without /dev/net/tun no program can be on a fabric: examples of up, exec
# and down are left out.

load tools_support

SECONDS_EACH=$(few 0.3 1) # of an example,
SECONDS_WHOLE=60          # of one that must end: others need its result, or it is compared

setup() {
    TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    BUILD=$(cd "$(dirname "$HXMESH")" && pwd)
    mkdir "$BATS_TEST_TMPDIR/bin"
    BIN=$BATS_TEST_TMPDIR/bin
}

teardown() {
    "$HXMESH" down lab --quiet 2>/dev/null || true # of an example that was not reached
    [ -z "${FABRIC:-}" ] || { kill -INT "$FABRIC" 2>/dev/null; wait "$FABRIC" || true; }
}

# stand_in NAME LINES: a program of that name for the examples.
stand_in() {
    printf '#!/bin/bash\n%s\n' "$2" >"$BIN/$1"
    chmod +x "$BIN/$1"
}

programs() {
    local tshark
    for program in "$BUILD"/hxmesh-*; do
        [ ! -x "$program" ] || [ ! -f "$program" ] || ln -s "$program" "$BIN/"
    done
    stand_in hxmesh "most=\${WHOLE:-$SECONDS_EACH}
case \"\$1\" in up | exec | down) [ -w /dev/net/tun ] || exit 0 ;; esac
case \"\$1 \$*\" in *--capture* | verify* | trace* | up* | down* | allocate*) most=$SECONDS_WHOLE ;; esac
timeout --signal=INT --kill-after=60 \$most '$BUILD/hxmesh' \"\$@\" </dev/null
status=\$?
exit \$((status == 124 ? 0 : status))"
    stand_in wireshark 'timeout 5 cat >/dev/null; true'
    tshark=$(command -v tshark || echo true)
    stand_in tshark "exec $tshark -c 200 \"\$@\""
}

# blocks FILE KIND: each block as FOLDER/LINE.sh or FOLDER/LINE.console.
blocks() {
    awk -v to="$2" '
        function close_block() { if (name) close(name); name = "" }
        /^```/ {
            if (open) { close_block(); open = 0; next }
            open = 1
            word = substr($0, 4)
            if ((word == "sh" || word == "console") && before !~ /^<!-- not run: .+ -->$/)
                name = sprintf("%s/%05d.%s", to, NR + 1, word)
            if (name) printf "" > name
            next
        }
        open { if (name) print > name }
        !open && /^    hxmesh / {
            line = substr($0, 5); sub(/  +.*/, "", line)
            name = sprintf("%s/%05d.sh", to, NR); print line > name; close_block()
        }
        !open && NF { before = $0 }' "$1"
}

# runs FILE: every example of one file.
runs() {
    local file=$1 folder block failed=0
    folder=$BATS_TEST_TMPDIR/$(basename "$file" .md)
    mkdir "$folder" "$folder/blocks"
    blocks "$file" "$folder/blocks"
    cd "$folder" || return
    ln -s "$TOP/examples" "$TOP/tools" .
    cp "$TOP"/examples/*.yaml .
    cp "$TOP/LICENSE" FILE
    cp "$BATS_TEST_TMPDIR/run.pcapng" .
    for block in blocks/*.sh; do
        [ -e "$block" ] || break
        HOME=$folder PATH=$BIN:$PATH bash -eo pipefail "$block" >out 2>&1 </dev/null && continue
        failed=1
        echo "$file:$((10#$(basename "$block" .sh))): fails:"
        cat "$block" out
    done
    for block in blocks/*.console; do
        [ -e "$block" ] || break
        sed -n 's/^\$ //p' "$block" | while read -r command; do
            echo "\$ $command"
            WHOLE=$SECONDS_WHOLE HOME=$folder PATH=$BIN:$PATH bash -c "$command" 2>&1 </dev/null || true
        done >out
        diff "$block" out && continue
        failed=1
        echo "$file:$((10#$(basename "$block" .console))): prints something else"
    done
    cd "$TOP" || return
    return $failed
}

# keys_of REPORT...: every key of these reports, as docs/report.md writes it; keys of settings and drops are elsewhere.
keys_of() {
    jq --raw-output 'paths | map(if type == "number" then "[]" else "." + . end) | join("") | .[1:]' "$@" |
        grep -vE '^(settings|drops|external)\.|^schedule\[\]|\[\]$' | sort -u
}

@test "docs: report.md has every key of a report, and no others" {
    local file="$BATS_TEST_TMPDIR/flows.csv" keys key
    cd "$TOP"
    one() { "$BUILD/hxmesh" run "$@" --quiet --json "$BATS_TEST_TMPDIR/$((++REPORTS)).json" >/dev/null; }
    printf 'start,source,destination,bytes\n0,0,1,8KiB\n' >"$file"
    one examples/jobs.hxm.yaml --message 8KiB --capture "$BATS_TEST_TMPDIR/x.pcapng"
    one "2x2 Hx2Mesh" --clock virtual --message 8KiB --duration 20us --warm-up 5us --csv "$BATS_TEST_TMPDIR/x.csv"
    one "2x2 Hx2Mesh" --traffic broadcast --message 8KiB
    one "1x1 Hx2Mesh" --traffic "$file"
    printf 'fabric: mlfm h=2 fail=a0,0\njobs:\n  - {tag: 1, hosts: [[1, 4]]}\n' >"$BATS_TEST_TMPDIR/tree.hxm.yaml"
    one "$BATS_TEST_TMPDIR/tree.hxm.yaml" --message 8KiB
    one "3x3 Hx2Mesh" --message 8KiB --job "a: 2 all-reduce" --job "b: 2 all-gather 4KiB"
    one "2x2 Hx2Mesh" --clock virtual --message 8KiB --fault "all loss=1%; a0,0/E down" --compare-healthy
    one "2x2 Hx2Mesh" --clock virtual --message 8KiB --duration 20us --rate 0.2
    one "2x2 Hx2Mesh" --duration 300ms --fault "a0,0/E closed at 20ms for 20ms"
    one "3x3 Hx2Mesh" --clock virtual --message 8KiB --duration 20us --rate 0.2 --job "a: 2 uniform" --job "b: 2 uniform"
    one "2x2 Hx2Mesh" --clock virtual --traffic examples/schedules/pipeline.schedule.yaml --repeats cut
    one "2x2 Hx2Mesh" --clock virtual --traffic examples/schedules/pipeline.schedule.yaml --fast-forward 1%
    keys=$(keys_of "$BATS_TEST_TMPDIR"/*.json)
    # A key with keys below it has no line of its own; a job's keys are the run's, except those that only jobs have.
    while read -r key; do
        grep -qE "^${key//[]/\\[\\]}[.[]" <<<"$keys" && [[ $key != settings ]] && continue
        [[ $key != jobs\[\].?* ]] || grep -qF "\`$key\`" docs/report.md || key=${key#jobs[].}
        echo "$key"
    done <<<"$keys" | sort -u >"$BATS_TEST_TMPDIR/real"
    # shellcheck disable=SC2016 # these are the page's own
    grep -E '^\| `' docs/report.md | cut -d '|' -f 2 | grep -oE '`[^`]+`' | tr -d '`' | grep -vx external | sort -u \
        >"$BATS_TEST_TMPDIR/said"
    diff "$BATS_TEST_TMPDIR/real" "$BATS_TEST_TMPDIR/said"
    [ "$(head -n 1 "$BATS_TEST_TMPDIR/x.csv")" = "$(sed -n '/^date,version/,/^```/p' docs/report.md | grep -v '^```' | tr -d '\n')" ]
}

# examples_of FILE...: runs each of their examples, with the capture and the fabric that examples refer to.
examples_of() {
    programs
    "$HXMESH" run "4x4 Hx2Mesh" -m 8 --clock virtual --capture "$BATS_TEST_TMPDIR/run.pcapng" --snaplen 96 --quiet >/dev/null
    "$HXMESH" run "4x4 Hx2Mesh" -t neighbour -n 0 -d 10m --rate 0.00001 -w 1 --quiet --name "docs-$$" >/dev/null 2>&1 3>&- &
    FABRIC=$!
    failed=0
    for file in "$@"; do
        runs "$TOP/$file" || failed=1
    done
    [ "$failed" -eq 0 ]
}

@test "docs: every example of README.md runs as written" {
    examples_of README.md
}

# bats test_tags=all
@test "docs: every example of docs runs as written" {
    examples_of docs/*.md
}

@test "docs: the keys of report.md agree with the programs (otherwise: make docs)" {
    "$TOP/mk/docs.sh" "$BUILD" "$TOP/docs/report.md" | diff "$TOP/docs/report.md" -
}

@test "docs: options.md agrees with the programs (otherwise: make docs)" {
    "$TOP/mk/docs.sh" "$BUILD" >now.md
    if [ -x "$BUILD/hxmesh-dpdk" ]; then
        diff "$TOP/docs/options.md" now.md
    else
        sed '/^## hxmesh-dpdk$/,$d' "$TOP/docs/options.md" | diff - now.md
    fi
    rm now.md
}

# option NAME: its default in options.md, for `hxmesh run`.
option() { awk -F ' [|] ' -v name="$1\`" '/^## /{ in_run = $0 == "## hxmesh run" } in_run && index($1, name) { print $3; exit }' "$TOP/docs/options.md"; }

@test "docs: the defaults of options.md are those of a run without options" {
    "$HXMESH" run "1x1 Hx2Mesh" --quiet --json "$BATS_TEST_TMPDIR/run.json"
    cd "$BATS_TEST_TMPDIR" || return
    for each in traffic count shifts duration rate seed clock planes radix taper credits; do
        [ "$(option "$each")" = "$(jq -r ".settings[\"$each\"]" run.json)" ] || { echo "$each: $(option "$each")"; return 1; }
    done
    [ "$(option message)" = "$(jq '.settings.message / 1024' run.json)KiB" ]
    [ "$(option 'no-]verify')" = "$(jq -r 'if .settings.verify then "on" else "off" end' run.json)" ]
}
