# virtual_mpi.bats - the virtual clock over MPI: a run by ranks of mpirun has the report of a run by workers.

load emulator_support

setup() {
    [ -x "${HXMESH%/*}/hxmesh-virtual-mpi" ] || skip "hxmesh-virtual-mpi is missing: package libopenmpi-dev"
    fresh_folder
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    RANKS=(timeout 600 mpirun --oversubscribe --quiet --bind-to none --mca btl 'vader,self')
}

teardown() { end_started; }

# by_ranks N ARGUMENTS...: the same as report(), by N ranks.
by_ranks() {
    local ranks=$1
    shift
    "${RANKS[@]}" -n "$ranks" "$HXMESH" run "$@" --clock virtual --name "$NAME" --quiet --json - >"$REPORT" 3>&-
}

# same_by_ranks ARGUMENTS...: the same report byte for byte, except `host`, by a worker and by each of $TRIED ranks. On
# a torus not all of five ranks are neighbours.
read -ra TRIED <<<"$(few 3 "2 3 5")"
same_by_ranks() {
    local ranks
    report "$@" --clock virtual --workers 1
    jq --sort-keys 'del(.host)' "$REPORT" >expected.json
    for ranks in "${TRIED[@]}"; do
        by_ranks "$ranks" "$@"
        holds ".host.workers == $ranks"
        jq --sort-keys 'del(.host)' "$REPORT" | cmp - expected.json || {
            echo "differs with $ranks ranks: $*"
            return 1
        }
    done
}

@test "virtual over MPI: the same report by workers and by ranks" {
    same_by_ranks "4x4 Hx2Mesh" --message 16KiB
    same_by_ranks "torus 8x8" --message 8KiB
}

# bats test_tags=all
@test "virtual over MPI: the same report by one, two, four and eight ranks and workers" {
    local few
    TRIED=(2 4 8)
    same_by_ranks "4x4 Hx2Mesh" --message 16KiB
    for few in "--mpi 1" "--workers 2" "--workers 4" "--workers 8"; do
        # shellcheck disable=SC2086 # words
        report "4x4 Hx2Mesh" --message 16KiB --clock virtual $few --share-cores
        holds ".host.workers == ${few##* }"
        jq --sort-keys 'del(.host)' "$REPORT" | cmp - expected.json
    done
}

# bats test_tags=all
@test "virtual over MPI: the same report of other topologies and traffic" {
    same_by_ranks "slim-fly q=5" --message 4KiB
    same_by_ranks "4x4 Hx2Mesh" --message 16KiB --cable 500ns
    same_by_ranks "4x4 Hx2Mesh" -t permutation --message 64KiB --verify
    same_by_ranks "fat-tree hosts=64" --message 8KiB --check-steps
    same_by_ranks "4x4 Hx2Mesh" -t uniform --rate 0.2 --count 0 --message 8KiB --duration 20us --warm-up 5us
    same_by_ranks "4x4 Hx2Mesh" -t transpose --rate 0.1 --message 8KiB --duration 20us # the warm-up is found
}

@test "virtual over MPI: the same losses and repairs" {
    same_by_ranks "4x4 Hx2Mesh" --message 16KiB --fault "a0,0/E down at 5us for 20us" --fault "all loss=1% duplicate=1%"
}

# bats test_tags=all
@test "virtual over MPI: the same random faults" {
    same_by_ranks "torus 8x8" --message 8KiB --faults random --seed 3 --mtbf 5us --mttr 10us
    same_by_ranks "fat-tree hosts=64" --message 16KiB --faults random --seed 7 --mtbf 5us --mttr 10us
}

@test "virtual over MPI: the same collective" {
    same_by_ranks "2x2 Hx2Mesh" -t all-reduce --message 256KiB
}

# bats test_tags=all
@test "virtual over MPI: the same schedules, repeats left out or not" {
    local examples=$BATS_TEST_DIRNAME/../../examples/schedules
    same_by_ranks "2x2 Hx2Mesh" -t "$examples/data-parallel.schedule.yaml" --message 64KiB
    same_by_ranks "2x2 Hx2Mesh" -t "$examples/data-parallel.schedule.yaml" --message 64KiB --repeats cut
}

