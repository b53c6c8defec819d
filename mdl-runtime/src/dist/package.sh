#!/usr/bin/env bash
# package.sh [OUT-DIRECTORY]: makes mdlagent_VERSION_amd64.deb of what assemble.sh has put together. DEB_COMPRESSION: xz, or
# none, which is quick. DEBFULLNAME, DEBEMAIL: the maintainer, as Debian's tools have it.
#
#   /usr/lib/mdlagent/             bin, include, lib, runtime, as in dist
#   /usr/bin/mdl                   a link to the launcher there
#   /usr/include/fastinst.h        another
#   /usr/share/man/man1            written by mdl manual, as are the completions for bash and zsh
#   /usr/share/doc/mdlagent        the documents, the examples of docs/production.md and docs/scripting.md, and the MDL of the metrics
#
# When it is installed, T_max is measured in the background, for 20 s, into /etc/mdl/tmax.properties, which goes with it.
set -euo pipefail
umask 022
root=$(cd "$(dirname "$0")/../../.." && pwd)
dist=$root/dist
out=$(realpath "${1:-$dist}")
version=$("$dist/bin/mdl" --version | sed 's/^mdl //; s/-SNAPSHOT/~snapshot/')
maintainer="${DEBFULLNAME:-mdlagent} <${DEBEMAIL:-maintainers@mdlagent.org}>"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
share=$tree/usr/share
documents=$share/doc/mdlagent
mkdir -p "$tree"/usr/{bin,include,lib/mdlagent} "$tree/DEBIAN" "$share"/{man,bash-completion/completions,zsh/vendor-completions} \
    "$share/lintian/overrides" "$documents"

# With their times: a JVM takes an AOT cache only beside the modules that it was made with, which it knows by their time.
cp -a "$dist"/{bin,include,lib,runtime} "$tree/usr/lib/mdlagent/"
chmod -R u=rwX,go=rX "$tree/usr"
find "$tree/usr/lib/mdlagent" -name '*.so*' -exec chmod a-x {} +
strip --strip-unneeded -p "$tree"/usr/lib/mdlagent/lib/{libmdlagent.so,libmdldemangle.so,libmdlkept.so,mdl-calibrate-trial,mdl-inject}
ln -s ../lib/mdlagent/bin/mdl "$tree/usr/bin/mdl"
ln -s ../lib/mdlagent/include/fastinst.h "$tree/usr/include/fastinst.h"

"$dist/bin/mdl" manual "$work/manual"
cp -r "$work/manual/man1" "$share/man/"
gzip -9n "$share"/man/man1/*
cp "$work/manual/bash/mdl" "$share/bash-completion/completions/mdl"
cp "$work/manual/zsh/_mdl" "$share/zsh/vendor-completions/_mdl"

cp "$root"/{README,SECURITY,ARCHITECTURE,CHANGELOG,CONTRIBUTING}.md "$documents/"
cp -r "$root/docs" "$documents/docs"
cp -r "$root/examples/production" "$documents/examples"
cp -r "$root/examples/scripts" "$documents/examples/scripts"
cp -r "$root/mdl-runtime/src/main/resources/org/mdlagent/runtime/mdl/metrics" "$documents/metrics"
find "$documents" -type f -exec chmod 644 {} +
date=$(git -C "$root" log -1 --format=%cD 2>/dev/null || date -R)
printf 'mdlagent (%s) unstable; urgency=medium\n\n  * CHANGELOG.md says what is new.\n\n -- %s  %s\n' "$version" "$maintainer" "$date" |
    gzip -9n >"$documents/changelog.gz"
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n'
    printf 'Files: *\nCopyright: the authors of mdlagent\nLicense: Apache-2.0\n'
    printf ' On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n\n'
    printf 'Files: usr/lib/mdlagent/runtime/*\nCopyright: Oracle and others; usr/lib/mdlagent/runtime/legal names them\n'
    printf 'License: GPL-2 with Classpath exception\n On Debian systems the text is in /usr/share/common-licenses/GPL-2;\n'
    printf ' the exception is in usr/lib/mdlagent/runtime/legal/java.base/LICENSE.\n'
} >"$documents/copyright"
cat >"$share/lintian/overrides/mdlagent" <<'END'
# The JVM carries its own zlib, as its maker builds and tests it.
mdlagent: embedded-library *
# Names of its functions: without them a crash report is a list of numbers.
mdlagent: unstripped-binary-or-object *
END

# The newest version of libc that any of the libraries asks for.
libc=$(find "$tree/usr/lib/mdlagent" -type f -name '*.so*' -exec objdump -T {} + |
    grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
# In the time of the sources: the same sources make the same package.
find "$tree" -newermt "$date" ! -path '*/runtime/lib/*' -exec touch -h -d "$date" {} +
cat >"$tree/DEBIAN/control" <<END
Package: mdlagent
Version: $version
Architecture: amd64
Maintainer: $maintainer
Section: devel
Priority: optional
Depends: libc6 (>= ${libc#GLIBC_})
Installed-Size: $(du -k -s --apparent-size "$tree/usr" | cut -f 1)
Description: latency profiles of native programs, always on
 mdlagent is loaded into C, C++ and Rust programs with LD_PRELOAD. It switches
 probes in the running code on and off, without stopping a thread, and tells how
 long each function takes, at the median and at p99, within 1 % of the CPU time.
 .
 The command is mdl; mdl run -- PROGRAM is a beginning.
END
cat >"$tree/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
if [ "$1" = configure ] && [ -r /proc/cpuinfo ]; then
    nohup nice -n 19 mdl calibrate --quick --machine --if-unknown >/dev/null 2>&1 </dev/null &
fi
END
# Not in postrm: dpkg remembers removed packages that have one.
cat >"$tree/DEBIAN/prerm" <<'END'
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /etc/mdl ]; then
    rm -f /etc/mdl/tmax.properties
    rmdir --ignore-fail-on-non-empty /etc/mdl
fi
END
chmod 755 "$tree"/DEBIAN/postinst "$tree"/DEBIAN/prerm
(cd "$tree" && find usr -type f -exec md5sum {} +) >"$tree/DEBIAN/md5sums"
dpkg-deb --root-owner-group -Z"${DEB_COMPRESSION:-xz}" --build "$tree" "$out/mdlagent_${version}_amd64.deb"
