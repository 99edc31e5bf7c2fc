#!/usr/bin/env bash
# Incast on HammingMeshes, in messages over one link. Optima: by linear programs.
# seconds: 2
. docs/figures/common.bash
# times SPEC TARGET BYTES OPTION...: of a message over a link of 400 Gb/s.
times() {
    value ".seconds * 400e9 / 8 / .message_bytes" "$1" -t incast --target "$2" -m "$3" "${@:4}" | rounded 2
}

# line TITLE SPEC SHOWN TARGET LINKS MINIMAL NORTH_LAST all|short
line() {
    local long='' shallow=''
    [ "$8" = short ] || long=$(times "$2" "$4" 8MiB)
    [ "$8" = short ] || shallow=$(times "$2" "$4" 1MiB --buffer 192KiB)
    row "$1" "$3" "$5" "$6" "$7" "$(times "$2" "$4" 1MiB)" "$long" "$shallow"
}
head_of "" target "four links full" "minimal routes" north-last "\`-m 1MiB\`" "\`-m 8MiB\`" "1 MiB, \`--buffer 192KiB\`"
line "\`4x4 Hx1Mesh\`" "4x4 Hx1Mesh" any 0,0 3.75 3.75 3.75 short
line "\`2x2 Hx2Mesh\`" "2x2 Hx2Mesh" any 0,0 3.75 4.0 4.0 all
line "\`4x4 Hx2Mesh\`" "4x4 Hx2Mesh" any 0,0 15.75 24.0 24.0 short
line "\`2x2 Hx4Mesh\`" "2x2 Hx4Mesh" 0,0 0,0 15.75 17.5 18.5 all
line "" "2x2 Hx4Mesh" 2,2 2,2 15.75 17.5 22.5 all
line "\`3x3 Hx3Mesh\`" "3x3 Hx3Mesh" 0,0 0,0 20.0 24.0 24.0 all
line "" "3x3 Hx3Mesh" 1,1 1,1 20.0 20.0 20.0 short
