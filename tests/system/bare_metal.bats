#!/usr/bin/env bats
# shellcheck disable=SC2030,SC2031,SC2154 # what a test sets is meant for that test alone; `run` sets stderr
# bare_metal.bats - accelerators that are images without an operating system in QEMU: a fabric starts them, sends
# through them, restarts killed ones, and leaves none behind.

load emulator_support

EXAMPLES="$BATS_TEST_DIRNAME/../../examples/bare-metal"
IMAGE="${HXMESH%/*}/hx-node-riscv64.elf"
# Starts a machine with the image by hand, with the file `text` as its configuration.
MACHINE=(qemu-system-riscv64 -bios none -display none -nodefaults -monitor none -serial stdio -kernel "$IMAGE")
TOLD=(-device 'loader,addr=0x86000000,force-raw=on,file=text')

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    fresh_name
}

teardown() { end_started; }

needs_qemu() {
    [ -e "$IMAGE" ] || skip "no image: its compiler is not installed (package gcc-riscv64-unknown-elf)"
    command -v qemu-system-riscv64 >/dev/null || skip "no QEMU (package qemu-system-misc)"
}

machines_of() { pgrep --parent "$1" qemu; }

# says CODE TEXT: the run ended with this code and one error line.
says() {
    [ "$CODE" -eq "$1" ]
    [ "$(grep -c '^hxmesh: error: ' "$BATS_TEST_TMPDIR/stderr")" -eq 1 ]
    grep -q -- "^hxmesh: error: $2" "$BATS_TEST_TMPDIR/stderr"
    nothing_left
}

@test "bare metal: four images and twelve emulated accelerators agree on every message" {
    needs_qemu
    start "$EXAMPLES/qemu.hxm.yaml" --workers 2
    eventually [ -e "/dev/shm/hxmesh-$NAME" ]
    eventually top_ends
    finish
    [ "$CODE" -eq 0 ]
    holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .messages_failed == 0 and .messages == 912 and
        .buffers_missing == 0 and .external.to.messages == 192 and .external.from.messages == 192'
    # 4 messages with each of 15 others, 12 of them emulated; 8 packets a message.
    holds '.external.machines | length == 4 and all(.messages_sent == 60 and .messages_received == 60 and
        .packets_delivered == 480 and .bytes_delivered == 3932160 and .bytes_corrupted == 0 and .messages_failed == 0 and
        .starts == 1 and .idle == 1)'
    # hxmesh top shows the receipts of all 16.
    [ "$(tail -n 1 top.json | jq .messages)" -eq $((16 * 15 * 4)) ]
    nothing_left
}
top_ends() { hxmesh top "$NAME" --json top.json --interval 200ms; }

# bats test_tags=all
@test "bare metal: a killed image is restarted and takes part; the capture of all of it is good" {
    needs_qemu
    run --separate-stderr timeout 600 "$EXAMPLES/qemu.sh" 8
    echo "$stderr"
    [ "$status" -eq 0 ]
    grep -q 'a1,1/p0: its machine (process [0-9]*) was killed by signal 9; it is started again' <<<"$stderr"
    grep -q 'run.pcapng: good' <<<"$stderr"
}

# bats test_tags=all
@test "bare metal: images of several harts lose nothing, also if one is killed and restarted" {
    needs_qemu
    local harts=2
    while IFS= read -r line; do # 2, 3, 4 and 5 of them
        [[ $line == *'node: qemu'* ]] && line=${line/node: qemu/node: qemu, harts: $((harts++))}
        printf '%s\n' "$line"
    done <"$EXAMPLES/qemu.hxm.yaml" >harts.hxm.yaml
    start harts.hxm.yaml --duration 4s
    await_traffic 100
    mapfile -t machines < <(machines_of "$PID")
    kill -KILL "${machines[0]}"
    finish
    [ "$CODE" -eq 0 ]
    holds '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .messages_failed == 0 and
        ([.external.machines[].harts] | sort == [2, 3, 4, 5]) and ([.external.machines[].starts] | sort == [1, 1, 1, 2]) and
        (.external.machines | all(.packets_sent > 0 and .messages_received > 0 and .bytes_corrupted == 0))'
    nothing_left
}

