# programs.bats - hxmesh up, exec, down: programs that know nothing of a fabric communicate over it, and nothing of it
# is left after any end. Without /dev/net/tun or user namespaces the tests are skipped with the machine's error.

load emulator_support

setup() {
    fresh_name
    cd "$BATS_TEST_TMPDIR" || return 1
}
teardown() {
    hxmesh down "$NAME" --quiet 2>/dev/null || true
    end_started
}

# holder: the process that holds the namespaces of the test's fabric.
holder() {
    local pid
    for pid in $(processes_of "$NAME"); do
        [ "$(cat "/proc/$pid/comm")" != hxmesh-hosts ] || echo "$pid"
    done
}

# up SPEC...: starts a fabric of the test's name; notes the network of its first host and its supervisor.
up() {
    run --separate-stderr hxmesh up "$@" --name "$NAME"
    # shellcheck disable=SC2154 # bats sets it
    [ "$status" -ne 4 ] || skip "$stderr"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    SAID=$output
    NET=$(on h0 readlink /proc/self/ns/net)
    HOLDER=$(holder)
    SUPERVISOR=$(ps -o ppid= "$HOLDER" | tr -d ' ')
}

# on HOST COMMAND...: on a host of the test's fabric.
on() {
    local host=$1
    shift
    hxmesh exec --name "$NAME" "$host" -- "$@"
}

# all_left: nothing of the fabric is left: memory, processes, or processes in the first host's network.
all_left() {
    nothing_left || return 1
    [ ! -e "/dev/shm/hxmesh-$NAME.door" ] || return 1
    all_gone "$SUPERVISOR" "$HOLDER" || return 1
    ! is_there
}
# Whether a process is in the first host's network.
is_there() { readlink /proc/[0-9]*/ns/net 2>/dev/null | grep -qxF "$NET"; }

# serve HOST PORT: the folder, by HTTP.
serve() {
    on "$1" python3 -m http.server --bind 0.0.0.0 "$2" >served 2>&1 3>&- &
    eventually on "$1" curl --silent --output /dev/null "http://localhost:$2/"
}

# A caller that does not learn its name cannot end it.
@test "programs: a fabric that cannot report that it is up is not; output that exec cannot write is a failure" {
    say_nowhere() { hxmesh up "1x1 Hx2Mesh" --name "$NAME" "$@" >/dev/full; }
    local how
    up "1x1 Hx2Mesh" --workers 1
    say_to_nobody() { hxmesh exec --name "$NAME" --all -- seq 10000 | true; }
    run --separate-stderr say_to_nobody
    [[ "$stderr" != *Success* ]]
    hxmesh down "$NAME" --quiet
    for how in --workers=1 --foreground; do
        run --separate-stderr say_nowhere "$how"
        [ "$status" -eq 4 ]
        [[ "$stderr" == *"hxmesh: error: stdout: could not be written to its end" ]]
        nothing_left
    done
}

@test "programs: every host pings every other by each of its names; down leaves nothing" {
    up "1x1 Hx2Mesh"
    [[ "$SAID" == "$NAME is up: 4 hosts, a0,0 to a1,1, at 10.0.0.1 to 10.1.1.1, MTU 8192"* ]]
    local from to
    for from in a0,0 a1,0 a0,1 a1,1; do
        for to in a0,0 a1-0 h2 10.1.1.1; do
            on "$from" ping -4 -c 1 -W 5 "$to" >/dev/null || { echo "no answer: $from to $to"; return 1; }
        done
    done
    [ "$(on h3 ping -4 -c 1 -M "do" -s 8164 h0 | grep -c '^8172 bytes')" -eq 1 ] # 8,192 with both headers, in one piece
    run -1 on h3 ping -4 -c 1 -M "do" -s 8165 h0
    run --separate-stderr hxmesh down "$NAME"
    [ "$output" = "$NAME is down" ]
    all_left
}

both_died() {
    [ "$(hxmesh top "$NAME" --json - --count 1 --interval 100ms | jq '[.workers[].deaths] | add')" -eq 2 ]
}

