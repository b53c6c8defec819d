#!/bin/bash
# bare-root.sh make ROOT PACKAGE...   makes a root directory of what this machine has of Debian packages and those that they
#                                     depend on, as their dpkg knows them
# bare-root.sh run ROOT COMMAND...    runs a command there, with no network and no process of elsewhere in sight
set -euo pipefail
root=$2

case $1 in
    make)
        mapfile -t packages < <(apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts \
            --no-breaks --no-replaces --no-enhances "${@:3}" | grep '^[a-z0-9]' | cut -d : -f 1 | sort -u)
        mkdir -p "$root"/{dev,proc,root,tmp,etc,usr/{bin,sbin,lib,lib64},var/{log,lib/dpkg/{info,updates,triggers}}}
        ln -s usr/{bin,sbin,lib,lib64} "$root/"
        for package in "${packages[@]}"; do
            dpkg-query --status "$package" && echo
            dpkg-query --listfiles "$package" >"$root/var/lib/dpkg/info/$package.list"
        done >"$root/var/lib/dpkg/status"
        cat "$root"/var/lib/dpkg/info/*.list | sort -u | while read -r file; do
            if [ -L "$file" ] || [ -f "$file" ]; then echo "$file"; fi
        done | tar -C / --no-recursion -cf - -T - 2>/dev/null | tar -C "$root" --keep-directory-symlink -xf -
        ;;
    run)
        # shellcheck disable=SC2016
        exec unshare --map-root-user --mount --net --pid --fork --kill-child sh -c '
            root=$1; shift
            mount --rbind /dev "$root/dev" && mount -t proc proc "$root/proc" || exit
            exec chroot "$root" env -i PATH=/usr/bin:/bin HOME=/root "$@"' sh "$root" "${@:3}"
        ;;
esac