@test "bare metal: kill -9 of the supervisor takes its machines with it" {
    needs_qemu
    start "$EXAMPLES/qemu.hxm.yaml" --duration 60s
    await_traffic
    mapfile -t machines < <(machines_of "$PID")
    [ "${#machines[@]}" -eq 4 ]
    mapfile -t workers < <(workers_of "$PID")
    kill -KILL "$PID"
    finish
    eventually all_gone "${machines[@]}" "${workers[@]}"
    hxmesh clean >/dev/null
    nothing_left
}

@test "bare metal: SIGINT drains, and collects the images' last lines" {
    needs_qemu
    start "$EXAMPLES/qemu.hxm.yaml" --duration 60s
    await_traffic 100
    mapfile -t machines < <(machines_of "$PID")
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
    holds '.packets_lost == 0 and .bytes_corrupted == 0 and .buffers_missing == 0 and
        (.external.machines | all(.packets_sent > 0 and .bytes_corrupted == 0 and .starts == 1))'
    all_gone "${machines[@]}"
    nothing_left
}

@test "bare metal: an image without its configuration panics with the place, and ends its machine" {
    needs_qemu
    local machine=(timeout 120 "${MACHINE[@]}" -M virt -m 100M)
    run "${machine[@]}"
    [ "$status" -eq 1 ]
    grep -q '^panic: nodes/bare/config.c:[0-9]*: its configuration is not complete' <<<"$output"
    # An image with impossible configuration or unknown devices does not continue either.
    machine+=("${TOLD[@]}")
    printf 'fabric 2 2 2 2 1 64 1\nat 0 9 0\n' >text
    run "${machine[@]}"
    [ "$status" -eq 1 ]
    grep -q '^panic: nodes/bare/config.c:[0-9]*: its configuration has a number 9 where 3 is the most' <<<"$output"
    printf 'fabric 2 2 2 2 1 64 1\nat 0 0 0\ncredits 64\nrandom 1 2 3\nwait 2 1 3 1 1\n' >text
    run "${machine[@]}" -device virtio-net-device,bus=virtio-mmio-bus.0
    [ "$status" -eq 1 ]
    grep -q '^panic: hal/riscv-virt/virtio_net.c:[0-9]*: virtio-mmio of version 1, 2 is needed' <<<"$output"
}

# Runs an image with a configuration and a legacy network device, which it panics about if it finds it.
# with_tree QEMU-ARGUMENT...
with_tree() {
    printf 'fabric 2 2 2 2 1 64 1\nat 0 0 0\ncredits 64\nrandom 1 2 3\nwait 2 1 3 1 1\n' >text
    printf q >quits
    run timeout 120 "${MACHINE[@]}" -m 128M "${TOLD[@]}" "$@" <quits
}

@test "bare metal: an image takes devices and memory from the device tree, and reports what is missing" {
    needs_qemu
    local old=(-device "virtio-net-device,bus=virtio-mmio-bus.0")
    qemu-system-riscv64 -M virt,dumpdtb=virt.dtb -m 128M -bios none -display none >/dev/null 2>&1
    with_tree -M virt -dtb virt.dtb "${old[@]}"
    [ "$status" -eq 1 ]
    grep -q '^panic: hal/riscv-virt/virtio_net.c:[0-9]*: virtio-mmio of version 1, 2 is needed' <<<"$output"
    # renamed FROM TO: replaces FROM by TO of the same length, everywhere in the tree.
    renamed() {
        LC_ALL=C sed "s/$1/$2/g" virt.dtb >other.dtb
        cmp -s virt.dtb other.dtb && return 1
        with_tree -M virt -dtb other.dtb "${old[@]}"
    }
    renamed virtio,mmio virtio,none # a missing device is not touched
    [ "$status" -eq 0 ]
    grep -q '^ready a0,0/p0' <<<"$output"
    renamed ns16550a ns16550b
    [ "$status" -eq 1 ]
    grep -q '^panic: hal/riscv-virt/parts.c:[0-9]*: the device tree has no ns16550a' <<<"$output"
    renamed timebase-frequency timebase-frequence
    [ "$status" -eq 1 ]
    grep -q '^panic: hal/riscv-virt/parts.c:[0-9]*: the device tree has no frequency of the timer' <<<"$output"
    # More memory than it needs, and less.
    with_tree -M virt -m 300M
    [ "$status" -eq 0 ]
    with_tree -M virt -m 90M
    [ "$status" -eq 1 ]
    grep -q '^panic: hal/riscv-virt/board.c:[0-9]*: memory ends at 85a00000, before the text of the image at 86000000' <<<"$output"
}

