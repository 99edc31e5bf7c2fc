# common.bash - what scripts of figures share. They run in the folder of the sources, with the programs on the PATH.
#
# shellcheck shell=bash

# hxmesh ARGUMENT...: the program. If it fails, so does the script, also inside of $(...).
hxmesh() { command hxmesh "$@" || kill $$; }

# once NAME COMMAND...: what the command prints. It runs once for all figures that are drawn together.
once() {
    local kept=$HX_WORK/$1.once
    (flock 8 && { [ -e "$kept" ] || { "${@:2}" >"$kept.new" && mv "$kept.new" "$kept"; }; }) 8>"$kept.lock" && cat "$kept"
}

# reproduced EXPERIMENT: the results of an experiment of `hxmesh reproduce` as JSON, whole, whatever time it takes.
reproduced() {
    once "${1//\//-}" hxmesh reproduce "$1" --minutes 0 --workers 1 --out "$HX_WORK/reproduce" --quiet --json - |
        jq '.[0].results'
}

# examples_of PAGE FILE...: goes into a folder with these files, as examples of the page write them.
examples_of() {
    local folder file
    folder=$(mktemp -d -p "$HX_WORK")
    for file in "${@:2}"; do
        sed -n "/^cat >$file <</,/^END\$/p" "docs/$1.md" | sed '1d; $d' >"$folder/$file"
    done
    cd "$folder" || return
}

# report SPEC OPTION...: the JSON of a simulated run. One worker: figures are drawn side by side.
report() { hxmesh run "$@" --clock virtual --workers 1 --no-links --quiet --json -; }

# value FILTER SPEC OPTION...: what jq takes from such a report.
value() { report "${@:2}" | jq -r "$1"; }

# time_in UNIT SPEC OPTION...: simulated time, two digits behind the point.
time_in() {
    local each
    case $1 in us) each=1e6 ;; ms) each=1e3 ;; esac
    value ".seconds * $each" "${@:2}" | rounded 2
}

# rounded DIGITS: numbers of standard input, a line each, with so many digits behind the point.
rounded() { awk -v digits="$1" '{ printf "%.*f\n", digits, $1 }'; }

# percent DIGITS: the same of shares, in per cent.
percent() { awk -v digits="$1" '{ printf "%.*f\n", digits, 100 * $1 }'; }

# thousands NUMBER: with a comma before the last three digits.
thousands() { sed -E 's/([0-9])([0-9]{3})$/\1,\2/' <<<"$1"; }

# mean: of the numbers of standard input.
mean() { awk '{ sum += $1 } END { print sum / NR }'; }

# over_seeds N FILTER SPEC OPTION...: mean of such values, of the seeds 1 to N.
over_seeds() {
    local seed
    for ((seed = 1; seed <= $1; seed++)); do value "${@:2}" --seed "$seed"; done | mean
}

# row CELL...: a line of a table.
row() {
    printf '|'
    printf ' %s |' "$@" | sed 's/|  |/| |/g; s/|  |/| |/g; s/^  |/ |/'
    echo
}

# head_of TITLE...: the first two lines of a table.
head_of() {
    row "$@"
    printf '|'
    printf -- '---|%.0s' "$@"
    echo
}

# fenced [WORD]: standard input as a block of code.
fenced() {
    echo "\`\`\`${1:-text}"
    cat
    echo '```'
}

# console COMMAND: the command and what it prints, as a block that docs.bats runs too.
console() {
    { echo "\$ $1" && eval "$1"; } | fenced console
}

# of_fabric: standard input, a text of `hxmesh run`, without what says when and on which machine it ran.
of_fabric() {
    sed -E '/^ +(run|memory) /d; s/, [0-9]+ workers?(, virtual clock)/\1/; s/, [0-9.]+ s real, [0-9.]+ M packet-hops\/s//'
}

# lines_of WORD...: of a report on standard input, the lines that these words begin, and those that belong to them.
lines_of() {
    awk -v words="$(printf '%s|' "$@")" '
        BEGIN { count = split(words, word, "|") - 1 }
        /^  [^ ]/ { on = 0; for (i = 1; i <= count; i++) if (index($0, "  " word[i] " ") == 1) on = 1 }
        /^[^ ]/ { on = 0 }
        on { print "    " $0 }'
}

# table_of EXPERIMENT TITLE: the table of an experiment of `hxmesh reproduce` that has this title in its first column.
# Columns that the text has below each other stand beside each other again, those that are there twice once.
table_of() {
    local text=$HX_WORK/reproduce/$1.txt
    reproduced "$1" >/dev/null
    [ -e "$text" ] || text=$HX_WORK/reproduce/$(basename "$1").txt
    awk -v title="$2" '
        /^ *$/ { on = 0; next }
        index($0, "  " title "  ") == 1 { on = 1; row = 0; part++ }
        on {
            count = split(substr($0, 3), cell, /  +/)
            if (++row == 1) {
                for (first = 1; cell[first] == head[first]; first++);
                if (part == 1) for (i = 1; i <= count; i++) head[i] = cell[i]
                columns += count - first + 1
            }
            for (i = first; i <= count; i++) table[row] = table[row] " " (cell[i] == "-" ? "" : cell[i]) " |"
            if (row > rows) rows = row
        }
        END {
            for (row = 1; row <= rows; row++) {
                print "|" table[row]
                if (row == 1) { printf "|"; for (i = 0; i < columns; i++) printf "---|"; print "" }
            }
        }' "$text" | sed 's/|  |/| |/g; s/|  |/| |/g'
}

# picture_of_fabric: standard input, a plot, without what says when and on which machine it was drawn.
picture_of_fabric() { sed -E 's/>(hxmesh [0-9.]+), [^<]*</>\1</'; }

# picture_of_example NAME: what examples/python/NAME.py draws.
picture_of_example() {
    HXMESH=hxmesh HXMESH_LIBRARY=$(realpath "${BUILD:-build}")/libhxmesh-sim.so PYTHONPATH=python SOURCE_DATE_EPOCH=0 \
        MATPLOTLIBRC=docs/figures/matplotlibrc /usr/bin/python3 "examples/python/$1.py" "$HX_WORK/$1.svg" >/dev/null
    cat "$HX_WORK/$1.svg"
}
