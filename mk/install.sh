#!/usr/bin/env bash
# install.sh install|uninstall BUILD PREFIX LIBDIR - installs below PREFIX (behind $DESTDIR), or removes.
#
# LIBDIR is the folder of libraries below PREFIX: lib, or on Debian lib/x86_64-linux-gnu. One list serves both actions,
# so all that was installed is removed. hxmesh's own folders are removed when empty.
set -euo pipefail

action=$1 build=$2 prefix=$3 libdir=$4
to=${DESTDIR:-}$prefix

# put MODE FOLDER FILE...: installs files into a folder below PREFIX, or removes them from there.
put() {
    local mode=$1 folder=$to/$2 file
    shift 2
    [ "$action" = uninstall ] || [ $# -eq 0 ] || install -d "$folder"
    for file in "$@"; do
        if [ "$action" = install ]; then
            install -m "$mode" "$file" "$folder"
        else
            rm -f "$folder/${file##*/}"
        fi
    done
}

# shared FILE VERSION: installs a shared object as FILE.VERSION, with links of its first number and of none.
shared() {
    local name=${1##*/} link
    install -d "$to/$libdir"
    [ "$action" = uninstall ] || install -m 644 "$1" "$to/$libdir/$name.$2"
    for link in "$name.${2%%.*}" "$name"; do
        if [ "$action" = install ]; then ln -sf "$name.$2" "$to/$libdir/$link"; else rm -f "$to/$libdir/$link"; fi
    done
    [ "$action" = install ] || rm -f "$to/$libdir/$name.$2"
}

shopt -s nullglob
programs=()
for program in "$build"/hxmesh "$build"/hxmesh-*; do
    if [ -f "$program" ] && [ -x "$program" ]; then programs+=("$program"); fi
done
version=$(sed -n 's/^#define HXMESH_VERSION "\(.*\)"$/\1/p' lib/base/version.h)
pc=()
for name in hxmesh hxmesh-program hxmesh-sim; do
    pc+=("$build/$name.pc")
    sed -e "s|@PREFIX@|$prefix|" -e "s|@LIBDIR@|$libdir|" -e "s|@VERSION@|$version|" "mk/$name.pc.in" >"$build/$name.pc"
done
# unit FILE: makes a systemd unit that starts the installed program.
unit() {
    sed "s|/usr/local/bin|$prefix/bin|" "$1" >"$build/${1##*/}"
    echo "$build/${1##*/}"
}
node=
[ ! -x "$build/hxmesh-dpdk" ] || node=$(unit nodes/dpdk/hxmesh-dpdk@.service)

put 755 bin "${programs[@]}"
# Images are next to the program that starts them in QEMU.
put 644 bin "$build"/hx-node-*.elf
put 644 include/hxmesh include/hxmesh/*.h
put 644 "$libdir" "$build/libhxmesh.a" "$build/libhxmesh-program.a"
shared "$build/libhxmesh-sim.so" "$version"
# Of Debian's Python; elsewhere by PYTHONPATH, or `pip install ./python`.
put 644 lib/python3/dist-packages/hxmesh python/hxmesh/*.py python/hxmesh/py.typed
# libfabric finds it by FI_PROVIDER_PATH.
put 644 "$libdir/libfabric" "$build"/libhxmesh-fi.so
put 644 "$libdir/pkgconfig" "${pc[@]}"
put 644 lib/systemd/system ${node:+"$node"}
put 644 lib/systemd/user "$(unit fabric-emu/live/hxmesh@.service)"
put 644 share/man/man1 "$build"/man/man1/*.1
put 644 share/man/man5 "$build"/man/man5/*.5
put 644 share/bash-completion/completions tools/completion/hxmesh
put 644 share/doc/hxmesh README.md CONTRIBUTING.md CHANGELOG.md LICENSE
put 644 share/doc/hxmesh/docs docs/*.md docs/*.svg
put 644 share/hxmesh/firmware firmware/*.[ch]
put 644 share/hxmesh/hal hal/kit_user.h hal/polled.h hal/user.h
put 644 share/hxmesh/hal/cable hal/cable/*.[ch]
put 644 share/hxmesh/hal/loopback hal/loopback/*.[ch]
# For programs that read the counters of a running fabric and its topology.
put 644 "$libdir" "$build/libhxmesh-host.a"
put 644 share/hxmesh/lib/base lib/base/split_mix.h lib/base/error.h lib/base/value.h lib/base/input.h lib/base/lines.h
put 644 share/hxmesh/lib/topology lib/topology/*.[ch]
put 644 share/hxmesh/hal/conformance hal/conformance/Makefile hal/conformance/*.[ch]
put 644 share/hxmesh/wireshark tools/wireshark/*.lua
put 644 share/hxmesh/wireshark/profiles/HammingMesh tools/wireshark/profiles/HammingMesh/preferences
put 755 share/hxmesh/wireshark tools/wireshark/hxmesh-extcap
for folder in examples examples/*/; do
    folder=${folder%/}
    for file in "$folder"/*; do
        if [ -x "$file" ]; then mode=755; else mode=644; fi
        [ ! -f "$file" ] || put "$mode" "share/hxmesh/$folder" "$file"
    done
done

# Links of the documentation lead from docs/ to these, as in the source tree.
put 644 share/doc/hxmesh/nodes/dpdk nodes/dpdk/hxmesh-dpdk@.service
put 644 share/doc/hxmesh/fabric-emu/live fabric-emu/live/hxmesh@.service
for folder in examples lib; do
    if [ "$action" = install ]; then
        ln -sfn "../../hxmesh/$folder" "$to/share/doc/hxmesh/$folder"
    else
        rm -f "$to/share/doc/hxmesh/$folder"
    fi
done

if [ "$action" = uninstall ]; then
    for own in include/hxmesh share/doc/hxmesh share/hxmesh; do
        [ ! -d "$to/$own" ] || find "$to/$own" -depth -type d -empty -delete
    done
fi