# hangs HARTS HART: an image with so many harts, one of which hangs; its output is in `said`.
hangs() {
    timeout 300 "${MACHINE[@]}" -M virt -smp "$1" -m 100M "${TOLD[@]}" <console >said 2>&1 3>&- &
    PID=$!
    exec 4>console
    eventually grep -q "^state .* harts=$1" said
    printf '%s' "$2" >&4
    finish
    exec 4>&-
    [ "$CODE" -eq 1 ]
}

# bats test_tags=all
@test "bare metal: the watchdog ends an image with a hanging loop, on any hart" {
    needs_qemu
    printf 'fabric 2 2 2 2 1 64 1\nat 0 0 0\ncredits 64\nrandom 1 2 3\nwait 2 1 3 1 1\n' >text
    mkfifo console
    hangs 1 0
    grep -q '^panic: hal/riscv-virt/board.c:[0-9]*: the watchdog was not served: the image hangs at 8[0-9a-f]*' said
    hangs 3 2
    grep -q '^panic: hart 2: hal/riscv-virt/board.c:[0-9]*: the watchdog was not served: the image hangs at 8[0-9a-f]*' said
}

# survives_frames N HARTS: an image with so many harts gets so many invalid frames and counts them.
survives_frames() {
    run timeout 600 "$(dirname "$HXMESH")/tests/system/prod_image" "$1" "${MACHINE[@]}" -M virt -m 100M -smp "$2" \
        -global virtio-mmio.force-legacy=false "${TOLD[@]}"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output != *panic* ]]
    [ "${lines[-1]}" = "answered 1" ]
    # The last numbers: more than half of the frames had foreign types, and none was taken for a packet.
    [[ "$(grep '^stat ' <<<"$output" | tail -n 1)" =~ packets_delivered=0.*bytes_corrupted=0\ hops=0.*drops_malformed=([0-9]+) ]]
    [ "${BASH_REMATCH[1]}" -ge $(($1 / 4)) ]
}

@test "bare metal: invalid frames are counted, and end nothing" {
    needs_qemu
    printf 'fabric 2 2 2 2 1 64 1\nat 1 1 0\ncredits 64\nrandom 1 2 3\nwait 1000 250 4000 16 40000\n' >text
    survives_frames 20000 1
    survives_frames 5000 3
}

# bats test_tags=all
@test "bare metal: an image's cables are quiet while no messages are sent" {
    needs_qemu
    # A message of each accelerator in 20 s: a packet now and then. Credit frames every 0.1 ms for 3 s were 30,000 on
    # each cable.
    start "$EXAMPLES/qemu.hxm.yaml" --count 0 --duration 3s --message 4MiB --rate 1e-6
    finish
    [ "$CODE" -eq 0 ]
    holds '.packets_lost == 0 and .bytes_corrupted == 0 and
        all(.external.cables[]; .credits_in > 10 and .credits_in < 3000 and .credits_out < 3000)'
    nothing_left
}

# bats test_tags=all
@test "bare metal: with one credit frame in ten to an image lost, nothing else is lost" {
    needs_qemu
    sed 's/node: qemu/node: qemu, lose_credits: 10/' "$EXAMPLES/qemu.hxm.yaml" >lossy.hxm.yaml
    start lossy.hxm.yaml
    finish
    [ "$CODE" -eq 0 ]
    holds '.packets_lost == 0 and .bytes_corrupted == 0 and .messages == 912 and all(.external.cables[]; .credits_lost > 0) and
        (.external.machines | all(.messages_received == 60 and .bytes_corrupted == 0))'
    nothing_left
}

