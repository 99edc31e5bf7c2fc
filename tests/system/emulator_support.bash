# emulator_support.bash - shared by command line tests of running fabrics.
# The program is $HXMESH (default build/hxmesh).

bats_require_minimum_version 1.5.0
load wait_support
load effort_support

HXMESH=$(realpath -m "${HXMESH:-build/hxmesh}")

# Every fabric of a test has its own name, to tell its objects from those of others.
NAMES=()
# The length is fixed, so no name is the beginning of another: tests search for names in output.
fresh_name() {
    printf -v NAME 'bats-%s-%05d' "$BASHPID" "$RANDOM"
    NAMES+=("$NAME")
    REPORT="$BATS_TEST_TMPDIR/report.json"
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR # where logs go
    CODE=
}

# Takes a new name, and changes into a folder of the test.
fresh_folder() {
    fresh_name
    cd "$BATS_TEST_TMPDIR" || return 1
}

# A failed test may leave a fabric behind.
end_started() {
    local name pid
    for name in "${NAMES[@]}"; do
        for pid in $(processes_of "$name"); do
            kill -KILL "$pid" 2>/dev/null || true
        done
        rm -f "/dev/shm/hxmesh-$name" "/dev/shm/hxmesh-$name".*
    done
}

hxmesh() { timeout --kill-after=5 600 "$HXMESH" "$@"; }

# The first core that commands may use.
first_core() { taskset --cpu-list --pid $$ | grep -oE '[0-9]+' | sed -n 2p; }

# report ARGUMENTS...: runs a fabric quietly; its report goes to $REPORT.
report() { hxmesh run "$@" --name "$NAME" --quiet --json - >"$REPORT"; }

# holds FILTER [ARGUMENTS OF JQ...]: whether the filter holds for the report in $REPORT; shows the report if not.
holds() {
    local filter=$1
    shift
    if ! jq --exit-status "$@" "$filter" "$REPORT" >/dev/null; then
        echo "does not hold: $filter"
        jq --compact-output 'if type == "object" then del(.links) else . end' "$REPORT" || cat "$REPORT"
        return 1
    fi
}

# All messages arrived unchanged and once; on a HammingMesh on its three VCs.
# shellcheck disable=SC2034 # for the tests
ARRIVED='.complete and (.interrupted | not) and .packets_lost == 0 and .bytes_corrupted == 0 and
       .buffers_missing == 0 and .messages_failed == 0 and .messages == .messages_begun and
       .packets_sent == .packets_delivered and .drops.foreign_job == 0'
# shellcheck disable=SC2034 # for the tests
WHOLE="$ARRIVED and .max_vc <= 2"

# begin COMMAND...: starts `hxmesh COMMAND...` in the background as process $PID, with the signals of a program started
# by hand and, if $GROUP is 1, in its own process group; its report goes to $REPORT.
begin() {
    local alone=()
    [ "${GROUP:-0}" -eq 0 ] || alone=(setsid)
    env --default-signal=INT,TERM,HUP,QUIT "${alone[@]}" "$HXMESH" "$@" --name "$NAME" --quiet --json - \
        >"$REPORT" 2>"$BATS_TEST_TMPDIR/stderr" 3>&- &
    PID=$!
}

# start ARGUMENTS...: starts to run a fabric.
start() { begin run "$@"; }

# finish: waits for $PID and puts its exit code into $CODE.
# shellcheck disable=SC2034 # for the tests
finish() {
    CODE=0
    wait "$PID" 2>/dev/null || CODE=$?
}

# end_long: ends the long run $PID, which has lost nothing.
end_long() {
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
    holds '.packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0'
    nothing_left "$NAME"
}

workers_of() { pgrep --parent "$1" hxmesh-w; }

# sleeps_long PROCESS: it falls asleep less than 2,000 times in a second: idle waits of 50 us would be some 10,000.
sleeps_long() {
    local before
    before=$(sleeps "$1")
    sleep 1 # measured over a second
    [ "$(($(sleeps "$1") - before))" -lt 2000 ]
}
sleeps() { awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$1/status"; }

has_workers() { [ "$(workers_of "$1" | wc -l)" -eq "$2" ]; }

# all_gone PROCESS...: none of them exists.
all_gone() {
    local pid
    for pid in "$@"; do
        [ ! -e "/proc/$pid" ] || [ "$(ps -o state= -p "$pid")" = Z ] || return 1
    done
}

# await_workers N: waits until the N workers of $PID exist.
await_workers() { eventually has_workers "$PID" "$1"; }

# is_so FILTER: whether the filter holds for all JSON of its input, and there is some: without input jq finds no error.
is_so() { jq --exit-status --slurp "length > 0 and all(.[]; $1)" >/dev/null; }

# await_traffic [N]: waits until the running fabric $NAME, or that of process $PID, has delivered N packets (1).
await_traffic() { eventually has_delivered "${1:-1}"; }
has_delivered() { [ "$(delivered)" -ge "$1" ]; }
# Number of delivered packets.
delivered() { hxmesh top "${NAME:-$PID}" --json - --count 1 --interval 100ms | jq .packets_delivered; }

# is_stopped PROCESS: by SIGSTOP.
is_stopped() { grep -q '^State:.T' "/proc/$1/status"; }

# Processes of the fabric NAME. Workers have the command line of their supervisor.
processes_of() { pgrep --full -- "--name $1( |\$)"; }

# nothing_left [NAME]: no shared memory and no process of this fabric.
nothing_left() {
    local name=${1:-$NAME}
    if [ -e "/dev/shm/hxmesh-$name" ]; then
        echo "left behind: /dev/shm/hxmesh-$name"
        return 1
    fi
    if processes_of "$name"; then
        echo "these processes of $name still run"
        return 1
    fi
}

# Teardown of tests that end all that they start: ends what is left, which is an error.
leave_nothing() {
    nothing_left || {
        end_started
        return 1
    }
}
