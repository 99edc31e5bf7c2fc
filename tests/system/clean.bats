# asan
# clean.bats - hxmesh clean, in a private /dev/shm, which holds only the objects of the test. An unlocked object stands
# for one of a killed run; real runs and kills are in signals.bats.

load emulator_support

setup() {
    unshare --mount mount -t tmpfs tmpfs /dev/shm 2>/dev/null ||
        skip "this user may not give a process a /dev/shm of its own (unshare --mount)"
}

# alone COMMANDS: runs shell commands with an empty /dev/shm; $1 is the program.
alone() {
    # shellcheck disable=SC2154 # bats sets them
    run --separate-stderr unshare --mount bash -c "mount -t tmpfs tmpfs /dev/shm || exit 99
        $1" - "$HXMESH"
    echo "status $status; stdout: $output; stderr: $stderr"
}

LEFT='head -c 5000 /dev/zero >/dev/shm/hxmesh-left; head -c 70000 /dev/zero >/dev/shm/hxmesh-old'
HELD='head -c 300 /dev/zero >/dev/shm/hxmesh-held
exec 5</dev/shm/hxmesh-held
flock --exclusive 5'

@test "clean: nothing to clean" {
    # shellcheck disable=SC2016 # for the inner shell
    alone '"$1" clean'
    [ "$status" -eq 0 ]
    [ "$output" = "nothing to clean" ]
    [ -z "$stderr" ]
    # shellcheck disable=SC2016 # for the inner shell
    alone '"$1" clean --json -'
    [ "$status" -eq 0 ]
    [ "$(jq --compact-output . <<<"$output")" = "[]" ]
}

@test "clean: objects planted by others stay, and a fabric of that name reports them" {
    # A folder, a link, a socket that must not be taken for a fabric; an attach socket of another user.
    # shellcheck disable=SC2016 # for the inner shell
    alone 'mkdir /dev/shm/hxmesh-folder; ln -s /etc/passwd /dev/shm/hxmesh-link
        python3 -c "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(\"/dev/shm/hxmesh-socket\")"
        cp -a /dev/shm/hxmesh-socket /dev/shm/hxmesh-other.door; chown 1234 /dev/shm/hxmesh-other.door
        "$1" clean
        for name in folder link socket; do "$1" run "1x1 Hx1Mesh" --name $name; echo $?; done; true'
    [ "$output" = "nothing to clean
4
4
4" ]
    for name in folder link socket; do
        grep -qxF "hxmesh: error: $name: /dev/shm/hxmesh-$name is not a file of this user (choose another --name)" <<<"$stderr"
    done
}

@test "clean: removes unlocked objects, and reports their size" {
    # shellcheck disable=SC2016 # for the inner shell
    alone "$LEFT"'; "$1" clean | sort; ls -A /dev/shm'
    [ "$status" -eq 0 ]
    [ "$output" = "removed /dev/shm/hxmesh-left (5000 bytes)
removed /dev/shm/hxmesh-old (70000 bytes)" ]
    [ -z "$stderr" ]
}

@test "clean: keeps locked objects and those of other programs" {
    # shellcheck disable=SC2016 # for the inner shell
    alone "$LEFT; $HELD"'
        touch /dev/shm/other /dev/shm/my-hxmesh-1
        "$1" clean --json - && ls -A /dev/shm'
    [ "$status" -eq 0 ]
    [ "$(tail -n 3 <<<"$output" | xargs)" = "hxmesh-held my-hxmesh-1 other" ]
    jq --exit-status 'sort_by(.name) == [
        {"name": "hxmesh-held", "bytes": 300, "removed": false},
        {"name": "hxmesh-left", "bytes": 5000, "removed": true},
        {"name": "hxmesh-old", "bytes": 70000, "removed": true}]' <<<"${output%]*}]"
}

@test "clean: a second time finds nothing" {
    # shellcheck disable=SC2016 # for the inner shell
    alone "$LEFT"'; "$1" clean --quiet && "$1" clean'
    [ "$status" -eq 0 ]
    [ "$output" = "nothing to clean" ]
}

@test "clean: a report that cannot be written ends with 4" {
    # shellcheck disable=SC2016 # for the inner shell
    alone '"$1" clean --json /dev/shm/none/report.json'
    [ "$status" -eq 4 ]
    [ -z "$output" ]
    [ "$stderr" = "hxmesh: error: /dev/shm/none/report.json: cannot be written: No such file or directory" ]
}

@test "clean: takes no argument" {
    # shellcheck disable=SC2016 # for the inner shell
    alone '"$1" clean all'
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [[ "$stderr" == "hxmesh: error: all: "* ]]
}
