# mutants.awk - prints every change of one token in C source files: FILE <tab> LINE <tab> FUNCTION <tab> the changed
# line. Skips comments, strings, assertions, preprocessor lines, and all outside of functions. The source must be
# formatted by clang-format.

function emit(text) {
    printf "%s\t%d\t%s\t%s\n", FILENAME, FNR, name, text
}

# Prints the line with `length_` characters at `at` replaced.
function put(at, length_, text) {
    emit(substr($0, 1, at - 1) text substr($0, at + length_))
}

# The line with comments and quoted text blanked out; columns stay.
function code_of(line,    out, i, c, quote) {
    out = ""
    quote = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (comment) {
            if (substr(line, i, 2) == "*/") {
                comment = 0
                out = out " "
                i++
            }
            out = out " "
        } else if (quote != "") {
            if (c == "\\") {
                out = out "_"
                i++
            } else if (c == quote) {
                quote = ""
            }
            out = out "_"
        } else if (substr(line, i, 2) == "/*") {
            comment = 1
            out = out "  "
            i++
        } else if (substr(line, i, 2) == "//") {
            return out
        } else if (c == "\"" || c == "'") {
            quote = c
            out = out "_"
        } else {
            out = out c
        }
    }
    return out
}

# Changes each `from` in the code to `to`, one at a time.
function replace_each(from, to,    at, next_) {
    for (at = 0; (next_ = index(substr(code, at + 1), from)) > 0;) {
        at += next_
        put(at, length(from), to)
    }
}

function swap_operators(    i) {
    for (i = 1; i <= operators; i++)
        replace_each(" " from_[i] " ", " " to_[i] " ")
    replace_each("++", "--")
    replace_each("--", "++")
    replace_each("~", "")
    replace_each(" ? ", " == 0 ? ")
}

function drop_negations(    at) {
    for (at = 1; at <= length(code); at++) {
        if (substr(code, at, 1) == "!" && substr(code, at + 1, 1) != "=")
            put(at, 1, "")
    }
}

function move_constants(    at, rest, number, before) {
    if (code ~ /__builtin_(expect|prefetch)/)
        return
    for (at = 1; match(substr(code, at), /[A-Za-z0-9_.]+/); at += RLENGTH) {
        at += RSTART - 1
        rest = substr(code, at, RLENGTH)
        before = RLENGTH
        if (rest ~ /^[0-9]+[uUlL]*$/) {
            match(rest, /^[0-9]+/)
            number = substr(rest, 1, RLENGTH) + 0
            put(at, RLENGTH, number + 1)
            if (number > 0)
                put(at, RLENGTH, number - 1)
        } else if (rest == "true") {
            put(at, 4, "false")
        } else if (rest == "false") {
            put(at, 5, "true")
        }
        RLENGTH = before
    }
}

function turn_branch(    at) {
    if (code !~ /^ *(} else )?(else )?if \(.*\)( \{)? *$/)
        return
    at = index(code, "if (") + 3
    match(code, /\)( \{)? *$/)
    emit(substr($0, 1, at) "!(" substr($0, at + 1, RSTART - at - 1) ")" substr($0, RSTART))
}

function leave_out(    text) {
    if (code !~ /^ +[*(A-Za-z_].*; *$/ || before_ !~ /([;{}:)]|else) *$/)
        return
    if (code ~ /^ +(const|static|struct|union|enum|unsigned|int|bool|char|size_t|return|case|default|else|do|while|for|if)[ *]/ ||
        code ~ /^ +[a-z0-9_]+_t[ *]/ || code ~ /^ +\(void\)[a-z_]+;/ || code ~ /^ +[A-Za-z_]+ \*?[A-Za-z_]+/)
        return
    text = code
    gsub(/^ +| +$/, "", text)
    match(code, /^ +/)
    emit(substr(code, 1, RLENGTH) "; /* without " text " */")
}

BEGIN {
    operators = split("< <= > >= == != + - * / % && || & | ^ << >> += -= |= &=", from_, " ")
    split("<= < >= > != == - + / * / || && | & | >> << -= += &= |=", to_, " ")
}

FNR == 1 {
    inside = comment = directive = 0
    before_ = name = ""
}

{
    code = code_of($0)
    was_directive = directive
    directive = (code ~ /^ *#/ || was_directive) && code ~ /\\$/
}

code ~ /^ *#/ || was_directive { next }

# A function begins with a brace in the first column, after its head.
code ~ /^[A-Za-z_].*\(/ {
    name = code
    sub(/__attribute__\(\([^ ]*\)\) /, "", name)
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
}
/^\{/ {
    inside = 1
}
/^\}/ {
    inside = 0
}

inside && code !~ /[Aa]ssert|ASSERT|^ *$/ {
    swap_operators()
    drop_negations()
    move_constants()
    turn_branch()
    leave_out()
}

code !~ /^ *$/ { before_ = code }
