# old_names.bats - names of the version before are read, with a line that has the new one (base/old_names.h).

load capture_support

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

@test "old names: a fabric file may have the old name of a key" {
    printf 'fabric: 1x1 Hx2Mesh\nclock: virtual\npace: 0.25\n' >old.hxm.yaml
    sed 's/pace/injection_rate/' old.hxm.yaml >new.hxm.yaml
    run --separate-stderr "$HXMESH" run old.hxm.yaml --quiet --json old.json
    [ "$status" -eq 0 ]
    [ "$stderr" = "hxmesh: warning: old.hxm.yaml:3:1: 'pace' is the old name of 'injection_rate'; the next version reads only that" ]
    run --separate-stderr "$HXMESH" run new.hxm.yaml --quiet --json new.json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    json_holds '.injection_rate == 0.25 and .settings["injection-rate"] == 0.25 and (has("pace") or (.settings | has("pace")) | not)' <old.json
    [ "$(jq 'del(.host)' old.json)" = "$(jq 'del(.host)' new.json | sed 's/new\.hxm/old.hxm/')" ]
    # Not both, and only where such a key belongs.
    printf 'injection_rate: 0.5\n' >>old.hxm.yaml
    refused 3 "old.hxm.yaml:3:1: 'pace' is the old name of 'injection_rate', which is there too" "$HXMESH" run old.hxm.yaml
    printf 'fabric: 1x1 Hx2Mesh\nnap: 1us\n' >other.hxm.yaml
    refused 3 "other.hxm.yaml:2:1: unknown key 'nap' (did you mean 'name'?)" "$HXMESH" run other.hxm.yaml
}

@test "old names: a sweep knows a figure by its old name" {
    run --separate-stderr "$HXMESH" sweep "2x1 Hx1Mesh" --clock virtual -m 1KiB --pace 0.2,0.4 --y pace --columns pace --json s.json
    [ "$status" -eq 0 ]
    [ "$stderr" = "hxmesh: warning: --y: 'pace' is the old name of 'injection_rate'; the next version reads only that" ]
    [[ $output == *injection_rate* ]]
    json_holds 'map([.injection_rate, .["injection-rate"]]) == [[0.2, 0.2], [0.4, 0.4]]' <s.json
}

@test "old names: options" {
    make_capture run.pcapng
    trace run.pcapng --perfetto old.json >/dev/null
    trace run.pcapng --timeline new.json >/dev/null
    cmp old.json new.json
}
