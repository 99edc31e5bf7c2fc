#!/usr/bin/env bats
# firmware.bats - needs of the firmware on each processor: the table of README.md agrees with the compilers.

bats_require_minimum_version 1.5.0

TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

# agrees TARGETS: the file `said`, printed by mk/firmware.sh, has so many targets, and README.md has their sizes.
agrees() {
    cat "$BATS_TEST_TMPDIR/said"
    [ "$(grep -cE '^[a-z0-9-]+ +[0-9]+ ' "$BATS_TEST_TMPDIR/said")" -eq "$1" ]
    mk/firmware_page.sh check README.md <"$BATS_TEST_TMPDIR/said"
}

@test "firmware: on this processor it needs only two functions of a platform, and README.md has its size" {
    cd "$TOP"
    mk/firmware.sh "$BATS_TEST_TMPDIR/firmware" host >"$BATS_TEST_TMPDIR/said"
    agrees 1
}

# bats test_tags=all
@test "firmware: on every processor it needs only two functions of a platform, and README.md has its sizes" {
    for compiler in riscv64-unknown-elf-gcc arm-none-eabi-gcc aarch64-linux-gnu-gcc; do
        command -v "$compiler" >/dev/null || skip "$compiler is not installed"
    done
    cd "$TOP"
    nice mk/firmware.sh "$BATS_TEST_TMPDIR/firmware" >"$BATS_TEST_TMPDIR/said"
    agrees 5
}

@test "firmware: a size that differs from a page by more than a twentieth is reported, and written into it" {
    cd "$BATS_TEST_TMPDIR"
    printf 'host 81000 4278 0 1104 in f 1256 from g\nriscv64 1234567 4000 0 96 in f 128 from g\n' >said
    printf '%s\n' "before" "| host | 78,000 | 4,278 | 0 | 1,104 | 1,256 |" "| riscv64 | 80,000 | 4,000 | 0 | 96 | 128 |" "after" >page
    run ! "$TOP/mk/firmware_page.sh" check page <said
    [ "$output" = 'page says "| riscv64 | 80,000 | 4,000 | 0 | 96 | 128 |", it is "| riscv64 | 1,234,567 | 4,000 | 0 | 96 | 128 |" (make firmware-table)' ]
    "$TOP/mk/firmware_page.sh" write page <said
    "$TOP/mk/firmware_page.sh" check page <said
    [ "$(cat page)" = "before
| host | 81,000 | 4,278 | 0 | 1,104 | 1,256 |
| riscv64 | 1,234,567 | 4,000 | 0 | 96 | 128 |
after" ]
    # A target that is not on the page, and static data where the page has none.
    run ! "$TOP/mk/firmware_page.sh" check page <<<"avr 100 10 0 5 in f 6 from g"
    run ! "$TOP/mk/firmware_page.sh" check page <<<"host 81000 4278 4 1104 in f 1256 from g"
}
