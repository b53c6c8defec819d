#!/usr/bin/env bash
# Builds a program from Debian's sources, once for each set of compiler flags, and prints the path of the result.
#
#   examples/debian-programs.sh NAME [FLAGS]
#   examples/debian-programs.sh NAME --sources
#
# NAME   sqlite3, lua5.4, bzip2, gzip, libzstd (the program zstd), tcc, glpk (the program glpsol), perl (miniperl,
#        without its modules), redis (the server), nginx, or postgresql-15, whose result is the directory that it is
#        installed in
# FLAGS  for the compiler and the linker, "-O2 -g" by default; with probes: "-O2 -g -finstrument-functions"
#
# With --sources it prints the path of the unpacked sources; there NAME may be bc, gawk, m4, tcl8.6
# or xz-utils, too. These and results are kept in $XDG_CACHE_HOME/mdl/programs. Exit status 3: the sources
# cannot be had here.
set -euo pipefail

name=${1:?usage: debian-programs.sh NAME [FLAGS]}
flags=${2:--O2 -g}
cc=${CC:-gcc}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/mdl/programs
say() { printf 'debian-programs: %s\n' "$*" >&2; }

# Downloads NAME's original source archive into the current directory, by a set of apt lists of our own: the
# machine's need not name source packages, and nothing of the machine's is changed. A mirror may lack the newest
# version, and may have lost Debian's own changes, of which nothing is used here.
download() {
    local apt=$PWD/apt file version
    mkdir -p "$apt"/{parts,lists/partial,archives/partial}
    for file in /etc/apt/sources.list.d/{debian,ubuntu}.sources; do
        [ ! -r "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/parts/${file##*/}"
    done
    [ ! -r /etc/apt/sources.list ] || sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$apt/parts/main.list"
    local options=(-qq -o "Dir::Etc::sourceparts=$apt/parts" -o Dir::Etc::sourcelist=/dev/null
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update >&2
    for version in $(apt-cache "${options[@]}" madison "$name" | cut -d'|' -f2 | sort -rVu); do
        apt-get "${options[@]}" source --download-only "$name=$version" >&2 || say "the mirror has not all of $name $version"
        [ -z "$(original)" ] || return 0
    done
}

original() { find . -maxdepth 1 -name "*.orig.tar.*" ! -name '*.asc'; }

# Leaves the unpacked sources in $cache/src/NAME, put together or configured where one command compiles them then.
fetch() {
    local work archive tree
    work=$(mktemp -d "$cache/src/.$name.XXXXXX")
    cleanup+=("$work")
    cd "$work"
    command -v apt-get >/dev/null || { say "no apt-get here, so no sources of $name"; exit 3; }
    download
    archive=$(original)
    [ -n "$archive" ] || { say "the sources of $name could not be downloaded"; exit 3; }
    mkdir unpacked
    tar xf "$archive" -C unpacked
    # tcc's archive has no directory for the whole.
    tree=(unpacked/*)
    [ ${#tree[@]} = 1 ] || tree=(unpacked)
    [ "$name" != sqlite3 ] || command -v tclsh >/dev/null || install_tcl
    (cd "${tree[0]}" && prepare) >"$log" 2>&1
    rm -rf "${cache:?}/src/$name"
    mv "${tree[0]}" "$cache/src/$name"
}

prepare() {
    case $name in
        sqlite3) ./configure --disable-tcl --disable-readline && make -s sqlite3.c shell.c ;;
        gzip) ./configure && make -s -j2 -C lib && make -s version.c version.h ;;
        tcc) ./configure ;;
        glpk) ./configure ;;
    esac
}

install_tcl() {
    if [ "$(id -u)" != 0 ]; then
        say "tclsh puts sqlite3's source together: sudo apt-get install -y tcl"
        exit 3
    fi
    apt-get -qq install -y tcl >&2 </dev/null || { say "tclsh, which puts sqlite3's source together, cannot be installed"; exit 3; }
}

# compile_NAME FILE compiles the sources, which it stands in, with the flags, which are words.
# shellcheck disable=SC2086
compile_sqlite3() {
    "$cc" $flags -w -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_COLUMN_METADATA shell.c sqlite3.c -o "$1" -lpthread -ldl -lm
}

# Its hash seed is fixed and its string cache does not go by addresses, so that each run makes the same calls.
# shellcheck disable=SC2086
compile_lua5.4() {
    "$cc" $flags -w -DLUA_USE_POSIX -DLUA_USE_DLOPEN '-Dluai_makeseed(L)=1u' -DSTRCACHE_N=1 -DSTRCACHE_M=1 \
        $(find src -name '*.c' ! -name luac.c | sort) -o "$1" -Wl,-E -ldl -lm
}

# shellcheck disable=SC2086
compile_bzip2() {
    "$cc" $flags -w -D_FILE_OFFSET_BITS=64 blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c \
        bzlib.c bzip2.c -o "$1"
}

# Its library, of portability alone, has no probes.
# shellcheck disable=SC2086
compile_gzip() {
    "$cc" $flags -w -DHAVE_CONFIG_H -I. -Ilib bits.c deflate.c gzip.c inflate.c trees.c unlzh.c unlzw.c unpack.c \
        unzip.c util.c zip.c version.c lib/libgzip.a -o "$1"
}

# shellcheck disable=SC2086
compile_libzstd() {
    "$cc" $flags -w -DZSTD_MULTITHREAD -Ilib -Ilib/common lib/*/*.c lib/decompress/*.S programs/*.c -o "$1" -lpthread
}

# shellcheck disable=SC2086
compile_tcc() {
    "$cc" $flags -w '-DCONFIG_TRIPLET="x86_64-linux-gnu"' -I. tcc.c -o "$1" -lm -ldl
}

# shellcheck disable=SC2046,SC2086
compile_glpk() {
    "$cc" $flags -w -DHAVE_CONFIG_H -I. $(find src -type d -printf '-I%p ') \
        $(find src -name '*.c' ! -path src/proxy/main.c | sort) examples/glpsol.c -o "$1" -lm
}

# Goes to a copy of the sources, for those that are configured where they stand, for one set of flags.
enter_copy() {
    local work
    work=$(mktemp -d "$cache/src/.$name.XXXXXX")
    cleanup+=("$work")
    cp -a . "$work"
    cd "$work"
}

compile_perl() {
    enter_copy
    ./Configure -des -Dcc="$cc" -Doptimize="$flags -w"
    make -s -j2 miniperl
    mv miniperl "$1"
}

# Its libraries, Lua among them, have no probes: the flags are for the server alone.
compile_redis() {
    enter_copy
    make -s -j2 -C src redis-server CC="$cc" MALLOC=libc BUILD_TLS=no USE_SYSTEMD=no OPTIMIZATION= DEBUG= \
        REDIS_CFLAGS="$flags -w" REDIS_LDFLAGS="$flags"
    mv src/redis-server "$1"
}

compile_nginx() {
    enter_copy
    ./configure --with-cc="$cc" --with-cc-opt="$flags -w" --with-ld-opt="$flags" --without-http_rewrite_module \
        --without-http_gzip_module
    make -s -j2
    mv objs/nginx "$1"
}

# The server, what makes and starts a cluster, and pgbench. libpq must not call functions named *exit, of which a hook is
# one; the check for that is left out where coverage is measured. Without warnings clang would not be configured.
compile_postgresql-15() {
    enter_copy
    ./configure --quiet --prefix="$program" CC="$cc" CFLAGS="$flags" LDFLAGS="$flags" --without-readline --without-zlib
    export COPT=-w
    make -s -j2 -C src/backend generated-headers
    local part
    for part in common port timezone backend backend/snowball interfaces/libpq pl/plpgsql bin/initdb bin/pg_ctl bin/pgbench; do
        make -s -j2 -C src/$part enable_coverage=yes install DESTDIR="$PWD/installed"
    done
    mv "installed$program" "$1"
}

# What compilers say is shown only when they fail.
finish() {
    if [ "$1" != 0 ] && [ -s "$log" ]; then
        tail -n 40 "$log" >&2
        say "$name could not be built; this is the end of what was said"
    fi
    rm -rf "${cleanup[@]}" "$log"
}

cleanup=()
log=$(mktemp)
trap 'finish $?' EXIT
mkdir -p "$cache/src"
sources_only=' bc gawk m4 tcl8.6 xz-utils '
[[ $flags = --sources && $sources_only = *" $name "* ]] || declare -F "compile_$name" >/dev/null || {
    say "do not know $name; there are $(declare -F | sed -n 's/.* compile_//p' | paste -sd ' ')"
    exit 2
}
# The recipe is part of the key: what this script does differently makes a different program.
key=$(printf '%s\n' "$(declare -f enter_copy "compile_$name")" "$flags" "$("$cc" --version | head -n 1)" "$("$cc" -dumpmachine)" | sha256sum | cut -c1-12)
program=$cache/$name-$key/$name
exec 9>"$cache/.$name.lock"
flock 9
if [ "$flags" = --sources ]; then
    [ -d "$cache/src/$name" ] || fetch
    printf '%s\n' "$cache/src/$name"
    exit
fi
if [ ! -x "$program" ]; then
    [ -d "$cache/src/$name" ] || fetch
    say "building $name with $cc $flags"
    mkdir -p "${program%/*}"
    cleanup+=("$program.new")
    cd "$cache/src/$name"
    "compile_$name" "$program.new" >"$log" 2>&1
    mv "$program.new" "$program"
fi
printf '%s\n' "$program"
