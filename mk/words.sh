#!/bin/bash
# words.sh - finds words that mk/words.txt bans: in comments, messages, help, keys, option names and identifiers of C,
# in comments of scripts, in docs and pages of examples.
#
#   mk/words.sh [--count] [FILE...]
#
# Prints FILE:LINE: WORD -> USE, and exits with 1 if there are any. --count prints the number for each folder, greatest
# first, and exits with 0. Without FILE it reads all files that git knows.
set -euo pipefail

count=0
if [ "${1:-}" = --count ]; then
    count=1
    shift
fi
if [ $# -gt 0 ]; then
    files=("$@")
else
    mapfile -t files < <(git ls-files '*.c' '*.h' '*.sh' '*.bash' '*.bats' '*.mk' Makefile '*.cc' '*.hh' README.md 'docs/*.md' 'examples/*/*.md' 'python/*.md' |
        grep -vE '^(docs/glossary\.md|mk/words\.sh|tests/system/words\.bats)$')
fi

awk -v list="$(dirname "$0")/words.txt" -v count="$count" '
    BEGIN {
        while ((getline line <list) > 0) {
            if (line ~ /^allow /) {
                split(line, token, "[ :]")
                allowed[token[2]] = 1
            }
            if (line ~ /^#/ || line !~ / -> /)
                continue
            at = index(line, " ")
            arrow = index(line, " -> ")
            where[++phrases] = substr(line, 1, at - 1)
            phrase[phrases] = substr(line, at + 1, arrow - at - 1)
            use[phrases] = substr(line, arrow + 4)
            key = phrase[phrases]
            # "ask* ahead": a star may be between words.
            stars = gsub(/\*/, "[a-z]*", key)
            pattern[phrases] = stars ? " " key " " : ""
            plain[phrases] = " " key " "
        }
    }

    # The text in lower case with single spaces around words; code is left out.
    function bare(text) {
        gsub(/`[^`]*`/, " , ", text)
        gsub(/[A-Za-z0-9]*_[A-Za-z0-9_]*/, " , ", text)
        gsub(/\\[nt]/, " ", text)
        gsub(/[^A-Za-z0-9,]+/, " ", text)
        gsub(/,/, " , ", text)
        gsub(/ +/, " ", text)
        return " " tolower(text) " "
    }
    # The banned phrases in a text that has single spaces around words, as a list of their numbers.
    function banned(text, kind,    i, list) {
        for (i = 1; i <= phrases; i++)
            if (index(where[i], kind) && (pattern[i] ? text ~ pattern[i] : index(text, plain[i])))
                list = list " " i
        return list
    }
    function tell(list, name,    n, i, each) {
        n = split(list, each, " ")
        for (i = 1; i <= n; i++) {
            found++
            if (count)
                number[folder]++
            else
                print FILENAME ":" FNR ": " name phrase[each[i]] " -> " use[each[i]]
        }
    }
    function look(text, kind) {
        tell(banned(bare(text), kind), "")
    }
    # Each name of a line: its parts are words. A name is examined once.
    function look_names(names, kind,    n, i, each, name) {
        n = split(names, each, " ")
        for (i = 1; i <= n; i++) {
            name = each[i]
            if (!((kind, name) in known)) {
                text = name
                gsub(/[^A-Za-z0-9]+/, " ", text)
                known[kind, name] = name in allowed ? "" : banned(" " tolower(text) " ", kind)
            }
            if (known[kind, name] != "")
                tell(known[kind, name], name ": ")
        }
    }
    # A line of C: comments go into `remarks`, strings of several words into `strings`, other strings into `keys`, and
    # the rest into `code`.
    function split_c(line,    at, end) {
        remarks = strings = keys = code = ""
        while (line != "") {
            if (inside) {
                end = index(line, "*/")
                remarks = remarks " , " (end ? substr(line, 1, end - 1) : line)
                inside = !end
                line = end ? substr(line, end + 2) : ""
            } else if (match(line, /"(\\.|[^"\\])*"|\/\*|\/\/|\047(\\.|[^\047\\])+\047/)) {
                at = substr(line, RSTART, RLENGTH)
                code = code " " substr(line, 1, RSTART - 1)
                line = substr(line, RSTART + RLENGTH)
                if (at == "/*")
                    inside = 1
                else if (at == "//") {
                    remarks = remarks " , " line
                    line = ""
                } else if (at ~ /^".* /)
                    strings = strings " , " substr(at, 2, length(at) - 2)
                else if (at ~ /^"/)
                    keys = keys " " substr(at, 2, length(at) - 2)
            } else {
                code = code " " line
                line = ""
            }
        }
        gsub(/[^A-Za-z0-9_]+/, " ", code)
    }

    FNR == 1 {
        inside = fence = 0
        kind = FILENAME ~ /\.[ch]$/ ? "C" : FILENAME ~ /\.md$/ ? "d" : "s"
        parts = split(FILENAME, part, "/")
        folder = parts == 1 ? "." : parts == 2 ? part[1] : part[1] "/" part[2]
    }
    kind == "C" {
        split_c($0)
        if (remarks != "")
            look(remarks, "c")
        if (/^[ \t]*#include/)
            next
        if (code != " ")
            look_names(code, "i")
        if (keys != "" && FILENAME !~ /^tests\//)
            look_names(keys, "k")
        if (strings != "" && FILENAME !~ /^tests\//)
            look(strings, "m")
        next
    }
    kind == "d" {
        if (/^ *```/)
            fence = !fence
        else if (!fence)
            look($0, "d")
        next
    }
    /^[ \t]*#[^!]/ || /^[ \t]*##/ { look($0, "c") }

    END {
        for (f in number)
            print number[f], f | "sort -k1,1nr -k2"
        close("sort -k1,1nr -k2")
        if (count)
            print found + 0, "in all"
        exit !count && found > 0
    }' "${files[@]}"
