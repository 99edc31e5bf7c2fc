#!/usr/bin/env bash
# docs-figures.sh [--check] [NAME...] - draws measured figures of the documentation again, or compares them.
#
# docs/figures/NAME.sh prints a table, or for NAME.svg a picture, by programs of $BUILD (build). A page has the table
# between these two lines; a picture is docs/NAME.svg:
#
#     <!-- figure: NAME -->
#     <!-- end of figure -->
#
# Without --check files change, with it differences are printed, and the exit code is 1 if there are any. A line
# "# seconds: N" of a script says what it takes on one core. HX_MOST_SECONDS leaves out those that take longer.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
folder=${HX_DOCS:-$top/docs}
PATH=$(cd "${BUILD:-$top/build}" && pwd):$PATH
export PATH

check=
[ "${1:-}" != --check ] || { check=yes && shift; }
names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(cd "$folder/figures" && printf '%s\n' *.sh | sed 's/\.sh$//')

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "docs-figures: error: $*" >&2
    exit 1
}

# with_table PAGE NAME TABLE: the page with this table.
with_table() {
    awk -v begin="<!-- figure: $2 -->" -v table="$3" '
        $0 == begin { print; print ""; while ((getline line <table) > 0) print line; print ""; inside = 1 }
        $0 == "<!-- end of figure -->" { inside = 0 }
        !inside { if ($0 != begin) print }' "$1"
}

# put FILE NEW: replaces the file, or compares.
put() {
    if [ -n "$check" ]; then
        diff -u --label "$1" "$1" --label "as built" "$2" || differs=yes
    else
        cmp -s "$1" "$2" || cp "$2" "$1"
    fi
}

differs=
for name in "${names[@]}"; do
    script=$folder/figures/$name.sh
    [ -f "$script" ] || fail "$name: no script docs/figures/$name.sh"
    seconds=$(sed -n 's/^# seconds: //p' "$script")
    [ -n "$seconds" ] || fail "$name: it has no line '# seconds: N'"
    [ "$seconds" -le "${HX_MOST_SECONDS:-$seconds}" ] || continue
    (cd "$top" && bash -eo pipefail "$script") >"$work/new"
    case $name in
    *.svg) put "$folder/$name" "$work/new" ;;
    *)
        page=$(grep -lxF "<!-- figure: $name -->" "$folder"/*.md) || fail "$name: no page has '<!-- figure: $name -->'"
        with_table "$page" "$name" "$work/new" >"$work/page"
        put "$page" "$work/page"
        ;;
    esac
done
[ -z "$differs" ]
