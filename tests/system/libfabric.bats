#!/usr/bin/env bats
# libfabric.bats - libfabric's programs and Open MPI's on the hosts of a fabric (program/libfabric/).

load emulator_support
load program_support

setup() {
    fresh_name
    [ -e "${HXMESH%/*}/libhxmesh-fi.so" ] || skip "the provider is not built: package libfabric-dev"
    command -v fi_pingpong >/dev/null || skip "fi_pingpong is missing: package libfabric-bin"
    export FI_PROVIDER_PATH=${HXMESH%/*} HXMESH_FABRIC=$NAME
}
teardown() { end_started; }

# pingpong ARGUMENTS...: fi_pingpong of two hosts with checked data; the output of the client is in $output.
pingpong() {
    local port=$((20000 + RANDOM % 10000))
    timeout 300 fi_pingpong -p hxmesh -e rdm -c -B "$port" "$@" >/dev/null 3>&- &
    local server=$!
    eventually listens "$port"
    run -0 timeout 300 fi_pingpong -p hxmesh -e rdm -c -P "$port" "$@" 127.0.0.1
    wait "$server"
}

listens() { grep -qi ":$(printf '%04x' "$1") 0*:0000 0A" /proc/net/tcp /proc/net/tcp6; }

# mpi RANKS PROGRAM...: a rank a host, over the provider only.
mpi() {
    local ranks=$1
    shift
    [ -x "${HXMESH%/*}/tests/mpi/everything" ] || skip "mpicc is missing: package libopenmpi-dev"
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 600 mpirun --oversubscribe -n "$ranks" \
        -x FI_PROVIDER_PATH -x HXMESH_FABRIC --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include hxmesh "$@" 3>&-
}

@test "libfabric: fi_info lists the provider exactly while a fabric is served" {
    run ! fi_info -p hxmesh
    serve "2x2 Hx2Mesh" --workers 1
    run -0 fi_info -p hxmesh
    [[ $output == *"provider: hxmesh"* && $output == *"type: FI_EP_RDM"* ]]
    end_serving
}

@test "libfabric: fi_pingpong exchanges checked messages of all sizes, with tags and without" {
    serve "2x2 Hx2Mesh" --workers 2
    pingpong -I 5 -S all
    [[ $output == *"1m "*"=5 "* ]]
    pingpong -I 5 -m tagged
    end_serving
    holds '.packets_delivered > 1000'
}

@test "libfabric: Open MPI: all sizes, probes, wildcards, unexpected and truncated messages, collectives, on 4 hosts" {
    serve "2x2 Hx2Mesh" --workers 2
    run -0 mpi 4 "${HXMESH%/*}/tests/mpi/everything" 1000000
    [ "$output" = "MPI: all right, 4 ranks" ]
    end_serving
    holds '.packets_delivered > 1000'
}

@test "libfabric: Open MPI runs on any other fabric by another spec, and reports a host that it cannot have" {
    serve "fat-tree hosts=2 radix=8" --workers 1
    run -0 mpi 2 "${HXMESH%/*}/tests/mpi/everything" 100000
    [ "$output" = "MPI: all right, 2 ranks" ]
    run mpi 3 "${HXMESH%/*}/tests/mpi/everything" 10
    [[ $output == *"hxmesh: error: libfabric provider: host 2 of fabric $NAME cannot be opened: No such file or directory"* ]]
    end_serving
}

@test "libfabric: each call that the provider does not have returns -FI_ENOSYS" {
    serve "2x2 Hx2Mesh" --workers 1
    run -0 timeout 120 "${HXMESH%/*}/tests/libfabric/absent"
    [ "$output" = "55 calls, 0 of them there" ]
    end_serving
}

@test "libfabric: without memory a call is refused, and accepted calls report their end" {
    serve "2x2 Hx2Mesh" --workers 1
    run -0 timeout 120 "${HXMESH%/*}/tests/libfabric/memory"
    [[ $output =~ ^([0-9]+)\ taken,\ [1-9][0-9]*\ refused,\ ([0-9]+)\ told$ ]]
    [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
    end_serving
}
