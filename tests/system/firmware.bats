#!/usr/bin/env bats
# firmware.bats - what the firmware needs of each processor: the table of README.md is what the compilers say.

bats_require_minimum_version 1.5.0

TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

# agrees TARGETS: mk/firmware.sh's lines in the file `said` agree with the table of README.md, for so many targets.
agrees() {
    # "| TARGET | CODE | READ-ONLY | STATIC | FRAME | PATH |", thousands apart by a comma.
    awk '$1 == "|" && $2 ~ /^(host|aarch64|riscv64|cortex-)/ { gsub(/[|,]/, ""); print $1, $2, $3, $4, $5, $6 }' \
        README.md >"$BATS_TEST_TMPDIR/table"
    # A twentieth more or less is another version of a compiler, or a change that is worth no new table.
    awk -v wanted="$1" 'function near(a, b) { return a >= b * 0.95 && a <= b * 1.05 }
        NR == FNR { table[$1] = $0; next }
        $2 ~ /^[0-9]+$/ {
            targets++
            if (split(table[$1], t, " ") < 6 || !near(t[2], $2) || !near(t[3], $3) || t[4] != $4 || !near(t[5], $5) ||
                !near(t[6], $8)) {
                printf "README.md says \"%s\" of %s, it is %d %d %d %d %d\n", table[$1], $1, $2, $3, $4, $5, $8
                wrong = 1
            }
        }
        END { exit wrong || targets != wanted }' "$BATS_TEST_TMPDIR/table" "$BATS_TEST_TMPDIR/said"
}

@test "firmware: on this processor it needs nothing of a platform but two functions, and README.md has its size" {
    cd "$TOP"
    mk/firmware.sh "$BATS_TEST_TMPDIR/firmware" host >"$BATS_TEST_TMPDIR/said"
    cat "$BATS_TEST_TMPDIR/said"
    agrees 1
}

# bats test_tags=all
@test "firmware: on every processor it needs nothing of a platform but two functions, and README.md has its sizes" {
    for compiler in riscv64-unknown-elf-gcc arm-none-eabi-gcc aarch64-linux-gnu-gcc; do
        command -v "$compiler" >/dev/null || skip "$compiler is not installed"
    done
    cd "$TOP"
    nice mk/firmware.sh "$BATS_TEST_TMPDIR/firmware" >"$BATS_TEST_TMPDIR/said"
    cat "$BATS_TEST_TMPDIR/said"
    agrees 5
}
