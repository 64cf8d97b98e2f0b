#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# packages_test.sh TREE WORK: ./dev builds with nothing but the Debian packages that it installs for that. It configures
# and builds in WORK, where no program, no pkg-config file, no header and no library is to be had but those of the
# packages of one list of ./dev, of what these depend on, and of the packages that every Debian has.
# Exit status 77: this cannot be told here.
set -eu
tree=$1
work=$2
deps=${LEAT_DEPS_DIR:-$tree/.leat-deps}

skip() {
  echo "skipped: $*"
  exit 77
}

command -v dpkg-query >/dev/null ||
  skip "this is no Debian system, so what a package brings is not known; ./dev build on a fresh Debian shows the same"
[ -e "$deps/python/leat-stamp" ] && [ -e "$deps/headers/leat-stamp" ] || [ -n "${ONNXRUNTIME_LIBRARY:-}" ] ||
  skip "ONNX Runtime is not in $deps; ./dev setup brings it"

rm -rf "$work"
mkdir -p "$work"

# closure PACKAGE...: these, those that every Debian has, and all that they depend on. Where one of several will do, it
# is the first of them that is installed here; apt would take the first of all.
closure() {
  # shellcheck disable=SC2016 # ${...} is dpkg-query's own notation.
  dpkg-query -W -f '${db:Status-Status}\t${Package}\t${Essential}\t${Provides}\t${Pre-Depends}, ${Depends}\n' |
    awk -F '\t' -v wanted="$*" '
      function name(text) { sub(/^ +/, "", text); sub(/[ :(].*/, "", text); return text }
      function add(package) { if (package != "" && !(package in chosen)) { chosen[package]; queue[++last] = package } }
      $1 == "installed" {
        provider[$2] = $2
        needs[$2] = needs[$2] "," $5
        if ($3 == "yes") add($2)
        for (i = split($4, words, ","); i > 0; --i) if (!(name(words[i]) in provider)) provider[name(words[i])] = $2
      }
      END {
        for (i = split(wanted, words, " "); i > 0; --i) add(words[i])
        while (first < last) {
          package = queue[++first]
          print package
          for (i = split(needs[package], groups, ","); i > 0; --i) {
            count = split(groups[i], words, "|")
            for (k = 1; k <= count && !(name(words[k]) in provider); ++k) { }
            if (k <= count) add(provider[name(words[k])])
          }
        }
      }'
}

# Packages name files by /bin and its like, which are links into /usr.
one_name() {
  sed -E 's,^/(bin|sbin|lib[^/]*)/,/usr/\1/,'
}

# foreign: of the paths on standard input those that no package of $world brings, be it by another name.
foreign() {
  sort -u >"$world/asked"
  xargs -r realpath -m -- <"$world/asked" >"$world/real"
  paste "$world/asked" "$world/real" | one_name |
    awk -F '\t' 'NR == FNR { ours[$1]; next } !($1 in ours) && !($2 in ours) { print $1 }' "$world/files" -
}

# make_world COMMAND: what ./dev COMMAND may count on, in the folder $world.
make_world() {
  world=$work/$1
  mkdir -p "$world/bin" "$world/pkgconfig" "$world/tree"
  packages=$("$tree/dev" packages "$1")
  for package in $packages; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      skip "the package $package, which ./dev $1 needs, is not installed; ./dev setup does that"
  done
  # shellcheck disable=SC2046,SC2086 # Lists of words.
  dpkg-query -L $(closure $packages) | one_name | sort -u >"$world/files"
  # Links that no package owns, as cc into /etc/alternatives, count as what they lead to.
  printf '%s\n' /usr/bin/* /usr/sbin/* >"$world/programs"
  foreign <"$world/programs" >"$world/foreign"
  grep -vxFf "$world/foreign" "$world/programs" | xargs ln -s -t "$world/bin"
  grep -E '^/usr/(lib|share)/(.*/)?pkgconfig/[^/]*\.pc$' "$world/files" | xargs ln -s -t "$world/pkgconfig"
  # CMake looks for programs where the system has them, whatever PATH says. Nothing of what is built runs, and what is
  # read does not depend on optimisation.
  cat >"$world/toolchain.cmake" <<'END'
set(CMAKE_IGNORE_PATH /usr/bin /usr/sbin /bin /sbin /usr/local/bin /usr/local/sbin)
set(CMAKE_C_FLAGS_RELWITHDEBINFO -DNDEBUG CACHE STRING "")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO -DNDEBUG CACHE STRING "")
END
  # The tree itself, with build folders of its own.
  for entry in "$tree"/*; do
    case ${entry##*/} in
      build* | dev | CMakeLists.txt) ;;
      *) ln -s "$entry" "$world/tree/" ;;
    esac
  done
  cp "$tree/dev" "$tree/CMakeLists.txt" "$world/tree/"
}

# within COMMAND...: runs it in $world; what it says is in $world/log.
within() {
  env -i HOME="$world" LC_ALL=C PATH="$world/bin" PKG_CONFIG_LIBDIR="$world/pkgconfig" \
    CMAKE_TOOLCHAIN_FILE="$world/toolchain.cmake" LEAT_DEPS_DIR="$deps" PYTHON="${PYTHON:-}" \
    ONNXRUNTIME_INCLUDE_DIR="${ONNXRUNTIME_INCLUDE_DIR:-}" ONNXRUNTIME_LIBRARY="${ONNXRUNTIME_LIBRARY:-}" \
    "$@" >"$world/log" 2>&1
}

failures=0

fail() {
  failures=$((failures + 1))
  printf 'FAIL %s\n' "$*"
}

# builds COMMAND TARGET...: what ./dev COMMAND brings is enough to configure the whole tree and to build the targets.
builds() {
  make_world "$1"
  shift
  if ! within "$world/tree/dev" build "$@"; then
    fail "with the packages of ./dev packages ${world##*/} alone:"
    cat "$world/log"
    return
  fi
  within sh -c "cd '$world/tree/build' && ninja -t deps" || fail "what was read cannot be told"
  foreign_files=$({
    sed -n 's,^ *\(/usr/.*\),\1,p' "$world/log"
    tr -s ' :|=' '\n' <"$world/tree/build/build.ninja" | grep -E '^/usr/.*\.(so[.0-9]*|a)$'
  } | foreign)
  [ -z "$foreign_files" ] || fail "./dev packages ${world##*/} does not bring:" "$foreign_files"
}

# Everything is configured; what is built uses each compiler, header and library at least once. The jobs need more, for
# the tests.
builds unit life_holder test-tools-npy
builds build leat-info leat-bench leat-run leat_onnxruntime

# Canaries, of the second: a header that its packages do not bring, and a language whose compiler they do not.
[ -n "$(dpkg-query -L libcmocka-dev | grep '\.h$' | foreign)" ] || fail "canary: a header of another package was NOT noticed"
echo 'enable_language(CXX)' >>"$world/tree/CMakeLists.txt"
rm -f "$world/tree/build/dev-stamp"
if within "$world/tree/dev" build leat-info || ! grep -q 'CMAKE_CXX_COMPILER' "$world/log"; then
  fail "canary: that configuring asks for a C++ compiler was NOT noticed:"
  cat "$world/log"
fi

[ "$failures" -eq 0 ] && echo "the packages of ./dev bring all that was used"
