#!/usr/bin/env bats
# soak.bats - mk/soak.sh finds no error in random fabrics for a while; it finds and reduces an error of a broken
# program.

setup() {
    soak=$BATS_TEST_DIRNAME/../../mk/soak.sh
}

# bats test_tags=all
@test "fabrics drawn from a seed keep every promise under both clocks" {
    run "$soak" "$BATS_TEST_TMPDIR" "$HXMESH" 25 "${HX_SEED:-1}"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output =~ soak:\ ([0-9]+)\ fabrics ]]
    [ "${BASH_REMATCH[1]}" -gt 0 ]
}

# $1: a filter that jq applies to reports of runs with the word $2 in their arguments.
lying_program() {
    lying=$BATS_TEST_TMPDIR/hxmesh
    cat >"$lying" <<END
#!/usr/bin/env bash
"$HXMESH" "\$@" || exit
case "\$*" in
run*"$2"*)
    report=\$(sed 's/.*--json \([^ ]*\).*/\1/' <<<"\$*")
    jq '$1' "\$report" >"\$report.lie" && mv "\$report.lie" "\$report"
    ;;
esac
END
    chmod +x "$lying"
}

@test "a lost packet is found, with its seed and a smaller command" {
    lying_program '.packets_lost = 1' '--message'
    run "$soak" "$BATS_TEST_TMPDIR/out" "$lying" 1 7
    echo "$output"
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == "seed 7: something is lost"* ]]
    [[ $output == *"hxmesh run 1x2\ Hx1Mesh "*"--message 1 "* ]]
    [[ $output != *"--planes"* && $output != *"--count"* ]]
}

# bats test_tags=all
@test "a report that depends on the number of workers is found" {
    lying_program '.seed = 99' '--workers 4'
    run "$soak" "$BATS_TEST_TMPDIR/out" "$lying" 1 7
    echo "$output"
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == "seed 7: another report with 4 workers than with 1" ]]
}
