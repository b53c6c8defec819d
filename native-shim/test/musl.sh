#!/bin/sh
# A program of another libc runs with the library preloaded as it does without: musl.sh LIBRARY SOURCE.
set -eu
command -v musl-gcc >/dev/null || {
    echo "skipped: there is no musl-gcc (package musl-tools)"
    echo "skipped programs of another libc"
    exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

musl-gcc -O1 -o "$scratch/program" "$2" -lpthread

# What the program does not come to by itself: each function that its libc must have, it has.
libc=$(readelf -lW "$scratch/program" | sed -n 's/.*program interpreter: \(.*\)]/\1/p')
nm -D --defined-only "$libc" | awk '{ print $NF }' | sort -u >"$scratch/there"
nm -D --undefined-only "$1" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | sort -u >"$scratch/wanted"
[ -s "$scratch/wanted" ] && [ -s "$scratch/there" ]
absent=$(comm -23 "$scratch/wanted" "$scratch/there")
[ -z "$absent" ] || { echo "not in every libc:" $absent && exit 1; }

# The first to load it is the program itself, the second a child of a shell that has it.
cd "$scratch"
status=0
./program >alone 2>&1 || status=$?
[ "$status" = 7 ] || { cat alone && exit 1; }
for command in ./program "./program; exit \$?"; do
    status=0
    LD_PRELOAD=$1 MDL_OPTIONS=wait,session=$scratch/session sh -c "$command" >preloaded 2>&1 || status=$?
    [ "$status" = 7 ] && cmp alone preloaded || { echo "status $status" && cat preloaded && exit 1; }
done
