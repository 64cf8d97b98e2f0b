#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# freeze.sh [VERSION]: makes tests/abi/vVERSION a copy of today's headers, with the offset and size of every member.
# VERSION is major_minor (1_0). A version that was released may not change any more: the file "released" in its folder
# has the sums of its files (abi.released), and this script then refuses.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
version=${1:-1_0}
case $version in
  [0-9]*_[0-9]*) ;;
  *)
    echo "freeze.sh: \"$version\" is not a version; write it as 1_0" >&2
    exit 2
    ;;
esac
out=$here/v$version
if [ -e "$out/released" ]; then
  echo "freeze.sh: ABI $version is released ($out/released); its copy stays as it is" >&2
  exit 1
fi
mkdir -p "$out/leat"
cp "$root/abi/leat/backend.h" "$root/abi/leat/dlpack.h" "$out/leat/"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
  cat <<'END'
#include <leat/backend.h>
#include <stdio.h>
#define STRUCT(s) printf("STRUCT(%s, %zu)\n", #s, sizeof(s));
#define MEMBER(s, m) printf("MEMBER(%s, %s, %zu, %zu)\n", #s, #m, offsetof(s, m), sizeof(((s *)0)->m));
int main(void) {
END
  python3 "$here/members.py" "$out/leat/backend.h"
  echo 'return 0; }'
} >"$work/layout.c"
"${CC:-cc}" -std=c11 -I"$out" -o "$work/layout" "$work/layout.c"
{
  echo '/* SPDX-License-Identifier: BSD-3-Clause */'
  echo '/* Made by freeze.sh: bytes of every struct, and offset and bytes of every member, where pointers have 8. */'
  "$work/layout"
} >"$out/layout.inc"
echo "freeze.sh: $out holds today's headers"
