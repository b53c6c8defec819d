#!/usr/bin/env bash
# Puts the distribution together from what the modules have built:
#
#   dist/bin/mdl              the launcher
#   dist/include/fastinst.h  for programs that use probes themselves
#   dist/lib/                 libmdlagent.so, the decoder that it loads, and what mdl calibrate measures with
#   dist/lib/store/           what the commands need that keep profiles from run to run: Chronicle Map
#   dist/runtime/             a Java runtime with the agent's and the command line's modules
#   dist/runtime/lib/*.aot    what a JVM need not do again at each start: of the agent, of the command line
#   dist/mdlagent-VERSION-linux-x86_64.tar.gz
#
# Each part is made again only when what goes into it has changed; the files of hashes in target/dist tell.
set -euo pipefail
shopt -s extglob

version=$1
java_home=${TOOLCHAIN_JAVA_HOME:?the directory of a JDK 25}
cd "$(dirname "$0")/../.."
root=$(cd .. && pwd)
target=$PWD/target
work=$target/dist
dist=$root/dist
runtime=$dist/runtime
store_modules=java.compiler,java.management,java.naming,jdk.compiler,jdk.unsupported
modules=org.mdlagent.runtime,org.mdlagent.calibrator,info.picocli,com.sun.jna,HdrHistogram,jdk.httpserver,org.jline.terminal.ffm,org.tukaani.xz,$store_modules
# What of these modules nothing here needs; docs/distribution.md says what the rest is for.
unused_resources=('/com.sun.jna/**.'{so,dll,a,jnilib})
unused_files=('**'/{ct.sym,classlist,jrt-fs.jar,jexec,libsimdsort.so} '**'/bin/{javac,jwebserver,keytool,serialver})
# Modules of which hardly a class is ever read are compressed. The others are not: unpacking them would delay each start.
rarely_read=(/{jdk.compiler,java.compiler,jdk.zipfs,jdk.internal.opt,java.naming,java.security.sasl,java.management,org.jline.nativ,org.tukaani.xz}/'**')
say() { printf 'dist: %s\n' "$*"; }

# is_new PART FILES...: whether the files differ from those that PART was last made of. made PART: it is made of them now.
is_new() {
    sha256sum -- "${@:2}" >"$work/$1.inputs"
    ! cmp -s "$work/$1.inputs" "$work/$1.made"
}
made() { mv "$work/$1.inputs" "$work/$1.made"; }

# put FROM TO MODE: by a rename, because a running program may have TO mapped.
put() {
    cmp -s "$1" "$2" || { cp "$1" "$2.new" && chmod "$3" "$2.new" && mv -f "$2.new" "$2"; }
}

put_files() {
    local library file
    sed "s/@VERSION@/$version/" src/dist/mdl >"$work/mdl"
    put "$work/mdl" "$dist/bin/mdl" 755
    put "$root/LICENSE" "$dist/LICENSE" 644
    put "$root/native-shim/include/fastinst.h" "$dist/include/fastinst.h" 644
    put "$root/native-shim/target/cmake/libmdlagent.so" "$dist/lib/libmdlagent.so" 755
    put "$root/native-shim/target/cmake/mdl-calibrate-trial" "$dist/lib/mdl-calibrate-trial" 755
    put "$root/native-shim/target/cmake/mdl-inject" "$dist/lib/mdl-inject" 755
    put "$root/native-shim/target/cmake/libmdldemangle.so" "$dist/lib/libmdldemangle.so" 755
    put "$root/native-shim/target/cmake/libmdlkept.so" "$dist/lib/libmdlkept.so" 755
    for library in libZydis.so.4.0 libZycore.so.1.4; do
        file=$(/sbin/ldconfig -p | sed -n "s/^[[:space:]]*$library .*x86-64.* => //p" | head -n 1)
        [ -n "$file" ] || { say "$library is missing: apt-get install libzydis-dev libzycore-dev" >&2; exit 1; }
        put "$file" "$dist/lib/$library" 644
    done
}

