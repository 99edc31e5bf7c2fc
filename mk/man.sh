#!/usr/bin/env bash
# man.sh BUILD - writes manual pages of the programs in BUILD into BUILD/man; the programs print them.
set -euo pipefail

build=$1
man=$build/man
rm -rf "$man"
mkdir -p "$man/man1" "$man/man5"
"$build/hxmesh" --help=man >"$man/man1/hxmesh.1"
"$build/hxmesh" --help=fabric >"$man/man5/hxmesh-fabric.5"
while read -r verb; do
    "$build/hxmesh" "$verb" --help=man >"$man/man1/hxmesh-$verb.1"
done < <("$build/hxmesh" --help=words)
if [ -x "$build/hxmesh-dpdk" ]; then
    "$build/hxmesh-dpdk" --help=man >"$man/man1/hxmesh-dpdk.1"
fi
