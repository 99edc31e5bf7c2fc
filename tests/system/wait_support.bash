# wait_support.bash - how command line tests wait: for a condition, never for a time.

# eventually COMMAND...: waits until the command succeeds, for at most two minutes.
eventually() {
    local end=$((SECONDS + 120))
    while [ "$SECONDS" -le "$end" ]; do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.02
    done
    echo "never came true: $*"
    return 1
}
