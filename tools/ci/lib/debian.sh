#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Packages of other suites and architectures of Debian: unpacked in a folder, never installed.
# shellcheck source=tools/ci/lib/common.sh
. "${0%/*}/lib/common.sh"

# apt_in FOLDER ARGUMENT...: apt-get that keeps what it learns in a folder and touches nothing of the system. It serves
# what Debian 12 does not have new enough (ONNX Runtime's headers, a glslc, Mesa): a newer suite among the machine's own
# sources could change what that installs, and a package's plain address ends with its version. And it serves packages
# for another architecture, which the system then need not know of.
apt_in() {
  kept=$1
  shift
  mkdir -p "$kept/state/lists/partial" "$kept/cache/archives/partial"
  apt-get -o Dir::State="$kept/state" -o Dir::State::Status=/var/lib/dpkg/status -o Dir::Cache="$kept/cache" \
    -o APT::Sandbox::User="$(id -un)" "$@"
}

# mirrors_of COMMAND...: base addresses of this machine's own Debian mirrors, as an apt-get understands its configuration
# (any format).
mirrors_of() {
  # shellcheck disable=SC2016 # $(...) is apt's own notation.
  "$@" indextargets --format '$(LABEL)|$(COMPONENT)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed -n 's/^Debian|main|//p' | grep -v '^cdrom:' | sort -u
}

# Where apt's lists were never fetched or were cleaned away, apt knows no mirror, so they are fetched aside.
debian_mirrors() {
  mirrors=$(mirrors_of apt-get)
  if [ -z "$mirrors" ]; then
    rm -rf "$DEPS/mirrors"
    logged mirrors apt_in "$DEPS/mirrors" update || true
    mirrors=$(mirrors_of apt_in "$DEPS/mirrors")
    rm -rf "$DEPS/mirrors"
  fi
  printf '%s\n' "$mirrors"
}

# suite_apt FOLDER ARGUMENT...: with the source of FOLDER alone. Signatures are checked, dates are not: a mirror that is
# a snapshot serves as well.
suite_apt() {
  kept=$1
  shift
  apt_in "$kept" -o Dir::Etc::SourceList="$kept/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Acquire::Check-Valid-Until=false "$@"
}

# begin_suite FOLDER MIRROR SUITE: makes the folder anew for suite_apt.
begin_suite() {
  rm -rf "$1"
  mkdir -p "$1"
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  options=
  [ ! -e $keyring ] || options="[signed-by=$keyring] "
  printf 'deb %s%s %s main\n' "$options" "$2" "$3" >"$1/sources.list"
}

# fetch_apart FOLDER SUITE PACKAGE...: unpacks packages and all that they need, down to the C library, into FOLDER/root.
fetch_apart() {
  folder=$1
  suite=$2
  shift 2
  : >"$folder/nothing-installed"
  logged "$(basename "$folder")-update-$suite" suite_apt "$folder" update --error-on=any || return 1
  logged "$(basename "$folder")-download-$suite" suite_apt "$folder" -o Dir::State::Status="$folder/nothing-installed" \
    -o Debug::NoLocking=1 install --yes --download-only --no-install-recommends "$@" || return 1
  for file in "$folder"/cache/archives/*.deb; do
    logged "$(basename "$folder")-unpack-$suite" dpkg-deb -x "$file" "$folder/root" || return 1
  done
}

# run_apart FOLDER PROGRAM [OPTIONS]: a script that runs what was unpacked there from a newer Debian, with that one's own
# loader and libraries.
run_apart() {
  cat <<END
#!/bin/sh
root='$1/root'
libraries=\$(echo "\$root"/usr/lib/*-linux-gnu)
exec "\$libraries"/ld-linux-*.so.* --library-path "\$libraries:\$root/usr/lib" "\$root/usr/bin/$2" ${3:-} "\$@"
END
}

# setup_apart FOLDER SUITES PACKAGE...: the same from the first of these suites that has them; nothing is installed. What
# was unpacked for the same packages is kept. False: none has them.
setup_apart() {
  place=$1
  suites=$2
  shift 2
  [ ! -e "$place/leat-stamp" ] || [ "$(cat "$place/leat-stamp")" != "$*" ] || return 0
  say "downloading Debian's $* (unpacked in $place)"
  for mirror in $(debian_mirrors); do
    for suite in $suites; do
      if begin_suite "$place" "$mirror" "$suite" && fetch_apart "$place" "$suite" "$@"; then
        rm -rf "$place/state" "$place/cache"
        printf '%s\n' "$*" >"$place/leat-stamp"
        return 0
      fi
    done
  done
  return 1
}
