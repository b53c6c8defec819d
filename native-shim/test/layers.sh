#!/bin/sh
# Holds the shim's files to the order of their directories (src/layers.txt): layers.sh SRC, the one with layers.txt in it.
#
# A file depends on the headers that it includes. It also depends on the file that stands in front of a function of libc
# (src/exports.map), if it calls that function by its name: syscall, dlopen.
set -eu
export LC_ALL=C
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Calls of exported functions in the directory that is current, as FILE:LINE:NAME:FILE with the function.
calls_by_name() {
    set -- */*.[ch]
    [ -e "$1" ] || return 0
    tr -c '[:alnum:]_' '\n' <exports.map | sort -u >"$scratch/exported"
    awk -v exported="$scratch/exported" '
        # The code of a line, without comments; strings have no parentheses behind names.
        function code(text,    at, rest) {
            rest = ""
            while (text != "") {
                if (comment) {
                    if (!(at = index(text, "*/"))) return rest
                    comment = 0
                    text = substr(text, at + 2)
                } else if (at = index(text, "/*")) {
                    rest = rest substr(text, 1, at - 1) " "
                    comment = 1
                    text = substr(text, at + 2)
                } else {
                    return rest text
                }
            }
            return rest
        }
        BEGIN { while ((getline name <exported) > 0) known[name] = 1 }
        FNR == 1 { comment = 0 }
        {
            text = code($0)
            defines = text ~ /^EXPORT / || text ~ /^[A-Z_]+\(/
            if (match(text, /\.globl [a-z_]+/)) defined[substr(text, RSTART + 7, RLENGTH - 7)] = FILENAME
            while (match(text, /[A-Za-z0-9_]+[(,]/)) {
                name = substr(text, RSTART, RLENGTH - 1)
                before = substr(text, 1, RSTART - 1)
                called = substr(text, RSTART + RLENGTH - 1, 1) == "("
                text = substr(text, RSTART + RLENGTH)
                if (!(name in known)) continue
                if (defines) defined[name] = FILENAME
                else if (called && before !~ /(->|\.)$/) calls[++count] = FILENAME ":" FNR ":" name
                defines = 0
            }
        }
        END {
            for (i = 1; i <= count; i++) {
                name = calls[i]
                sub(/.*:/, "", name)
                if (name in defined) print calls[i] ":" defined[name]
            }
        }' "$@"
}

# The faults in the directory $1, one a line.
faults() (
    cd "$1"
    sed -n 's/^\([a-z]\{1,\}\) .*/\1/p' layers.txt >"$scratch/layers"
    for directory in */; do
        grep -qx "${directory%/}" "$scratch/layers" || echo "$directory: not in layers.txt"
    done
    {
        grep -ns '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' */*.[chS] | sed 's/[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/'
        calls_by_name
    } |
        awk -F: -v order="$scratch/layers" -v edges="$scratch/edges" '
            BEGIN {
                while ((getline name <order) > 0) rank[name] = ++count
                printf "" >edges
            }
            function unit(path) { sub(/\.[chS]$/, "", path); return path }
            $3 == "jvm-options.h" { next } # the build makes it
            {
                what = $3
                target = $NF # of a call, the file with the function
                from = $1; sub(/\/.*/, "", from)
                to = target; if (!sub(/\/.*/, "", to)) to = ""
                if (!(to in rank)) print $1 ":" $2 ": " what ": in no directory of layers.txt"
                else if (rank[to] > rank[from]) print $1 ":" $2 ": " what ": of a higher directory"
                if (unit($1) != unit(target)) print unit($1), unit(target) >edges
            }'
    # A unit is a header with the files of its name.
    tsort "$scratch/edges" 2>&1 >/dev/null | sed 's/^tsort: [^:]*: *//' | paste -sd ' ' | sed '/^ *$/d'
)

# The broken twin: each fault is found.
mkdir -p "$scratch/twin/low" "$scratch/twin/high" "$scratch/twin/astray"
printf '# order\nlow first\nhigh second\n' >"$scratch/twin/layers.txt"
printf '{ global: leave; stay; local: *; };\n' >"$scratch/twin/exports.map"
expect() {
    found=$(faults "$scratch/twin")
    case "$found" in
        *"$1"*) ;;
        *) echo "not found: $1; but: $found" && exit 1 ;;
    esac
}
expect 'astray/: not in layers.txt'
rmdir "$scratch/twin/astray"
printf '#include "low/b.h"\n' >"$scratch/twin/high/a.c"
: >"$scratch/twin/low/b.h"
[ -z "$(faults "$scratch/twin")" ] || { echo "a fault where there is none: $(faults "$scratch/twin")" && exit 1; }
printf 'EXPORT void leave(int status) {}\n' >"$scratch/twin/high/c.c"
printf '/* leave(0)\n leave(1) */\n  next()->leave(2);\n' >"$scratch/twin/low/b.c"
[ -z "$(faults "$scratch/twin")" ] || { echo "a fault where there is none: $(faults "$scratch/twin")" && exit 1; }
printf '  /* no */ leave(0);\n' >"$scratch/twin/low/b.c"
expect 'low/b.c:1: leave: of a higher directory'
printf 'EXPORT void leave(int status) { stay(); }\n' >"$scratch/twin/high/c.c"
printf 'EXPORT int stay(void) {\n  leave(0);\n}\n' >"$scratch/twin/high/d.c"
rm "$scratch/twin/low/b.c"
expect 'loop'
rm "$scratch/twin/high/c.c" "$scratch/twin/high/d.c"
printf '#include "high/a.h"\n' >"$scratch/twin/low/b.c"
expect 'low/b.c:1: high/a.h: of a higher directory'
printf '#include "b.h"\n' >"$scratch/twin/low/b.c"
expect 'low/b.c:1: b.h: in no directory of layers.txt'
rm "$scratch/twin/low/b.c"
printf '#include "low/c.h"\n' >"$scratch/twin/low/b.h"
printf '#include "low/b.h"\n' >"$scratch/twin/low/c.h"
expect 'loop'

found=$(faults "$1")
[ -z "$found" ] || { echo "$found" && exit 1; }
