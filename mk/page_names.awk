# page_names.awk - files, folders and functions that pages name in backticks are in the tree, each where the page says.
#
#     awk -f mk/page_names.awk FILES PAGE... SOURCE...
#
# FILES lists the tree, a path a line. Prints PAGE:LINE and what is wrong; exits with 1 if anything is.
#   `switch.c`          a source; in a column of a table with folders in its head, `firmware/`, it is in one of these
#   `switch.c`: `admit` what is named between the colon and the next file, the end of the sentence or of the cell is
#                       declared or defined in that file
#   `lib/base/`         a folder or file; with a word in capitals, `lib/NAME/`, it stands for any
#   `hx_desc`           any other name is somewhere in the sources
# Samples (fenced or indented) are left out.

function wrong(at, text) {
    print at ": " text
    bad = 1
}
function folder_of(path) { return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/) - 1) : "." }
function name_of(path) { sub(/^.*\//, "", path); return path }

# The path of a source that the page names: "" if it is not there, "many" if its name alone does not tell.
function source_of(file, column,    i, at, found) {
    if (file ~ /\//)
        return file in there ? file : ""
    if (!folders[column])
        return number[file] > 1 ? "many" : path_of[file]
    for (i = 1; i <= folders[column]; i++)
        if ((at = folder[column, i] "/" file) in there)
            found = found ? "many" : at
    return found
}

# Reads a cell of a table or a paragraph. `at` is page and line.
function read_text(text, column, at,    span, file, path) {
    while (match(text, /`[^`]+`/)) {
        if (substr(text, 1, RSTART - 1) ~ /[.!?]( |$)/)
            file = ""
        span = substr(text, RSTART + 1, RLENGTH - 2)
        text = substr(text, RSTART + RLENGTH)
        sub(/^struct /, "", span)
        sub(/\/$/, "", span)
        if (span ~ /^(conformance-)?build\// || span ~ /(^|[\/_.])[A-Z]+([\/_.]|$)/ && span ~ /[a-z]/)
            continue
        if (span ~ /^[a-z][a-z0-9_\/-]*\.[chS]$/) {
            path = source_of(span, column)
            if (path == "")
                wrong(at, "`" span "` is not in the tree")
            file = text ~ /^: / ? path : ""
            if (file == "many") {
                wrong(at, "`" span "` is in several folders: name one")
                file = ""
            }
        } else if (span in there)
            continue
        else if (span ~ /^[.a-z][a-zA-Z0-9_.-]*(\/[a-zA-Z0-9_.-]+)+$/)
            wrong(at, "`" span "` is not in the tree")
        else if (span ~ /^([a-z_][a-z_0-9]*|[A-Z]+_[A-Z_0-9]+)$/) {
            name[++names] = span
            name_file[names] = file
            name_at[names] = at
            is_named[span] = 1
        }
    }
}
function read_paragraph() {
    if (paragraph != "")
        read_text(paragraph, 0, paragraph_at)
    paragraph = ""
}
function read_row(    columns, cell, i, head) {
    columns = split($0, cell, "|")
    for (i = 2; i < columns; i++) {
        if (!in_table) {
            folders[i] = 0
            for (head = cell[i]; match(head, /`[^`]+\/`/); head = substr(head, RSTART + RLENGTH))
                folder[i, ++folders[i]] = substr(head, RSTART + 1, RLENGTH - 3)
        }
        read_text(cell[i], i, FILENAME ":" FNR)
    }
}

FNR == 1 {
    read_paragraph()
    first_input = ++inputs == 1
    is_page = FILENAME ~ /\.md$/
    fenced = in_table = 0
}
first_input {
    for (path = $0; !(path in there); path = folder_of(path))
        there[path] = 1
    path_of[name_of($0)] = $0
    number[name_of($0)]++
    next
}
is_page {
    if (/^ *```/)
        fenced = !fenced
    if (fenced || /^ *(```|\||#|$)/ || /^ *([0-9]+\.|-) /)
        read_paragraph()
    if (/^ *\|/ && !fenced)
        read_row()
    else if (!fenced && NF > 0 && !(/^    / && paragraph == "")) {
        if (paragraph == "")
            paragraph_at = FILENAME ":" FNR
        paragraph = paragraph " " $0
    }
    in_table = /^ *\|/
    next
}
# A source: what is declared or defined stands at the first column.
{
    for (text = $0; match(text, /[A-Za-z_][A-Za-z_0-9]*/);) {
        word = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (word in is_named) {
            somewhere[word] = 1
            if ($0 ~ /^[a-zA-Z_]/ && text ~ /^\(/ || $0 ~ "^(# *define|struct|enum|union) " word "([^A-Za-z_0-9]|$)")
                declared[FILENAME, word] = 1
        }
    }
}
END {
    for (i = 1; i <= names; i++)
        if (name_file[i] != "" && !((name_file[i], name[i]) in declared))
            wrong(name_at[i], "`" name[i] "` is not a function of " name_file[i])
        else if (!(name[i] in somewhere))
            wrong(name_at[i], "`" name[i] "` is not in the sources")
    exit bad
}
