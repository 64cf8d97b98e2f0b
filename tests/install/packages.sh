#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# packages.sh WORK [ORT-LIBRARY MODEL.onnx]: the Debian packages that ./dev deb made, in a Debian root that has nothing but
# what debootstrap puts there: installed by apt, used (leat-info on lavapipe; a project of its own, with CMake and with
# pkg-config; with ORT-LIBRARY, a libonnxruntime.so.1.N.M, a model by leat-run), purged, and nothing is left. By hand, as
# root, with debootstrap; the root is kept in WORK for the next time. Some minutes, and 500 MB of downloads.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd -P)
mkdir -p "$1"
work=$(cd "$1" && pwd -P)
library=${2:-}
model=${3:-}
suite=bookworm
base=$work/$suite
root=$work/root

say() {
  printf '== %s\n' "$*"
}

unmount() {
  for folder in proc dev; do
    ! mountpoint -q "$root/$folder" || umount "$root/$folder"
  done
}

inside() {
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" LEAT_CACHE_DIR= "$@"
}

# apt COMMAND PACKAGE...
apt() {
  inside sh -c 'apt-get -qq -y --no-install-recommends -o DPkg::Use-Pty=0 "$@"' - "$@" >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 1
  }
}

# What a package could leave behind: files, but for apt's and dpkg's own records.
listing() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp -o -path ./var/cache -o -path ./var/lib/apt \
    -o -path ./var/lib/dpkg -o -path ./var/log -o -path ./packages \) -prune -o -print | sort)
}

ls "$tree"/build-deb/*.deb >/dev/null || {
  echo "there are no packages in $tree/build-deb; ./dev deb makes them"
  exit 1
}

unmount
if [ ! -e "$base/made" ]; then
  rm -rf --one-file-system "$base"
  # shellcheck disable=SC2016 # $(...) is apt's own notation.
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $suite" 2>/dev/null | head -n 1)
  debootstrap --variant=minbase --include=ca-certificates $suite "$base" "$mirror" >"$work/debootstrap.log"
  touch "$base/made"
fi
rm -rf --one-file-system "$root"
cp -a "$base" "$root"
# This machine's way to its mirrors.
rm -f "$root/etc/apt/sources.list"
cp -r /etc/apt/sources.list* /etc/apt/apt.conf.d "$root/etc/apt/"
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
  [ ! -e $file ] || install -D $file "$root$file"
done
trap unmount EXIT
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mkdir "$root/packages"
cp "$tree"/build-deb/*.deb "$root/packages/"
rm -f "$root"/packages/*-dbgsym_*.deb
[ -z "$library" ] || cp "$library" "$root/packages/libonnxruntime.so.1"
[ -z "$model" ] || cp "$model" "$root/packages/model.onnx"
apt update

say "what the tests need beside the packages"
apt install mesa-vulkan-drivers
listing >"$work/before"

say "the plugin and the tools"
packages=
for package in leat-tools libleat-batch0 libleat-host0 libleat-vulkan1; do
  packages="$packages /packages/$(cd "$root/packages" && echo ${package}_*.deb)"
done
# shellcheck disable=SC2086 # A list of words.
apt install $packages
inside leat-info --version
inside leat-info --check

say "all of them"
helpers='cmake gcc libc6-dev make man-db pkg-config'
# shellcheck disable=SC2046,SC2086 # Lists of words.
apt install $(cd "$root" && printf '/%s ' packages/*.deb) $helpers
inside man -w leat-info leat-run leat-bench leat-conformance
# shellcheck disable=SC2016 # It is for the shell inside.
inside sh -ec '
  cp -r /usr/share/doc/libleat-dev/examples /tmp/examples
  cmake -S /tmp/examples/consumer -B /tmp/cmake >/tmp/log && cmake --build /tmp/cmake >>/tmp/log || { cat /tmp/log; exit 1; }
  grep provider /tmp/log
  (cd /tmp/cmake && ctest --output-on-failure)
  cc -std=c11 /tmp/examples/add.c $(pkg-config --cflags --libs leat-host) -o /tmp/add
  test "$(/tmp/add)" = "11 22 33 44"
  cc -std=c11 -shared -fPIC $(pkg-config --cflags leat) /tmp/examples/template.c -o /tmp/mine.so
  leat-conformance /tmp/mine.so >/tmp/log || test $? -eq 77
  leat-conformance --quiet --batch=64 --filter "dlpack.*" "$(pkg-config --variable=plugin leat)"'
if [ -n "$library" ] && [ -n "$model" ]; then
  inside env LD_LIBRARY_PATH=/packages leat-run /packages/model.onnx --threads 2 --runs 5
fi

listing | grep -q leat || {
  echo "canary: files of installed packages were NOT noticed"
  exit 1
}

say "purged"
apt purge libleat-vulkan1 libleat-host0 libleat-batch0 libleat-dev leat-tools libonnxruntime-ep-leat
# shellcheck disable=SC2086 # A list of words.
apt autopurge $helpers
listing >"$work/after"
left=$(comm -13 "$work/before" "$work/after" | grep -i leat || :)$(inside dpkg-query -W '*leat*' 2>/dev/null || :)
if [ -n "$left" ]; then
  echo "left behind:"
  echo "$left"
  exit 1
fi
say "the packages install, run and leave nothing"