@test "programs: a file over TCP arrives unchanged, while workers are killed" {
    head -c 60000000 /dev/urandom >file
    up "2x2 Hx2Mesh"
    serve a0,0 8000
    on a3,3 curl --silent --limit-rate 60M --output got http://a0-0:8000/file 3>&- &
    local client=$!
    eventually test -s got
    hxmesh fault --name "$NAME" "worker0 killed" "worker1 killed at 300ms"
    wait "$client"
    [ "$(sha256sum <got)" = "$(sha256sum <file)" ]
    eventually both_died # the second may outlive the transfer
    hxmesh down "$NAME"
    all_left
}

# bats test_tags=all
@test "programs: IPv6: every host pings every other, also by its link, and a file over TCP arrives unchanged" {
    up "1x1 Hx2Mesh"
    on h0 grep -q hx0 /proc/net/if_inet6 || skip "this machine has no IPv6"
    [ "$(on h3 grep -c hx0 /proc/net/if_inet6)" -eq 2 ] # those two, and none of the kernel's
    local from to
    for from in a0,0 a1,0 a0,1 a1,1; do
        for to in a0,0 a1-0 h2 fd68:786d:6573::1:1 fe80::1:1%hx0; do
            on "$from" ping -6 -c 1 -W 5 "$to" >/dev/null || { echo "no answer: $from to $to"; return 1; }
        done
    done
    head -c 3000000 /dev/urandom >file
    on h2 python3 -m http.server --bind :: 8000 >served 2>&1 3>&- &
    eventually on h2 curl -6 --silent --output /dev/null http://localhost:8000/
    on h1 curl -6 --silent --output got http://a0-1:8000/file
    [ "$(sha256sum <got)" = "$(sha256sum <file)" ]
}

@test "programs: links fail, and every host still reaches every other" {
    local spec to
    for spec in "2x2 Hx2Mesh" "fat-tree hosts=16 radix=4"; do
        up "$spec" --planes 2
        run -0 hxmesh fault --name "$NAME" "$([[ "$spec" == fat* ]] && echo leaf0/2 || echo a0,0/p0/E) down"
        [ -z "$output" ] # no warning
        for to in h1 h2 h15; do
            on h0 ping -c 1 -W 10 "$to" >/dev/null
        done
        hxmesh down "$NAME"
    done
    all_left
}

@test "programs: exec hands over to the program, and returns its exit code" {
    up "fat-tree hosts=4 radix=4"
    [ "$(on h1 printenv HXMESH_FABRIC HXMESH_HOST HXMESH_HOST_NUMBER HXMESH_HOSTS | paste -s -d ' ')" = "$NAME a0,1 1 4" ]
    [ "$(on a0,1 hostname)" = a0-1 ]
    [ "$(on a0-1 pwd)" = "$PWD" ]
    [ "$(echo through | on 0,1 cat)" = through ]
    [ "$(hxmesh exec --name "$NAME" --shell -- h2 echo 'one;' echo two | paste -s)" = "one	two" ]
    run -7 on h0 sh -c 'exit 7'
    run -143 on h0 sh -c 'kill $$'
    run -127 --separate-stderr on h0 ./nobody
    [ "$stderr" = "hxmesh: error: ./nobody: cannot be run: No such file or directory" ]
    run -126 --separate-stderr on h0 /
    [ "$stderr" = "hxmesh: error: /: cannot be run: Permission denied" ]
    run -0 hxmesh exec --name "$NAME" --all -- hostname
    [ "$(sort <<<"$output" | paste -s -d ' ')" = "a0,0: a0-0 a0,1: a0-1 a1,0: a1-0 a1,1: a1-1" ]
    run -1 hxmesh exec --name "$NAME" --all -- grep -q a0-0 /proc/sys/kernel/hostname # on all but one it does not match
}

