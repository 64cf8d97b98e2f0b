#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages that commands of ./dev need, and how they are installed.
# shellcheck source=tools/ci/lib/common.sh
. "${0%/*}/lib/common.sh"

# Where Debian keeps the certificates that everybody trusts.
CERTIFICATES=/etc/ssl/certs/ca-certificates.crt

# Debian 12 packages. The first list builds and runs Leat, the second builds its tests and is for ./dev test.
PACKAGES_BUILD='binutils ca-certificates cmake gcc git glslc libc6-dev libdlpack-dev libglib2.0-dev libjson-glib-dev
  libvulkan-dev mesa-vulkan-drivers ninja-build pkg-config python3 python3-venv'
PACKAGES_TEST='abigail-tools clang clang-format flake8 g++ libclang-rt-14-dev libcmocka-dev locales nodejs patchelf
  shellcheck vulkan-validationlayers'
PACKAGES_DEB='debhelper dpkg-dev'
# What runs programs for aarch64 here.
PACKAGES_AARCH64='qemu-user'

# wants_tests COMMAND: whether it is for those who test, and not for everybody who builds.
wants_tests() {
  case $1 in
    build | info | bench | demo | deb | dist | aarch64) return 1 ;;
    setup | test | check | ci | unit | which | conformance | validation | asan | tsan | newest | limits | clang | tsa \
      | fuzz | mutants) return 0 ;;
    *) stop "'$1' needs no packages, or is no command; ./dev help lists them" ;;
  esac
}

# packages_of COMMAND: the Debian packages that it needs.
packages_of() {
  list=$PACKAGES_BUILD
  ! wants_tests "$1" || list="$list $PACKAGES_TEST"
  [ "$1" != deb ] || list="$list $PACKAGES_DEB"
  [ "$1" != aarch64 ] || list="$list $PACKAGES_AARCH64"
  # shellcheck disable=SC2086 # One line for each.
  printf '%s\n' $list
}

missing_packages() {
  for package in "$@"; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true) in
      *' installed') ;;
      *) printf '%s ' "$package" ;;
    esac
  done
}

# setup_packages LIST...: installs what is missing of Debian's packages.
setup_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "this is no Debian system, so its packages are not looked at; needed: $*"
    return 0
  fi
  missing=$(missing_packages "$@")
  missing=${missing% }
  [ -n "$missing" ] || return 0
  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    if sudo -n true 2>/dev/null; then
      as_root='sudo -n'
    else
      stop "Debian packages are missing, and this user may not install them (not root, and no sudo without a password):" \
        "  $missing" "Have them installed, then run this again:" "  apt-get update && apt-get install $missing"
    fi
  fi
  # A bundle of certificates that is there without its package is the machine's own; the package will replace it. pip is
  # shown the copy.
  case " $missing " in
    *' ca-certificates '*) [ ! -e $CERTIFICATES ] || cp $CERTIFICATES "$DEPS/ca-certificates.crt" ;;
  esac
  say "installing Debian packages: $missing"
  # shellcheck disable=SC2086 # as_root and missing are lists of words.
  logged apt-update $as_root apt-get update ||
    stop "apt-get update failed. Is the mirror in /etc/apt reachable (network, proxy)? Mend that, then run this again."
  # shellcheck disable=SC2086
  logged apt-install $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing ||
    stop "apt-get could not install the packages. This needs Debian 12 (bookworm) or newer; see the lines above." \
      "What it tried: apt-get install --no-install-recommends $missing"
}
