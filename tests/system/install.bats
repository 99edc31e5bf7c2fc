# install.bats - what `make install` installs, for a user: library, headers, manuals, completion, sources for a port.

load tools_support

setup_file() {
    BUILD=$(dirname "$HXMESH")
    export BUILD PREFIX=/opt/hxmesh
    export DESTDIR=$BATS_FILE_TMPDIR/root
    export ROOT=$DESTDIR$PREFIX
    make --silent install BUILD="$BUILD" PREFIX="$PREFIX" DESTDIR="$DESTDIR"
    export PKG_CONFIG_PATH=$ROOT/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$DESTDIR
}

setup() {
    FABRIC=hxmesh-completion-$$
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() { rm -f "/dev/shm/$FABRIC"; }

@test "install: every verb runs from there and has a manual page without warnings" {
    [ "$("$ROOT/bin/hxmesh" info "1x1 Hx2Mesh" --json - | jq .accelerators)" = 4 ]
    for verb in "" $("$ROOT/bin/hxmesh" --help=words); do
        [ -s "$ROOT/share/man/man1/hxmesh${verb:+-$verb}.1" ] || { echo "no page: $verb"; return 1; }
    done
    if command -v groff; then
        for page in "$ROOT"/share/man/man?/*; do
            run groff -ww -man -Tutf8 -z "$page"
            [ -z "$output" ] || { echo "$page: $output"; return 1; }
        done
    fi
    grep -qF 'bytes of a message' "$ROOT/share/man/man1/hxmesh-run.1"
    grep -qF 'traffic.message' "$ROOT/share/man/man5/hxmesh-fabric.5"
}

@test "install: manual pages have examples, the exit codes of their verb, and references" {
    local man=$ROOT/share/man page
    for page in run sweep verify trace top capture send info route check reproduce replay; do
        grep -q '^\.SH EXAMPLES' "$man/man1/hxmesh-$page.1" || { echo "$page"; return 1; }
        grep -qE '^\.BR hxmesh\\-(run|route|check|sweep) ' "$man/man1/hxmesh-$page.1" || { echo "$page: no other"; return 1; }
    done
    grep -A1 '^\.B 1$' "$man/man1/hxmesh-verify.1" | grep -q 'a rule is broken'
    run ! grep -q '^\.B 1$' "$man/man1/hxmesh-info.1"
    # The sample of the page on files is a file.
    sed -n '/^\.nf/,/^\.fi/p' "$man/man5/hxmesh-fabric.5" | sed '1d;$d; s/\\-/-/g' >sample.hxm.yaml
    "$ROOT/bin/hxmesh" info sample.hxm.yaml | grep -q '^lab'
    # Files named by the pages exist.
    while read -r page; do
        [ -e "$ROOT/share/doc/hxmesh/$page" ] || { echo "$page"; return 1; }
    done < <(grep -ohE 'docs/[a-z-]+\.md' "$man"/man?/* | sort -u)
}

@test "install: a C program reads the counters of a fabric" {
    cat >reader.c <<END
#include "topology/metrics.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
    struct hx_metrics_head head;
    struct hx_metrics m;
    struct hx_fabric g;
    struct hx_problem problem;
    FILE *in = fopen(argv[argc - 1], "rb");
    if (!in || fseek(in, 0, SEEK_END) != 0)
        return 2;
    size_t bytes = (size_t)ftell(in);
    const void *base = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fileno(in), 0);
    if (base == MAP_FAILED || !hx_metrics_check(base, bytes, &head, &m, &g, &problem))
        return 1;
    printf("%s, %u links\n", head.fabric, head.links);
}
END
    local share=$ROOT/share/hxmesh/lib
    # shellcheck disable=SC2046 # flags are words
    gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$share" reader.c $(pkg-config --cflags --libs-only-L hxmesh) \
        -lhxmesh-host $(pkg-config --libs hxmesh) -lyaml -lm -o reader
    "$ROOT/bin/hxmesh" run "2x2 Hx2Mesh" --duration 20s --name "${FABRIC#hxmesh-}" --quiet >/dev/null &
    for _ in $(seq 100); do ! ./reader "/dev/shm/$FABRIC" >said 2>/dev/null || break; sleep 0.05; done
    kill -INT $!
    wait $! || true
    [ "$(cat said)" = "2x2 Hx2Mesh, 112 links" ] || { cat said; return 1; }
}

@test "install: each path that a Debian package takes is installed" {
    local -A made_of=([hxmesh-dpdk]=hxmesh-dpdk [hxmesh-mpi]=hxmesh-virtual-mpi [hxmesh-libfabric]=libhxmesh-fi.so)
    local list name pattern
    for list in "$BATS_TEST_DIRNAME"/../../mk/packaging/debian/*.files; do
        name=$(basename "$list" .files)
        [ -z "${made_of[$name]:-}" ] || [ -e "$BUILD/${made_of[$name]}" ] || continue # it was not built
        while read -r pattern; do
            pattern=${pattern#usr/}
            compgen -G "$ROOT/${pattern/#lib\/\*\//lib/}" || { echo "$name: no $pattern"; return 1; }
        done <"$list"
    done
}

@test "install: links of the documentation lead somewhere" {
    local page link
    for page in "$ROOT"/share/doc/hxmesh/*.md "$ROOT"/share/doc/hxmesh/docs/*.md; do
        while read -r link; do
            [ -e "$(dirname "$page")/$link" ] || { echo "$page: $link"; return 1; }
        done < <(grep -oE '\]\([^)#]+' "$page" | sed 's/^](//' | grep -v '^https\?:')
    done
}

@test "install: a C program finds library and headers by pkg-config" {
    [ "$(pkg-config --modversion hxmesh)" = "$("$ROOT/bin/hxmesh" --version | cut -d' ' -f2)" ]
    # shellcheck disable=SC2046 # flags are words
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror "$ROOT/share/hxmesh/examples/library/route.c" \
        $(pkg-config --cflags --libs hxmesh) -o route
    run ./route
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "64 accelerators, 80 nodes" ]
    [ "${lines[1]}" = "0,0 to 5,6: W N" ]
    [[ "${lines[3]}" =~ ^[0-9]+\ bytes\ on\ the\ wire,\ 5\ of\ payload\ for\ 5,6,\ CRC-32C\ [0-9a-f]{8}$ ]]
}

@test "install: a program that is a host links with pkg-config's flags of hxmesh-program" {
    cd "$BATS_TEST_TMPDIR"
    printf '#include <hxmesh/program.h>\n%s\n' 'int main(void) { struct hx_program *p; return hx_program_open(&p, "none", "0,0") == 0; }' >host.c
    # shellcheck disable=SC2046 # several words
    gcc -std=c11 host.c $(pkg-config --cflags --libs hxmesh-program) -o host
    ./host
}

@test "install: the libraries have every function of a header, except those that need a platform" {
    # Functions that need hal_port.h, and those compiled into their callers.
    local apart='hx_(endpoint_|switch_|detour_|(accelerator|router)_(step|pass|grant))'
    grep -ohE '^(int|bool|void|unsigned|size_t|uint32_t|struct [a-z_]+|enum [a-z_]+) \*?hx_[a-z0-9_]+\(' "$ROOT"/include/hxmesh/*.h |
        sed 's/($//; s/.*[ *]//' | grep -vE "^$apart" | sort -u >declared
    { nm --defined-only "$ROOT/lib/libhxmesh.a" "$ROOT/lib/libhxmesh-program.a" &&
        nm --dynamic --defined-only "$ROOT/lib/libhxmesh-sim.so"; } 2>/dev/null | awk '$2 == "T" { print $3 }' | sort -u >defined
    run comm -23 declared defined
    [ -z "$output" ] || { echo "not in a library: $output"; return 1; }
    [ "$(wc -l <declared)" -gt 40 ]
}

@test "install: every header compiles as C++ too, by itself and with the others" {
    command -v g++ || skip "no g++"
    for header in "$ROOT"/include/hxmesh/*.h; do
        case ${header##*/} in
        begin.h | end.h) continue ;;
        hal.h | memory.h) ;; # they declare nothing of hxmesh
        *) grep -q 'hxmesh/begin.h' "$header" && grep -q 'hxmesh/end.h' "$header" || { echo "no begin.h, end.h: $header" >&2; return 1; } ;;
        esac
        echo "#include <hxmesh/${header##*/}>"
    done >all.cc
    while read -r line; do
        echo "$line" >one.cc
        # shellcheck disable=SC2046 # flags are words
        g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only $(pkg-config --cflags hxmesh) one.cc
    done <all.cc
    echo 'int main() { return hx_crc32c(0, "123456789", 9) == 0xE3069283 ? 0 : 1; }' >>all.cc
    # shellcheck disable=SC2046 # flags are words
    g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror all.cc $(pkg-config --cflags --libs hxmesh) -o all
    ./all
}