# worker N: the process of worker N of this test's run.
worker() {
    ps -eo pid=,comm=,args= | awk -v comm="hxmesh-v$1" -v name="$NAME" \
        '$2 == comm && index($0, name) { print $1; found = 1 } END { exit !found }'
}

is_gone() { ! worker "$1"; }

@test "virtual over MPI: a killed worker ends all ranks, and its launcher says so in one line" {
    "${RANKS[@]}" -n 3 "$HXMESH" run "8x8 Hx2Mesh" --clock virtual --message 64MiB --name "$NAME" --quiet \
        >said 2>errors 3>&- &
    local mpirun=$! code=0 killed
    eventually worker 0
    eventually worker 1
    killed=$(worker 1)
    kill -KILL "$killed"
    wait "$mpirun" || code=$?
    [ "$code" -eq 1 ]
    [ "$(grep -c '^hxmesh: error:' errors)" -eq 1 ]
    grep -q "worker $killed was killed by signal 9" errors
    eventually is_gone 0
}

@test "virtual over MPI: SIGUSR1 for mpirun ends the run with a report" {
    "${RANKS[@]:2}" -n 3 "$HXMESH" run "8x8 Hx2Mesh" --clock virtual --message 64MiB --name "$NAME" --quiet \
        --json "$REPORT" >said 3>&- &
    local mpirun=$! code=0
    eventually worker 0
    eventually worker 2
    kill -USR1 "$mpirun"
    wait "$mpirun" || code=$?
    [ "$code" -eq 130 ]
    holds '.interrupted and (.complete | not) and .host.workers == 3'
}

# same_file_by_ranks ARGUMENTS...: the same capture byte for byte by a worker and by ranks, and the same report of it.
same_file_by_ranks() {
    local ranks file=run.pcapng
    report "$@" --clock virtual --workers 1 --capture "$file"
    mv "$file" expected.pcapng
    jq --sort-keys 'del(.host)' "$REPORT" >expected.json
    for ranks in 2 5; do
        by_ranks "$ranks" "$@" --capture "$file"
        cmp "$file" expected.pcapng
        jq --sort-keys 'del(.host)' "$REPORT" | cmp - expected.json
    done
    holds '.capture.written > 0 and .capture.written == .capture.accepted and .capture.dropped == 0'
}

@test "virtual over MPI: the same capture by workers and by ranks, which verify and trace can read" {
    same_file_by_ranks "4x4 Hx2Mesh" --message 16KiB
    hxmesh verify run.pcapng
    hxmesh trace run.pcapng >/dev/null
}

# bats test_tags=all
@test "virtual over MPI: the same capture with a filter, and of two planes" {
    same_file_by_ranks "torus 6x6" --message 4KiB --capture-filter "ether[28] == 1" --capture-buffer 64KiB
    same_file_by_ranks "2x2 Hx2Mesh" --message 20000 --verify --planes 2 --annotate
    hxmesh verify run.pcapng
}

@test "virtual over MPI: the same capture of faults and of circuits" {
    local circuits=$BATS_TEST_DIRNAME/../../examples/circuits
    same_file_by_ranks "4x4 Hx2Mesh" --message 8KiB --annotate \
        --fault "all loss=1% at 3us; a0,0/E down at 1us for 2us; a0,1/E down at 1us for 1us"
    hxmesh verify run.pcapng
    sed "s/^dark .*/dark 10us/; s/700us/70us/" "$circuits/plan.txt" >plan.txt
    same_file_by_ranks "graph $circuits/servers.csv" --traffic "$circuits/job.schedule.yaml" --set part=128KiB \
        --set sum=48KiB --set rounds=2 --circuits plan.txt
}

