# program_support.bash - what tests of programs as hosts share; emulator_support.bash is loaded before.

# serve SPEC [ARGUMENTS...]: begins to serve a fabric, and waits until its hosts can be opened.
serve() {
    begin serve "$@"
    eventually test -S "/dev/shm/hxmesh-$NAME.door"
}

# end_serving: it is told to end, has lost nothing, and leaves nothing.
end_serving() {
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 0 ]
    holds '.packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0'
    nothing_left "$NAME"
    [ -z "$(compgen -G "/dev/shm/hxmesh-$NAME.*")" ]
}
