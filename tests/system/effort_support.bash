# effort_support.bash - how much a command line test does: less in `make check` than in `make check-all`.

# few QUICK ALL: QUICK in `make check`, ALL in check-all and if bats is started by hand.
few() {
    if [ "${HX_WHICH:-}" = quick ]; then
        echo "$1"
    else
        echo "$2"
    fi
}
