#!/usr/bin/env bash
# docs-figures.sh [--check] [NAME...] - draws measured figures of the documentation again, or compares them.
#
# docs/figures/NAME.sh prints a table, a sample, or for NAME.svg a picture, by programs of $BUILD (build). README.md or
# a page of docs/ has it between these two lines; a picture is docs/NAME.svg:
#
#     <!-- figure: NAME -->
#     <!-- end of figure -->
#
# docs/figures/common.bash has what several scripts need. Without --check files change, with it differences are printed,
# and the exit code is 1 if there are any. A line "# seconds: N" of a script is its processor time.
#
# HX_LEAST_SECONDS, HX_MOST_SECONDS: only scripts of so many. JOBS: scripts side by side (one a core); the longest
# begins first, and each is put into its page when it has ended.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
folder=${HX_DOCS:-$top/docs}
PATH=$(cd "${BUILD:-$top/build}" && pwd):$PATH
check=
[ "${1:-}" != --check ] || { check=yes && shift; }
names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(cd "$folder/figures" && printf '%s\n' *.sh | sed 's/\.sh$//')

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH top folder check PYTHONDONTWRITEBYTECODE=1
export HX_WORK=$work # a folder for scripts, which is removed at the end

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

# put FILE NEW: replaces the file, or compares. The version that a picture names is that of its drawing, and is not
# compared.
put() {
    if [ -n "$check" ]; then
        diff -u -I '>hxmesh [0-9.]*</text>$' --label "$1" "$1" --label "as built" "$2" || touch "$HX_WORK/differs"
    else
        cmp -s "$1" "$2" || cp "$2" "$1"
    fi
}

# draw NAME: one figure. Scripts run side by side, but pages change one at a time.
draw() {
    local new=$HX_WORK/$1.new page
    (cd "$top" && bash -eo pipefail "$folder/figures/$1.sh") >"$new" || fail "$1: its script ended with an error"
    exec 9>"$HX_WORK/lock"
    flock 9
    case $1 in
    *.svg) put "$folder/$1" "$new" ;;
    *)
        page=$(grep -lxFs "<!-- figure: $1 -->" "$folder"/*.md "$folder"/../README.md || true)
        [ -n "$page" ] || fail "$1: no page has '<!-- figure: $1 -->'"
        with_table "$page" "$1" "$new" >"$new.page"
        put "$page" "$new.page"
        ;;
    esac
}
export -f fail with_table put draw

for name in "${names[@]}"; do
    script=$folder/figures/$name.sh
    [ -f "$script" ] || fail "$name: no script docs/figures/$name.sh"
    seconds=$(sed -n 's/^# seconds: //p' "$script")
    [ -n "$seconds" ] || fail "$name: it has no line '# seconds: N'"
    [ "$seconds" -le "${HX_MOST_SECONDS:-$seconds}" ] || continue
    [ "$seconds" -ge "${HX_LEAST_SECONDS:-0}" ] || continue
    echo "$seconds $name"
done >"$work/due"
# shellcheck disable=SC2016 # the shells that xargs starts expand it
sort -rn "$work/due" | cut -d ' ' -f 2 |
    xargs -r -P "${JOBS:-$(nproc)}" -I{} bash -euo pipefail -c 'draw "$1"' _ {} || exit 1
[ ! -e "$work/differs" ]
