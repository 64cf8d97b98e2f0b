#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# dev_test.sh DEV WORK: ./dev refuses what it does not know before it installs or builds anything.
set -u
dev=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
: >"$work/file"
cd "$work" || exit 1
checks=0
failures=0

# refused TEXT COMMAND...: it ends with 1 and says the text.
refused() {
  text=$1
  shift
  checks=$((checks + 1))
  said=$(timeout 20 "$@" 2>&1 </dev/null)
  got=$?
  case $said in
    *"$text"*) [ $got -ne 1 ] || return ;;
  esac
  failures=$((failures + 1))
  printf 'FAIL status %d, and not 1 with "%s": %s\n%s\n' "$got" "$text" "$*" "$said"
}

refused "there is no command 'nonsense'; ./dev help lists them" "$dev" nonsense
refused "there is no command '-x'" "$dev" -x
refused "there is no command 'lib/common'" "$dev" lib/common
refused "there is no command '../ci/test'" "$dev" ../ci/test
refused "there is no job 'nonsense' to check; there are: asan " "$dev" check asan nonsense
refused 'which wants the path of a file in this tree' "$dev" which
for command in setup test ci validation clang tsan limits aarch64; do
  refused "$command takes no arguments ('extra')" "$dev" $command extra
done
refused "dist has no argument 'extra'; it has: --arch NAME" "$dev" dist extra
refused "dist makes no wheel for 'sparc'; --arch takes one of: x86_64 aarch64" "$dev" dist --arch sparc
refused "dist makes no wheel for ''" "$dev" dist --arch=
refused 'dist --arch wants a name: x86_64 aarch64' "$dev" dist --arch
refused "dist takes one architecture at a time ('extra')" "$dev" dist --arch aarch64 extra
refused "dist takes one architecture at a time ('--arch=x86_64')" "$dev" dist --arch=aarch64 --arch=x86_64
for choice in --arch=aarch64 --arch=x86_64; do
  refused '/dev/null cannot be used for what is downloaded' env LEAT_DEPS_DIR=/dev/null "$dev" dist $choice
done
refused "'extra' is not known" "$dev" format extra
refused "'format' needs no packages" "$dev" packages format
refused "packages takes one command ('test')" "$dev" packages build test
# An emulator is installed for the one command that needs it.
for command in aarch64 setup dist; do
  checks=$((checks + 1))
  found=$("$dev" packages $command | grep -cx qemu-user)
  wanted=0
  [ $command != aarch64 ] || wanted=1
  [ "$found" -eq $wanted ] || {
    failures=$((failures + 1))
    echo "FAIL ./dev packages $command names qemu-user $found times, and not $wanted"
  }
done
refused '/dev/null cannot be used for what is downloaded' env LEAT_DEPS_DIR=/dev/null "$dev" info
# A relative path is from where the caller stands.
refused "$PWD/file/deps cannot be used" env LEAT_DEPS_DIR=file/deps "$dev" info

printf '%d checks, %d failures\n' "$checks" "$failures"
[ "$failures" -eq 0 ]
