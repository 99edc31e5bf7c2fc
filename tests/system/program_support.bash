# program_support.bash - shared by tests of programs as hosts; emulator_support.bash is loaded before.

# serve SPEC [ARGUMENTS...]: starts to serve a fabric, and waits until its hosts can be opened.
serve() {
    begin serve "$@"
    eventually test -S "/dev/shm/hxmesh-$NAME.door"
}

# end_serving: ends it; it has lost nothing, and leaves nothing behind.
end_serving() {
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 0 ]
    holds '.packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0'
    nothing_left "$NAME"
    [ -z "$(compgen -G "/dev/shm/hxmesh-$NAME.*")" ]
}