@test "programs: errors are one line" {
    up "1x1 Hx2Mesh"
    refuse() {
        local code=$1 line=$2
        shift 2
        run --separate-stderr hxmesh "$@"
        [ "$status" -eq "$code" ] && [ "$stderr" = "hxmesh: error: $line" ] ||
            { printf '%s\n%s\n' "$status" "$stderr"; return 1; }
    }
    refuse 2 "h4: is no host of this fabric (a0,0 is one, also as h0; there are 4)" exec --name "$NAME" h4 -- true
    refuse 2 "a2,0: is no host of this fabric (a0,0 is one, also as h0; there are 4)" exec --name "$NAME" a2,0 -- true
    refuse 2 "COMMAND: is missing: what is to run on h1? (such as \`hxmesh exec a0,0 -- hostname\`)" \
        exec --name "$NAME" h1
    refuse 2 "HOST: is missing: where is true to run? (such as \`hxmesh exec a0,0 -- hostname\`)" exec --name "$NAME" -- true
    refuse 2 "a0,0: is a host, and --all says on which already (leave out one of them)" exec --name "$NAME" --all a0,0 -- true
    refuse 2 "h1: is a host, and --mpi says on which already (leave out one of them)" exec --name "$NAME" --mpi 4 h1 -- true
    refuse 2 "--mpi: and --all: which of both?" exec --name "$NAME" --mpi 2 --all -- true
    refuse 2 "--over: is for ranks of MPI (give --mpi, too)" exec --name "$NAME" --over messages h0 -- true
    refuse 4 "no-such: no fabric of this name is running" exec --name no-such h1 -- true
    refuse 4 "no-such: no fabric of this name is running" down no-such
    refuse 4 "$NAME: a fabric of this name is running (choose another --name)" up "1x1 Hx2Mesh" --name "$NAME"
    refuse 3 "17x4 Hx4Mesh: has 1088 hosts, programs can be on 1024 (choose a smaller fabric)" up "17x4 Hx4Mesh"
    refuse 3 "3x Hx2Mesh: $(hxmesh info "3x Hx2Mesh" 2>&1 | sed 's/^hxmesh: error: 3x Hx2Mesh: //')" up "3x Hx2Mesh"
}

@test "programs: a run has no hosts for programs, and down refuses it" {
    start "1x1 Hx2Mesh" --duration 60s
    await_traffic
    run -2 --separate-stderr hxmesh exec --name "$NAME" h0 -- true
    [ "$stderr" = "hxmesh: error: $NAME: has no hosts for programs (start it with \`hxmesh up\`)" ]
    run -2 --separate-stderr hxmesh down "$NAME"
    [ "$stderr" = "hxmesh: error: $NAME: was not started by \`hxmesh up\` (Ctrl-C ends a run)" ]
    end_long
}

# pingpong HOST NAME ARGUMENTS...: fi_pingpong on that host and on the first one, by its name; all data is checked.
pingpong() {
    local from=$1 to=$2
    shift 2
    on h0 timeout 300 fi_pingpong -p hxmesh -e rdm -c "$@" >/dev/null 3>&- &
    local server=$!
    eventually on h0 sh -c 'grep -qi ":b9e8 0*:0000 0A" /proc/net/tcp*' # its control connection, of IP
    on "$from" timeout 300 fi_pingpong -p hxmesh -e rdm -c "$@" "$to"
    wait "$server"
}
needs_provider() {
    [ -e "${HXMESH%/*}/libhxmesh-fi.so" ] || skip "the provider is not built: package libfabric-dev"
    command -v fi_pingpong >/dev/null || skip "fi_pingpong is missing: package libfabric-bin"
}

# bats test_tags=all
@test "programs: a host has its interface and messages at once, while workers are killed" {
    needs_provider
    up "2x2 Hx2Mesh" --workers 2
    on h3 ping -i 0.02 -c 300 -W 20 h0 >pinged 3>&- &
    local ping=$!
    eventually grep -q 'bytes from' pinged
    hxmesh fault --name "$NAME" "worker0 killed at 200ms" "worker1 killed at 400ms"
    run -0 pingpong h3 a0-0 -I 10 -S all
    [[ "$output" == *"6m "*"=10 "* ]]
    eventually both_died
    wait "$ping"
    on h3 ping -c 1 -W 5 h0 >/dev/null
    hxmesh down "$NAME"
    all_left
}

