# columns.awk - prints the lines of these files that have more than 120 columns, and exits with 1 if there are any.
#
# Exempt are tables, samples (in Markdown a fence or an indented block, in a comment what is indented), and commands of
# scripts. In README.md samples count too, as it is read first.

function limit(    line) {
    line = $0
    gsub(/[\200-\277]/, "", line) # all but the first byte of a letter
    if (length(line) <= 120) return
    printf "%s:%d: %d columns, at most 120\n", FILENAME, FNR, length(line)
    failed = 1
}

FNR == 1 { fence = 0; readme = FILENAME == "README.md" }

FILENAME ~ /\.md$/ {
    if (/^ *```/) fence = !fence
    else if (!/^ *\|/ && (readme || !(fence || /^    /))) limit()
    next
}
FILENAME ~ /\.(c|h|cc|hh)$/ { if (!/^ *\*  /) limit(); next }
/^[ \t]*#/ && !/^[ \t]*#  / { limit() }

END { exit failed }
