# tools_support.bash - shared by command line tests of the hxmesh-VERB programs.
# The tools are beside $HXMESH (default build/hxmesh).

bats_require_minimum_version 1.5.0
load effort_support

HXMESH=$(realpath -m "${HXMESH:-build/hxmesh}")
export HXMESH

# own_programs VERB...: copies of these programs in bin/ of the test's folder, where beside() puts another `hxmesh`.
own_programs() {
    local verb
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir bin
    for verb in "$@"; do
        cp "$HXMESH-$verb" bin/
    done
}

# beside BODY: the script `hxmesh` of this test.
beside() {
    printf '#!/bin/bash\n%s\n' "$1" >bin/hxmesh
    chmod 755 bin/hxmesh
}

info() { "$HXMESH-info" "$@"; }
route() { "$HXMESH-route" "$@"; }
check() { "$HXMESH-check" "$@"; }

# json_holds FILTER: whether the jq filter holds for the JSON on stdin, which must not be empty.
json_holds() { jq --exit-status --null-input "input | ($1)" >/dev/null; }

# refused CODE LINE COMMAND...: the command ends with CODE, an empty stdout and exactly that error line on stderr.
refused() {
    local code=$1 line=$2
    shift 2
    run --separate-stderr "$@"
    # shellcheck disable=SC2154 # bats sets them
    if [ "$status" -ne "$code" ] || [ -n "$output" ] || [ "$stderr" != "hxmesh: error: $line" ]; then
        printf 'status %s, not %s\nstdout: %s\nstderr: %s\n' "$status" "$code" "$output" "$stderr"
        return 1
    fi
}
