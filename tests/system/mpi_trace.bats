# mpi_trace.bats - the recorded calls of an MPI program (examples/mpi-trace) are a schedule with its messages.

load emulator_support

setup() {
    command -v mpicc >/dev/null || skip "mpicc is missing: package libopenmpi-dev"
    fresh_folder
    make --silent -C "$BATS_TEST_DIRNAME/../../examples/mpi-trace" OUT="$PWD"
    mpicc -O2 -o traced "$BATS_TEST_DIRNAME/../mpi/traced.c"
}

teardown() { end_started; }

# record RANKS [VARIABLE=VALUE...] PROGRAM...: runs it over shared memory.
record() {
    local ranks=$1
    shift
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 600 mpirun --oversubscribe -n "$ranks" \
        --mca btl vader,self env LD_PRELOAD="$PWD/libmpi-trace.so" "$@" 3>&-
}

@test "mpi_trace: a recorded program of four ranks has as many messages and bytes as it sent, and is replayed" {
    run -0 record 4 ./traced
    local sent=$output
    run -0 --separate-stderr hxmesh schedule mpi-trace.0.mpi --json found.json
    [ "$(jq -r '"\(.messages.count) messages, \(.messages.bytes) bytes"' found.json)" = "$sent" ]
    [ "$(jq '.collectives["all-reduce"]' found.json)" -eq 12 ] # two of all ranks, one of each half
    [ "$(jq -r '.left_out.what' found.json)" = "4 MPI_Scan" ]
    hxmesh run "fat-tree hosts=4 radix=4" --traffic mpi-trace.0.mpi --clock virtual --name "$NAME" --quiet --json - >"$REPORT"
    holds '.complete and .schedule[0].ranks_done == 4'
}

@test "mpi_trace: a cut trace and a missing one are refused, and a trace that cannot be written does no harm" {
    run -0 record 4 HXMESH_MPI_TRACE=cut ./traced
    head -n 20 cut.2.mpi >cut.2.part
    mv cut.2.part cut.2.mpi
    run -3 --separate-stderr hxmesh schedule cut.0.mpi
    # shellcheck disable=SC2154 # bats sets it
    [ "$stderr" = "hxmesh: error: cut.2.mpi: has no line of MPI_Finalize (the program was ended before, or the file was cut)" ]
    rm cut.2.mpi
    run -3 --separate-stderr hxmesh schedule cut.3.mpi
    [ "$stderr" = "hxmesh: error: cut.2.mpi: cannot be read: No such file or directory (each of the 4 ranks has a file)" ]
    run -0 --separate-stderr record 4 HXMESH_MPI_TRACE=/nowhere/x ./traced
    [[ "$output" == *" messages, "* ]]
    [[ "$stderr" == *"mpi-trace: error: /nowhere/x.0.mpi: cannot be written: No such file or directory"* ]]
}