@test "bare metal: a line of numbers cut off by its machine's end is ignored" {
    [ -e "$IMAGE" ] || skip "no image: its compiler is not installed (package gcc-riscv64-unknown-elf)"
    mkdir path
    cat >path/qemu-system-riscv64 <<'END'
#!/bin/sh
printf 'ready a0,0/p0\nstat hops=1234\nstate stack=777\nstat hops=56'
echo >"said.$$"
exec sleep 60
END
    chmod +x path/qemu-system-riscv64
    all_said() { [ "$(find . -name 'said.*' | wc -l)" -eq 4 ]; }
    PATH="$PWD/path:$PATH" start "$EXAMPLES/qemu.hxm.yaml"
    eventually all_said
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
    holds '.external.machines | length == 4 and all(.hops == 1234 and .stack == 777)'
    nothing_left
}

@test "bare metal: machines that end before they are ready end the run, and so does a missing QEMU" {
    [ -e "$IMAGE" ] || skip "no image: its compiler is not installed (package gcc-riscv64-unknown-elf)"
    mkdir path
    printf '#!/bin/sh\necho nothing works\nexit 7\n' >path/qemu-system-riscv64
    chmod +x path/qemu-system-riscv64
    PATH="$PWD/path:$PATH" start "$EXAMPLES/qemu.hxm.yaml"
    finish
    says 1 'a[0-9],[0-9]/p0: its machine ended 3 times in a row before it was ready: it is not started again'
    grep -q '^hxmesh: warning: a1,1/p0: nothing works$' stderr
    grep -q '^hxmesh: warning: a1,1/p0: its machine (process [0-9]*) ended with code 7' stderr
    # A machine that floods its output and never reads does not delay the end either.
    printf '#!/bin/sh\nexec yes\n' >path/qemu-system-riscv64
    PATH="$PWD/path:$PATH" start "$EXAMPLES/qemu.hxm.yaml"
    eventually grep -q 'what it says more is not shown' stderr
    kill -INT "$PID"
    finish
    [ "$CODE" -eq 130 ]
    [ "$(grep -c 'a1,1/p0: y' stderr)" -eq 100 ]
    nothing_left
    rm path/qemu-system-riscv64
    ln -s "$(command -v env)" path
    PATH="$PWD/path" start "$EXAMPLES/qemu.hxm.yaml"
    finish
    says 4 'a1,1/p0: qemu-system-riscv64 cannot be started: No such file or directory (package qemu-system-misc)'
}

# refused FILE-LINE... : the fabric file with these lines below `external:` is refused with $stderr.
refused() {
    printf 'fabric: 2x2 Hx2Mesh\nplanes: 2\nexternal:\n' >bad.hxm.yaml
    printf '  - %s\n' "$@" >>bad.hxm.yaml
    run -3 --separate-stderr hxmesh run bad.hxm.yaml --name "$NAME"
}

@test "bare metal: errors about images in a file name their place" {
    refused '{at: [1, 1], node: qemu, ports: {E: memif:e.sock}}'
    [[ $stderr == "hxmesh: error: bad.hxm.yaml:4:"*"an image in QEMU has all its cables (without ports)" ]]
    refused '{at: [1, 1]}'
    [[ $stderr == "hxmesh: error: bad.hxm.yaml:4:"*"key 'ports' is missing (its cables, or node: qemu)" ]]
    refused '{at: [1, 1], node: qemu}' '{at: [1, 1], plane: 1, node: qemu}'
    [[ $stderr == *"accelerator 1,1 is an image in QEMU, which is there in one plane only" ]]
    refused '{at: [1, 1], ports: {E: qemu:e}}'
    [[ $stderr == *"'qemu:e' is no cable (memif:SOCKET, veth:INTERFACE or tap:INTERFACE)" ]]
    refused '{at: [1, 1], node: bochs}'
    [[ $stderr == "hxmesh: error: bad.hxm.yaml:4:"* ]]
    printf 'fabric: 2x2 Hx2Mesh\nexternal:\n  - {at: [1, 1], node: qemu}\n' >drawn.hxm.yaml
    run -3 --separate-stderr hxmesh run drawn.hxm.yaml --name "$NAME" --traffic uniform --count 1000
    [[ $stderr == "hxmesh: error: a1,1/p0: an image in QEMU sends at most 4096 messages"* ]]
    nothing_left
}
