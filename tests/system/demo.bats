# asan
# demo.bats - hxmesh demo: the first command of a new user.

load emulator_support

@test "demo: runs, verifies, shows" {
    run --separate-stderr hxmesh demo
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "$(grep -c '^== ' <<<"$output")" -eq 4 ]
    [[ "$output" == *"4x4 Hx2Mesh: 64 accelerators"* ]]
    [[ "$output" == *"4032 of 4032 delivered, 0 given up, all acknowledged"* ]]
    [[ "$output" == *" 0 lost, "* ]]
    [[ "$output" == *"every byte checked, 0 corrupted"* ]]
    [ "$(grep -c "sha-256 $(sha256sum "$HXMESH" | cut -d ' ' -f 1)  a.* identical" <<<"$output")" -eq 63 ]
    [[ "$output" == *"63 of 63 identical, 0 bytes differ"* ]]
    [[ "$output" != *$'\e'* ]]
}

@test "demo: takes no argument" {
    run --separate-stderr hxmesh demo more
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [[ "$stderr" == "hxmesh: error: "* ]]
}
