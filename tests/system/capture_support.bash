# capture_support.bash - shared by tests of `hxmesh verify`, `hxmesh trace` and the dissector: captures of the model in
# tests/support/support_capture.h, in $BATS_TEST_TMPDIR.

load tools_support

verify() { "$HXMESH-verify" --quiet "$@"; }
trace() { "$HXMESH-trace" --quiet "$@"; }

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# make_capture FILE [NAME=NUMBER...] [break=RULE]: see tests/system/make_capture.c.
make_capture() { "$(dirname "$HXMESH")/tests/system/make_capture" "$@"; }

# Skips the test unless all these programs exist.
needs() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || skip "$program is not installed"
    done
}
