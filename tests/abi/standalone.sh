#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# standalone.sh INCLUDE [OPTION...]: compiles leat/backend.h alone, as C11 and as C++17, with gcc and with clang, with
# all of -Wpedantic as errors. OPTIONs (such as -isystem FOLDER for DLPack) go to each compiler. Then the same with
# mistakes planted in the header, which must be refused.
set -eu
include=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0
printf '#include <leat/backend.h>\n' >"$work/alone.c"
cp "$work/alone.c" "$work/alone.cc"
cp "$work/alone.c" "$work/twice.c"
printf '#include <leat/backend.h>\n' >>"$work/twice.c"

# compile INCLUDE COMPILER LANGUAGE SOURCE [OPTION...]
compile() {
  from=$1 compiler=$2 language=$3 source=$4
  shift 4
  "$compiler" -std="$language" -Wall -Wextra -Wpedantic -Wundef -Wconversion -Werror -fsyntax-only -I"$from" "$@" \
    "$work/$source" >"$work/log" 2>&1
}


ways='gcc:c11:alone.c gcc:c11:twice.c g++:c++17:alone.cc clang:c11:alone.c clang:c11:twice.c clang++:c++17:alone.cc'
for way in $ways; do
  compiler=${way%%:*}
  rest=${way#*:}
  if ! command -v "$compiler" >/dev/null; then
    echo "$compiler is not installed: apt-get install gcc g++ clang"
    exit 1
  fi
  if compile "$include" "$compiler" "${rest%%:*}" "${rest#*:}" "$@"; then
    echo "$way: compiles"
  else
    cat "$work/log"
    echo "$way: does NOT compile"
    wrong=1
  fi
done

# canary NAME WAY TEXT: TEXT at the end of the header must be refused in that way.
canary() {
  name=$1 way=$2 text=$3
  shift 3
  mkdir -p "$work/$name/leat"
  cp "$include"/leat/*.h "$work/$name/leat/"
  printf '%s\n' "$text" >>"$work/$name/leat/backend.h"
  compiler=${way%%:*}
  rest=${way#*:}
  if compile "$work/$name" "$compiler" "${rest%%:*}" "${rest#*:}" "$@"; then
    echo "canary $name in $way: NOT refused"
    wrong=1
  else
    echo "canary $name in $way: refused"
  fi
}
for compiler in gcc clang; do
  canary "empty_array_$compiler" "$compiler:c11:alone.c" 'typedef struct planted { int a[0]; } planted;' "$@"
  canary "missing_include_$compiler" "$compiler:c11:alone.c" 'extern FILE *planted;' "$@"
done
canary keyword_gcc g++:c++17:alone.cc 'typedef struct planted { int class; } planted;' "$@"
canary keyword_clang clang++:c++17:alone.cc 'typedef struct planted { int class; } planted;' "$@"
exit $wrong
