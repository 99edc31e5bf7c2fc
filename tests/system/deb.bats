# deb.bats - the Debian packages of `make deb`: their content and dependencies, and that they work once installed.
#
# dpkg installs them into an empty root; the machine's libraries serve them. install.bats has what they are made of.

# bats file_tags=all

load tools_support

can_make() { command -v dpkg-gencontrol >/dev/null; }
can_install() { [ "$(id -u)" -eq 0 ]; }

setup_file() {
    can_make && can_install || return 0 # each test is skipped
    BUILD=$(dirname "$HXMESH")
    export BUILD DEBS=$BATS_FILE_TMPDIR/debs ROOT=$BATS_FILE_TMPDIR/root
    export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1 # quick to make
    make --silent install-parts BUILD="$BUILD"
    mk/deb.sh "$BUILD" "$DEBS" >"$BATS_FILE_TMPDIR/made"
    MULTIARCH=$(dpkg-architecture --query DEB_HOST_MULTIARCH)
    export MULTIARCH
    new_root
    to_root --install "$DEBS"/*.deb
}

setup() {
    can_make || skip "dpkg-gencontrol is not installed (package dpkg-dev)"
    can_install || skip "only root installs packages"
    HX=$ROOT/usr/bin/hxmesh
    cd "$BATS_TEST_TMPDIR" || return
}

new_root() {
    mkdir -p "$ROOT/var/lib/dpkg/info" "$ROOT/var/lib/dpkg/updates"
    touch "$ROOT/var/lib/dpkg/status"
}

# Their dependencies are not in that root.
to_root() {
    PATH=$PATH:/usr/sbin:/sbin dpkg --root="$ROOT" --log="$BATS_FILE_TMPDIR/log" --force-not-root --force-depends "$@" \
        >"$BATS_FILE_TMPDIR/dpkg" 2>&1 || { cat "$BATS_FILE_TMPDIR/dpkg"; return 1; }
}

files_of() { dpkg-deb --fsys-tarfile "$1" | tar --list | grep -v '/$' | sort; }

field() { dpkg-deb --field "$DEBS/$1"_*.deb "$2"; }

@test "deb: every package of mk/packaging/debian/control is built, with the program's version and for this machine" {
    local package
    [ "$(wc -l <"$BATS_FILE_TMPDIR/made")" -eq "$(grep -c '^Package:' "$BATS_TEST_DIRNAME/../../mk/packaging/debian/control")" ] ||
        [ ! -x "$HXMESH-dpdk" ] || [ ! -e "$BUILD/libhxmesh-fi.so" ]
    while read -r package; do
        [ -s "$package" ]
        [ "hxmesh $(dpkg-deb --field "$package" Version)" = "$("$HXMESH" --version)" ]
        [ "$(dpkg-deb --field "$package" Architecture)" = "$(dpkg --print-architecture)" ]
    done <"$BATS_FILE_TMPDIR/made"
}

@test "deb: they have the files of make install, each once, and the documents of a package" {
    make --silent -C "$BATS_TEST_DIRNAME/../.." install BUILD="$(cd "$BATS_TEST_DIRNAME/../.." && realpath "$BUILD")" \
        PREFIX=/usr LIBDIR="lib/$MULTIARCH" DESTDIR="$PWD/installed"
    (cd installed && find . ! -type d | sed -E '/^.\/usr\/share\/man/s/$/.gz/' | sort) >wanted
    for package in "$DEBS"/*.deb; do files_of "$package"; done | sort >there
    uniq --repeated there >twice
    [ ! -s twice ] || { cat twice; return 1; }
    grep -vE '^./usr/share/(doc/[^/]+/(copyright|changelog.gz)|lintian/overrides/[^/]+)$' there | diff wanted -
}

@test "deb: each path of the developers' package is installed" {
    while read -r path; do
        compgen -G "$ROOT/$path" || { echo "no $path"; return 1; }
    done <"$BATS_TEST_DIRNAME/../../mk/packaging/debian/libhxmesh-dev.files"
}

@test "deb: DPDK, MPI, libfabric and files for developers are separate packages" {
    ! grep -E '^\./usr/(include|lib/.*\.(a|so)$)|dpdk$' <(files_of "$DEBS"/hxmesh_*.deb) || return 1
    [[ "$(field hxmesh Depends)" == *libjansson4* ]]
    [[ "$(field hxmesh Depends)" != *librte* ]]
    [[ "$(field hxmesh Depends)" != *libfabric* ]]
    [[ "$(field hxmesh Depends)" != *openmpi* ]]
    ! ldd "$BUILD/hxmesh-virtual" | grep -q libmetis || [[ "$(field hxmesh Depends)" == *libmetis5* ]]
    [ "$(field libhxmesh-dev Depends)" = "libhxmesh-sim0 (= $(field libhxmesh-sim0 Version))" ]
    if [ -x "$HXMESH-dpdk" ]; then
        [[ "$(field hxmesh-dpdk Depends)" == *librte-ethdev* ]]
        grep -qx './usr/lib/systemd/system/hxmesh-dpdk@.service' <(files_of "$DEBS"/hxmesh-dpdk_*.deb)
    fi
    [ ! -e "$BUILD/hxmesh-virtual-mpi" ] || [[ "$(field hxmesh-mpi Depends)" == *libopenmpi3*"hxmesh (= "* ]]
    [ ! -e "$BUILD/libhxmesh-fi.so" ] || [[ "$(field hxmesh-libfabric Depends)" == *libfabric1* ]]
}

@test "deb: installed programs run: a fabric under both clocks, manual pages, the node" {
    [ "$("$HX" --version)" = "$("$HXMESH" --version)" ]
    "$HX" run "2x2 Hx2Mesh" -m 8KiB --quiet --json live.json >/dev/null
    "$HX" run "2x2 Hx2Mesh" -m 8KiB --clock virtual --quiet --json virtual.json >/dev/null
    jq -e '.complete and .packets_lost == 0 and .bytes_corrupted == 0 and .messages == 240' live.json virtual.json
    [ "$("$HX" info "1x1 Hx2Mesh" --json - | jq .accelerators)" = 4 ]
    gzip -dc "$ROOT/usr/share/man/man1/hxmesh-run.1.gz" | grep -qF 'bytes of a message'
    [ ! -x "$HXMESH-dpdk" ] || [ "$("$HX-dpdk" --version)" = "$("$HXMESH" --version)" ]
}

@test "deb: the unit starts the node from the path of the package" {
    [ -x "$HXMESH-dpdk" ] || skip "hxmesh-dpdk is not built: pkg-config finds no libdpdk (package libdpdk-dev)"
    local program
    program=$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' "$ROOT/usr/lib/systemd/system/hxmesh-dpdk@.service")
    [ -x "$ROOT$program" ]
    ! grep -rn /usr/local "$ROOT/usr/lib/systemd" || return 1
}

@test "deb: a program is built with the installed library, found by pkg-config" {
    export PKG_CONFIG_PATH=$ROOT/usr/lib/$MULTIARCH/pkgconfig PKG_CONFIG_SYSROOT_DIR=$ROOT
    # shellcheck disable=SC2046 # flags are words
    gcc -std=c11 "$ROOT/usr/share/hxmesh/examples/library/route.c" $(pkg-config --cflags --libs hxmesh) -o route
    ./route | grep -q '^64 accelerators'
}

@test "deb: libfabric finds the provider without configuration" {
    [ -e "$BUILD/libhxmesh-fi.so" ] || skip "the provider is not built: pkg-config finds no libfabric (package libfabric-dev)"
    command -v fi_info >/dev/null || skip "fi_info is not installed (package libfabric-bin)"
    local looks="/usr/lib/$MULTIARCH/libfabric"
    fi_info -e | grep -A3 '^# FI_PROVIDER_PATH' | grep -F "(default: $looks)"
    FI_PROVIDER_PATH=$ROOT$looks fi_info --list | grep -q '^hxmesh'
}

# bats test_tags=all
@test "deb: Python finds its package and the library" {
    cat >simulate.py <<'END'
import hxmesh
with hxmesh.Fabric("2x2 Hx2Mesh") as fabric:
    fabric.send(0, 9, 8192)
    print([event.host for event in fabric.events()], hxmesh.info("2x2 Hx2Mesh")["accelerators"])
END
    [ "$(HXMESH=$HX HXMESH_LIBRARY=$ROOT/usr/lib/$MULTIARCH/libhxmesh-sim.so.0 PYTHONDONTWRITEBYTECODE=1 \
        PYTHONPATH=$ROOT/usr/lib/python3/dist-packages python3 simulate.py)" = "[9, 0] 16" ]
    grep -q "libhxmesh-sim0 (= " <<<"$(field python3-hxmesh Depends)"
    grep -q libc6 <<<"$(field libhxmesh-sim0 Depends)"
}

@test "deb: the same tree makes the same bytes, and lintian finds no error" {
    (cd "$BATS_TEST_DIRNAME/../.." && mk/deb.sh "$BUILD" "$BATS_TEST_TMPDIR/again" >/dev/null)
    diff -r "$DEBS" again
    command -v lintian >/dev/null || skip "the same bytes; lintian is not installed (package lintian)"
    run lintian --fail-on error,warning "$DEBS"/*.deb
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

# All programs are built with the flags of these two. CURDIR is in what a compiler notes for debuggers.
@test "deb: a tree in another folder makes the same bytes" {
    local tree made=(build/plain/lib/base/error.o)
    command -v riscv64-unknown-elf-gcc >/dev/null && made+=(build/hx-node-riscv64.elf)
    for tree in here far/from/here; do
        mkdir -p "$tree"
        (cd "$BATS_TEST_DIRNAME/../.." && git ls-files -z | tar --null -T - -cf -) | tar -C "$tree" -xf -
        env -u MAKEFLAGS make --silent -C "$tree" -j2 BUILD=build CC=gcc "${made[@]}" >make.log
    done
    for file in "${made[@]}"; do cmp "here/$file" "far/from/here/$file"; done
}

@test "deb: the images are stripped" {
    command -v riscv64-unknown-elf-readelf >/dev/null || skip "no image is built: package gcc-riscv64-unknown-elf"
    run riscv64-unknown-elf-readelf --sections "$ROOT"/usr/bin/hx-node-*.elf
    [[ $output == *.text* && $output != *.debug_info* ]]
}

@test "deb: nothing is left when they are removed" {
    mapfile -t packages < <(dpkg-query --admindir="$ROOT/var/lib/dpkg" --show --showformat='${Package}\n')
    [ "${#packages[@]}" -gt 1 ]
    to_root --purge "${packages[@]}"
    run find "$ROOT" -path "$ROOT/var" -prune -o ! -type d -print
    [ -z "$output" ] || { echo "$output"; return 1; }
}