@test "virtual over MPI: a file that cannot be written is one line, a full disk stops no run" {
    run -4 --separate-stderr by_ranks 2 "4x4 Hx2Mesh" --message 16KiB --capture /nowhere/x
    # shellcheck disable=SC2154 # bats sets it
    [ "$stderr" = "hxmesh: error: /nowhere/x: cannot be written: No such file or directory" ]
    run -0 --separate-stderr by_ranks 2 "4x4 Hx2Mesh" --message 16KiB --capture /dev/full
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [[ "$stderr" == "hxmesh: error: /dev/full: No space left on device: 0 frames written"* ]]
}

# capturing PID: the process that writes the capture of a run by ranks of this mpirun.
capturing() {
    local launcher
    for launcher in $(pgrep --parent "$1"); do
        pgrep --parent "$launcher" hxmesh-tap && return
    done
    return 1
}

@test "virtual over MPI: a killed writer of a capture is one line, and the run goes on" {
    "${RANKS[@]:2}" -n 3 "$HXMESH" run "4x4 Hx2Mesh" --clock virtual --message 64MiB --name "$NAME" --quiet \
        --capture run.pcapng --capture-buffer 64KiB --snaplen 64 --json "$REPORT" >said 2>errors 3>&- &
    local mpirun=$! code=0 writer
    eventually test -s run.pcapng
    writer=$(capturing "$mpirun")
    kill -KILL "$writer"
    eventually worker 2
    kill -USR1 "$mpirun"
    wait "$mpirun" || code=$?
    [ "$code" -eq 130 ]
    holds '.capture.error != null and .capture.received > 0'
    [ "$(grep -c '^hxmesh: error:' errors)" -eq 1 ]
    grep -q "the process that wrote this capture was killed" errors
}

running() { [ -e "/dev/shm/hxmesh-$NAME" ] && hxmesh top "$NAME" --json - --count 1 --interval 100ms; }

# bats test_tags=all
@test "virtual over MPI: hxmesh top shows the counters of all ranks, to the report's" {
    local keys='[.spec, .packet_hops, .packets_sent, .packets_delivered, .bytes_delivered, .messages, .drops]'
    by_ranks 3 "8x8 Hx2Mesh" --message 128KiB &
    local mpirun=$!
    eventually running
    hxmesh top "$NAME" --json lines --interval 100ms
    wait "$mpirun"
    jq --slurp --exit-status '([.[].packet_hops] | . == sort) and
        any(.[]; .state == "running" and all(.workers[]; .packet_hops > 0 and .state == "running")) and
        all(.[]; .packet_hops == ([.workers[].packet_hops] | add)) and (.[-1].workers | all(.state == "done"))' lines
    [ "$(tail -n 1 lines | jq --compact-output "$keys")" = "$(jq --compact-output "$keys" "$REPORT")" ]
}

@test "virtual over MPI: hxmesh run --mpi has the report of a worker" {
    report "4x4 Hx2Mesh" --clock virtual --message 16KiB --workers 1
    jq --sort-keys 'del(.host)' "$REPORT" >expected.json
    report "4x4 Hx2Mesh" --clock virtual --message 16KiB --mpi 2 --share-cores
    holds '.host.workers == 2'
    jq --sort-keys 'del(.host)' "$REPORT" | cmp - expected.json
}

@test "virtual over MPI: two machines have the report of one" {
    HXMESH=$HXMESH run timeout 300 "$BATS_TEST_DIRNAME/../../examples/machines/simulated.sh"
    [ "$status" -ne 77 ] || skip "this user may not have network namespaces (unshare --net)"
    [ "$status" -eq 0 ]
}

@test "virtual over MPI: an error before the start is one line" {
    run ! --separate-stderr "$HXMESH" run "4x4 Hx2Mesh" --clock virtual --mpi 2 --share-cores -t missing.csv
    # shellcheck disable=SC2154 # bats sets it
    [ "$stderr" = "hxmesh: error: missing.csv: cannot be read: No such file or directory" ]
    printf 'left slots=x\n' >machines
    run ! --separate-stderr "$HXMESH" run "4x4 Hx2Mesh" --clock virtual --mpi 2 --hostfile machines
    [[ "$stderr" == "hxmesh: error: machines:1:"* ]]
}
