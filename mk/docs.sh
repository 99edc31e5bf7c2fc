#!/usr/bin/env bash
# docs.sh BUILD [PAGE] - prints docs/options.md from the programs in BUILD; without DPDK its node is left out. Of a PAGE
# it prints what it says, with each `<!-- keys of VERB -->` followed by the keys of that verb's report.
set -euo pipefail

build=$1
if [ $# -gt 1 ]; then
    while IFS= read -r line; do
        [ "$line" != '<!-- end of keys -->' ] || copies=1
        [ "${copies:=1}" = 0 ] || printf '%s\n' "$line"
        [[ $line =~ ^'<!-- keys of '(.*)' -->'$ ]] || continue
        printf '\n%s\n\n' "$("$build/hxmesh" "${BASH_REMATCH[1]}" --help=keys)"
        copies=0
    done <"$2"
    exit
fi
cat <<'END'
# Options and keys

Every option of every program and every key of its files, with range and default. `make docs` writes this page, from the tables
that the programs read their command lines and files by; `PROGRAM --help` and the manual pages are printed from the same.

How values are written, on the command line and in a file:

| Value | Written |
|---|---|
| number | `123`, `0x7f` |
| SIZE | `8192`, `4KiB`, `1MiB`, `2G`: K, M, G, T are KiB, MiB, GiB, TiB |
| TIME | `30s`, `500ms`, `2m`, `1.5h`, `10us`, `100ns`; a plain number is seconds |
| SHARE | `0.25` |
| HI,LO | `5,3`: the address of a host; an accelerator's is gx,gy, from the north-west corner eastward and southward |
| SPEC | `4x4 Hx2Mesh`: 4x4 boards of 2x2 accelerators; `3x2 H2x4Mesh`: 3x2 boards of 2 columns and 4 rows; `fat-tree hosts=64` and all that `hxmesh topologies` lists (docs/topologies.md) |
| on, off | as an option `--verify`, `--no-verify`; in a file `true`, `false`, `yes`, `no`, `on`, `off` |

Old names are read until the next version. Those of keys get a warning:

| Old | New | Of |
|---|---|---|
| `--pace`, `pace` | `--injection-rate`, `injection_rate` | `hxmesh run`, fabric files, figures of `hxmesh sweep` |
| `--nap`, `nap` | `--idle-wait`, `idle_wait` | `hxmesh-dpdk`, node files |
| `--perfetto` | `--timeline` | `hxmesh trace` |

END
"$build/hxmesh" --help=markdown
while read -r verb; do
    "$build/hxmesh" "$verb" --help=markdown
done < <("$build/hxmesh" --help=words)
[ ! -x "$build/hxmesh-dpdk" ] || "$build/hxmesh-dpdk" --help=markdown