@test "programs: a worker sleeps while a program holds one of its hosts and has nothing to send" {
    up "1x1 Hx2Mesh" --workers 1
    on h1 "${HXMESH%/*}/tests/system/exchange" "$NAME" 1 1 1000 2 >held 3>&- & # no program is at 2
    eventually grep -q open held
    sleeps_long "$(workers_of "$SUPERVISOR")"
    on h0 ping -c 1 -W 5 h3 >/dev/null
}

@test "programs: Open MPI over messages, a rank on each host, every byte checked, and TCP beside it" {
    needs_provider
    command -v mpicc >/dev/null || skip "there is no Open MPI here"
    mpicc -O2 -o exchange "$BATS_TEST_DIRNAME/../../examples/programs/exchange.c"
    up "fat-tree hosts=4 radix=4"
    run -0 hxmesh exec --name "$NAME" --mpi 4 --over messages -- ./exchange
    [[ "$output" == *"4 ranks on 4 hosts: all right"* ]]
    run -0 taskset -c 0 "$HXMESH" exec --name "$NAME" --mpi 1 -- printenv HXMESH_IDLE OMPI_MCA_mpi_yield_when_idle
    [ "$output" = $'sleep\n1' ] # the rank and the workers outnumber the one core
    run -2 --separate-stderr hxmesh exec --name "$NAME" --mpi 5 --over messages -- ./exchange
    [ "$stderr" = "hxmesh: error: --mpi: 5 ranks are more than the hosts of $NAME, and a host has messages for one (choose fewer, or --over ip)" ]
}

@test "programs: down ends what runs on hosts, also what ignores the first signal" {
    up "1x1 Hx2Mesh"
    on h0 sleep 1000 3>&- &
    local meek=$!
    on h2 sh -c 'trap "" TERM; echo ready; sleep 1000; sleep 1000' >stubborn 3>&- &
    local stubborn=$!
    eventually grep -q ready stubborn
    eventually is_there
    hxmesh down "$NAME"
    all_left
    run -143 wait "$meek"
    run -137 wait "$stubborn"
}

# bats test_tags=all
@test "programs: down also ends processes with a network, or all namespaces, of their own" {
    up "1x1 Hx2Mesh"
    local ways=(--net "--user --map-root-user --net --uts --mount" "--user --map-root-user --mount --net --pid --fork")
    local started=()
    for way in "${!ways[@]}"; do
        # shellcheck disable=SC2086 # words
        on h0 unshare ${ways[way]} sh -c 'readlink /proc/self/ns/net; exec sleep 1000' >"own$way" 3>&- &
        started+=($!)
        eventually test -s "own$way"
        [ "$(cat "own$way")" != "$NET" ]
    done
    hxmesh down "$NAME"
    all_left
    for way in "${!ways[@]}"; do
        NET=$(cat "own$way")
        ! is_there || return 1
    done
    wait "${started[@]}" || true
}

# lines_of LOG: without times and numbers of processes.
lines_of() { sed -E 's/^[0-9-]{10}T[0-9:]{8}Z //; s/process [0-9]+/process N/' "$1"; }