@test "install: systemd accepts the unit of a fabric, which starts the installed program" {
    local unit=$ROOT/lib/systemd/user/hxmesh@.service
    grep -qx "ExecStart=$PREFIX/bin/hxmesh up \${FABRIC} --name %i --foreground \$OPTIONS" "$unit"
    command -v systemd-analyze >/dev/null || skip "no systemd-analyze"
    sed "s|$PREFIX/bin/hxmesh|$ROOT/bin/hxmesh|" "$unit" >hxmesh@.service
    XDG_RUNTIME_DIR=$PWD run systemd-analyze verify --user --man=no "./hxmesh@lab.service"
    [ "$status" -eq 0 ] && [ -z "$output" ] || { echo "$output"; return 1; }
}

# completes EXPECTED WORD...: completions of the last word, in one line.
completes() {
    local expected=$1 is
    shift
    is=$(bash -c 'source "$1"; shift; PATH=$1:$PATH; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hxmesh
        printf "%s\n" "${COMPREPLY[@]}" | LC_ALL=C sort | paste -sd" "' - \
        "$ROOT/share/bash-completion/completions/hxmesh" "$ROOT/bin" "$@")
    [ "$is" = "$expected" ] || { echo "$*: '$is', not '$expected'"; return 1; }
}

@test "install: completion knows verbs, options, words, files and the running fabrics" {
    touch some.hxm.yaml some.txt
    mkdir folder
    completes "replay reproduce" hxmesh rep
    completes "--hotspot" hxmesh run --hots
    completes "--no-restart" hxmesh run --no-re
    completes "uniform" hxmesh run -t uni
    completes "some.hxm.yaml some.txt" hxmesh run -t some
    completes "virtual" hxmesh sweep --clock vi
    completes "all-gather all-reduce all-to-all all-to-all-random" hxmesh run --traffic = all
    completes "some.hxm.yaml" hxmesh run some
    completes "folder/" hxmesh info fol
    completes "some.hxm.yaml some.txt" hxmesh verify some
    completes "fig10 fig11 fig12 fig13 fig15 fig17 fig7 fig8 fig9" hxmesh reproduce fig
    completes "hammingmesh/fig10 hammingmesh/fig11 hammingmesh/fig12 hammingmesh/fig13 hammingmesh/fig15 hammingmesh/fig17 hammingmesh/fig7 hammingmesh/fig8 hammingmesh/fig9" hxmesh reproduce hammingmesh/f
    completes "--json" hxmesh-info --js
    touch "/dev/shm/$FABRIC"
    completes "${FABRIC#hxmesh-}" hxmesh capture --name completion-$$
    completes "${FABRIC#hxmesh-}" hxmesh top completion-$$
}

# bats test_tags=all
@test "install: the installed kit tests a port" {
    cp -r "$ROOT/share/hxmesh/hal/loopback" mine
    run make --silent -f "$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=sourcedir hxmesh | sed "s|^|$DESTDIR|")/hal/conformance/Makefile" \
        PORT=mine OUT=out CFLAGS=-O0
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [[ "$output" == *"clauses of the contract tried, 0 broken" ]]
}

@test "install: uninstall leaves nothing" {
    local other=$BATS_TEST_TMPDIR/other
    cp -r "$DESTDIR" "$other"
    [ -x "$other$PREFIX/bin/hxmesh" ]
    cd "$BATS_TEST_DIRNAME/../.."
    DESTDIR=$other mk/install.sh uninstall "$BUILD" "$PREFIX" lib
    run find "$other" -type f
    [ -z "$output" ] || { echo "$output"; return 1; }
    [ ! -e "$other$PREFIX/share/hxmesh" ]
}

@test "install: a C program simulates a fabric by pkg-config hxmesh-sim" {
    cat >simulate.c <<END
#include <hxmesh/sim.h>
#include <stdio.h>
int main(void)
{
    char error[HX_SIM_TEXT];
    struct hx_sim_event e;
    struct hx_sim *f = hx_sim_open("2x2 Hx2Mesh", NULL, error);
    if (!f || hx_sim_send(f, 0, 9, 8192, 0, 0) != HX_SIM_OK || hx_sim_next(f, HX_SIM_NEVER, &e) != HX_SIM_EVENT)
        return 1;
    printf("host %u\n", e.host);
    hx_sim_close(f);
    return 0;
}
END
    # shellcheck disable=SC2046 # flags are words
    gcc -std=c11 -Wall -Wextra -Werror simulate.c $(pkg-config --cflags --libs hxmesh-sim) -o simulate
    [ "$(LD_LIBRARY_PATH=$ROOT/lib ./simulate)" = "host 9" ]
    [ "$(readlink "$ROOT/lib/libhxmesh-sim.so.0")" = "libhxmesh-sim.so.$(pkg-config --modversion hxmesh-sim)" ]
}
