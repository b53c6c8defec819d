#!/bin/sh
# Holds the shim's files to the order of their directories (src/layers.txt): layers.sh SRC, the one with layers.txt in it.
#
# What it cannot see are calls by libc's names, which lead to the shim's own functions, wherever these are: syscall, dlopen.
set -eu
export LC_ALL=C
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The faults in the directory $1, one a line.
faults() (
    cd "$1"
    sed -n 's/^\([a-z]\{1,\}\) .*/\1/p' layers.txt >"$scratch/layers"
    for directory in */; do
        grep -qx "${directory%/}" "$scratch/layers" || echo "$directory: not in layers.txt"
    done
    grep -ns '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' */*.[chS] | sed 's/[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/' |
        awk -F: -v order="$scratch/layers" -v edges="$scratch/edges" '
            BEGIN {
                while ((getline name <order) > 0) rank[name] = ++count
                printf "" >edges
            }
            function unit(path) { sub(/\.[chS]$/, "", path); return path }
            $3 == "jvm-options.h" { next } # the build makes it
            {
                from = $1; sub(/\/.*/, "", from)
                to = $3; if (!sub(/\/.*/, "", to)) to = ""
                if (!(to in rank)) print $1 ":" $2 ": " $3 ": in no directory of layers.txt"
                else if (rank[to] > rank[from]) print $1 ":" $2 ": " $3 ": of a higher directory"
                if (unit($1) != unit($3)) print unit($1), unit($3) >edges
            }'
    # A unit is a header with the files of its name.
    tsort "$scratch/edges" 2>&1 >/dev/null | sed 's/^tsort: [^:]*: *//' | paste -sd ' ' | sed '/^ *$/d'
)

# The broken twin: each fault is found.
mkdir -p "$scratch/twin/low" "$scratch/twin/high" "$scratch/twin/astray"
printf '# order\nlow first\nhigh second\n' >"$scratch/twin/layers.txt"
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