# Chronicle Map makes the source of a class and compiles it, each time it starts: here that is done once. It looks for the
# compiler all the same.
put_store() {
    local class=net/openhft/chronicle/hash/VanillaGlobalMutableState\$\$Native
    local values=$work/values
    say "collecting what the profile store needs"
    rm -rf "$values" "$dist/lib/store.new"
    mkdir -p "$values/made" "$(dirname "$values/$class")" "$dist/lib/store.new"
    "$java_home/bin/javac" -nowarn -cp "$target/store/*" -d "$values/made" src/dist/ValueSource.java
    "$java_home/bin/java" @src/dist/store-options.txt --add-exports=jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED \
        -cp "$values/made:$target/store/*" net.openhft.chronicle.values.ValueSource "${class//\//.}" >"$values/$class.java"
    "$java_home/bin/javac" -nowarn -cp "$target/store/*" -d "$values" "$values/$class.java"
    "$java_home/bin/jar" --create --date=2026-01-01T00:00:00Z --file "$dist/lib/store.new/values.jar" -C "$values" "$class.class"
    cp "$target"/store/*.jar "$dist/lib/store.new/"
    cp src/dist/store-options.txt "$dist/lib/store.new/jvm-options.txt"
    rm -rf "$dist/lib/store"
    mv "$dist/lib/store.new" "$dist/lib/store"
}

link_runtime() {
    local jars=("$work/picocli.jar" "$target/mdl-runtime-$version.jar" "$target"/modules/!(picocli-*).jar)
    say "linking the runtime"
    rm -rf "$runtime" "$work/runtime"
    "$java_home/bin/java" src/dist/RenewClasses.java "$target"/modules/picocli-*.jar "$work/picocli.jar"
    "$java_home/bin/jlink" --module-path "$(IFS=:; echo "${jars[*]}")" --add-modules "$modules" --output "$work/runtime" \
        --compress "zip-9:filter=$(IFS=,; echo "${rarely_read[*]}")" --strip-debug --no-header-files --no-man-pages --exclude-resources "$(IFS=,; echo "${unused_resources[*]}")" \
        --exclude-files "$(IFS=,; echo "${unused_files[*]}")"
    # Else JNA unpacks this library into the user's cache.
    (cd "$work" && "$java_home/bin/jar" xf "$target"/modules/jna-*.jar com/sun/jna/linux-x86-64/libjnidispatch.so)
    mv "$work/com/sun/jna/linux-x86-64/libjnidispatch.so" "$work/runtime/lib/"
    mv "$work/runtime" "$runtime"
}

# The AOT caches, JEP 483 and 514: a training run is recorded, then the cache is made of the recording. In both runs the
# JVM has exactly the options that it has in use, or it refuses the cache. Paths are relative: options are split at blanks.
create="-XX:AOTMode=create -XX:+AOTClassLinking"

# The agent's: what it does in a program, from its start through some hundred epochs. The program has compiled-in probes,
# the libraries none; one has a symbol table.
cache_agent() {
    local options program tenths
    say "training the agent's cache"
    rm -rf "$work"/agent.* "$work/session"
    g++ -std=c++17 -O2 -pthread -finstrument-functions "$root/examples/wordfreq.cpp" -o "$work/wordfreq"
    g++ -std=c++17 -O2 -fPIC -shared "$root/examples/wordfreq.cpp" -o "$work/libbare.so"
    # A calibration, of another machine: so that reading one is trained.
    install -D -m 644 src/dist/tmax-of-another-machine.properties "$work/state/mdl/tmax.properties"
    (cd "$work" && LD_PRELOAD=$dist/lib/libmdlagent.so:$work/libbare.so MDL_OPTIONS="include=wordfreq!*,include=libbare.so!*,include=libm.so*!*,session=$work/session" XDG_STATE_HOME=$work/state \
        MDL_JVM_EXTRA="-XX:AOTMode=record -XX:AOTConfiguration=agent.conf -XX:-DisableAttachMechanism -XX:+StartAttachListener" \
        exec ./wordfreq 1000000000 1 >agent.out 2>&1) &
    program=$!
    for ((tenths = 0; tenths < 300; tenths++)); do
        ! grep -qs 'armed after' "$work/session/agent.log" || break
        sleep 0.1
    done
    sleep 2
    "$java_home/bin/jcmd" "$program" AOT.end_recording >>"$work/agent.out" 2>&1 || true
    kill "$program"
    wait "$program" || true
    rm -f "/tmp/.java_pid$program"
    [ -s "$work/agent.conf" ] || { say "the agent was not recorded:" >&2; cat "$work/agent.out" "$work/session/agent.log" >&2; exit 1; }
    mapfile -t options < <(sed -e '/^#/d; /^-XX:AOTCache=/d' -e "s|@RUNTIME@|$runtime|; s|@SESSION@|$work|" "$root/native-shim/src/jvm-options.txt")
    (cd "$work" && "$runtime/bin/java" "${options[@]}" $create -XX:AOTConfiguration=agent.conf -XX:AOTCache=agent.aot) >>"$work/agent.out" 2>&1
    mv -f "$work/agent.aot" "$runtime/lib/"
}

# The command line's: a report of that program.
cache_command_line() {
    say "training the command line's cache"
    rm -f "$work"/cli.*
    (cd "$work" && MDL_CLI_JVM_EXTRA="-XX:AOTMode=record -XX:AOTConfiguration=cli.conf" "$dist/bin/mdl" report "$work/session" &&
        MDL_CLI_JVM_EXTRA="$create -XX:AOTConfiguration=cli.conf -XX:AOTCache=cli.aot" "$dist/bin/mdl") >"$work/cli.out" 2>&1
    mv -f "$work/cli.aot" "$runtime/lib/"
}

# What `mdl --help` says, as for a terminal.
put_help() {
    MDL_CLI_JVM_EXTRA="-Dpicocli.ansi=true" "$dist/bin/mdl" help >"$work/help.txt"
    put "$work/help.txt" "$dist/lib/help.txt" 644
}

pack() {
    local name=mdlagent-$version-linux-x86_64
    say "packing $name.tar.gz"
    tar czf "$dist/$name.tar.gz.new" -C "$dist" --transform "s|^|$name/|" --owner=0 --group=0 bin include lib runtime LICENSE
    mv -f "$dist/$name.tar.gz.new" "$dist/$name.tar.gz"
}

mkdir -p "$work" "$dist/bin" "$dist/include" "$dist/lib"
put_files
if is_new store "$target"/store/*.jar src/dist/ValueSource.java src/dist/store-options.txt || [ ! -e "$dist/lib/store" ]; then
    put_store
    made store
fi
# Not the jars: they carry the time at which they were made.
mapfile -t inputs < <(find "$root"/{arch,callpatch,fastinst,tmax-calibrator,profiler,mdl-runtime}/target/classes -type f | sort)
if is_new runtime "${inputs[@]}" "$root/pom.xml" pom.xml "$java_home/release" src/dist/{assemble.sh,RenewClasses.java}; then
    link_runtime
    made runtime
fi
inputs=("$work/runtime.made" "$dist/bin/mdl" "$dist"/lib/{libmdlagent.so,mdl-calibrate-trial} "$root/native-shim/src/jvm-options.txt")
if is_new caches "${inputs[@]}" || [ ! -e "$runtime/lib/cli.aot" ]; then
    cache_agent
    cache_command_line
    put_help
    pack
    made caches
fi