@test "programs: the output of a fabric in the background is in its log" {
    local log=$XDG_STATE_HOME/hxmesh/$NAME.log worker
    up "1x1 Hx2Mesh" -w 1
    [[ "$SAID" == *"$log"* ]]
    worker=$(workers_of "$SUPERVISOR")
    kill -KILL "$worker"
    eventually grep -q 'was killed by signal 9; its nodes restart$' "$log"
    hxmesh down "$NAME"
    eventually grep -q 'is down' "$log"
    [ "$(lines_of "$log")" = "hxmesh: $NAME is up: 1x1 Hx2Mesh, process N
hxmesh: warning: worker 0 (process N) was killed by signal 9; its nodes restart
hxmesh: $NAME is down, with code 130" ]
    # With another folder, and where none is possible.
    up "1x1 Hx2Mesh" --log other.log
    hxmesh down "$NAME"
    eventually grep -q 'is down' other.log
    run -4 --separate-stderr hxmesh up "1x1 Hx2Mesh" --log /nowhere/x
    [ "$stderr" = "hxmesh: error: /nowhere/x: cannot be written: No such file or directory" ]
    run -2 --separate-stderr hxmesh up "1x1 Hx2Mesh" --log x --foreground
    [ "$stderr" = "hxmesh: error: --log: is for the background (with --foreground: 2>FILE, or the journal)" ]
}

@test "programs: kill -9 of the supervisor leaves nothing, nor does that of the netns holder" {
    up "1x1 Hx2Mesh"
    on h0 sleep 1000 3>&- &
    eventually is_there
    kill -KILL "$SUPERVISOR"
    eventually all_left
    up "1x1 Hx2Mesh"
    kill -KILL "$HOLDER"
    eventually all_left
}

@test "programs: kill -9 of supervisor and netns holder at once leaves what clean removes, and the next up takes the name" {
    up "1x1 Hx2Mesh"
    kill -KILL "$SUPERVISOR" "$HOLDER"
    eventually all_gone "$SUPERVISOR" "$HOLDER"
    no_process() { ! processes_of "$NAME"; }
    eventually no_process
    run --separate-stderr hxmesh exec --name "$NAME" h0 -- true
    [ "$status" -eq 4 ]
    [ "$stderr" = "hxmesh: error: $NAME: no fabric of this name is running" ]
    up "1x1 Hx2Mesh"
    on h0 ping -c 1 -W 5 h3 >/dev/null
    kill -KILL "$SUPERVISOR" "$HOLDER"
    eventually no_process
    hxmesh clean
    all_left
}

@test "programs: in the foreground Ctrl-C ends it" {
    up "1x1 Hx2Mesh" # or skips
    hxmesh down "$NAME"
    env --default-signal=INT "$HXMESH" up "1x1 Hx2Mesh" --name "$NAME" --foreground >said 2>stderr 3>&- &
    PID=$!
    eventually grep -q 'is up' said
    on h0 ping -c 1 -W 5 h3 >/dev/null
    kill -INT "$PID"
    finish
    # shellcheck disable=SC2153 # finish sets it
    [ "$CODE" -eq 130 ]
    [ ! -s stderr ]
    nothing_left
}

@test "programs: without root" {
    [ "$(id -u)" -eq 0 ] || skip "the others ran without root"
    local user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    cp "$HXMESH" "$BATS_TEST_TMPDIR/hxmesh"
    chmod 755 "$BATS_TEST_TMPDIR"
    HXMESH="$BATS_TEST_TMPDIR/hxmesh"
    cd /
    run --separate-stderr "${user[@]}" "$HXMESH" up "torus 2x2" --name "$NAME"
    [ "$status" -ne 4 ] || skip "$stderr"
    [ "$status" -eq 0 ]
    "${user[@]}" "$HXMESH" exec --name "$NAME" a0,0 -- ping -c 1 -W 5 a1,1
    "${user[@]}" "$HXMESH" down "$NAME"
    nothing_left
}

# bats test_tags=all
@test "programs: Open MPI, a rank on each host of two fabrics, every byte checked" {
    command -v mpicc >/dev/null || skip "there is no Open MPI here"
    mpicc -O2 -o exchange "$BATS_TEST_DIRNAME/../../examples/programs/exchange.c"
    up "2x2 Hx2Mesh"
    run -0 hxmesh exec --name "$NAME" --mpi 16 -- ./exchange
    [[ "$output" == *"16 ranks on 16 hosts: all right"* ]]
    hxmesh down "$NAME"
    all_left
    up "fat-tree hosts=4 radix=4"
    run -0 hxmesh exec --name "$NAME" --mpi 6 -- ./exchange
    [[ "$output" == *"6 ranks on 4 hosts: all right"* ]]
    run -1 hxmesh exec --name "$NAME" --mpi 2 -- ./exchange --wrong
    [[ "$output" == *"2 ranks on 2 hosts: "*" wrong"* ]]
}
