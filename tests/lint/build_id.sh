#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# build_id.sh TREE PROGRAM PLUGIN STALE [BINARY...]: fails unless what is about to be tested was built from TREE as it
# is now. PROGRAM prints the build id of the backend PLUGIN; each BINARY holds its id as text. STALE is a backend with
# another id, which must be refused. LEAT_TESTS_ALLOW_MISMATCH=1 lets a mismatch pass, with a warning.
set -eu
tree=$1
program=$2
plugin=$3
stale=$4
shift 4
id=$(sh "$tree/cmake/build_id.sh" "$tree")

if [ "$id" = unknown ]; then
  echo "the tree has neither a git commit nor a file VERSION.build, so there is nothing to compare with"
  exit 0
fi

# same PLUGIN: whether it says that it was built from this tree.
same() {
  theirs=$("$program" "$1") && [ "$theirs" = "$id" ]
}

if same "$stale"; then
  echo "canary $stale: its build id was NOT refused"
  exit 1
fi
# The id as text, and not as the beginning of that of a tree with changes.
pattern=$(printf '%s' "$id" | sed 's/[+]/[+]/')'([^+]|$)'
wrong=0
if same "$plugin"; then
  echo "$plugin: $id"
else
  echo "$plugin: was built as ${theirs:-nothing that can be told}, but the tree is $id"
  wrong=1
fi
for binary in "$@"; do
  if [ ! -e "$binary" ]; then
    echo "$binary: is not there"
    wrong=1
  elif grep -a -q -E -e "$pattern" "$binary"; then
    echo "$binary: $id"
  else
    echo "$binary: does not hold the tree's build id, $id"
    wrong=1
  fi
done
if [ "$wrong" = 1 ]; then
  if [ "${LEAT_TESTS_ALLOW_MISMATCH:-0}" = 1 ]; then
    echo "LEAT_TESTS_ALLOW_MISMATCH=1: tested all the same; the results say nothing about this tree"
    exit 0
  fi
  echo "build again (./dev build), or set LEAT_TESTS_ALLOW_MISMATCH=1 to test all the same"
fi
exit $wrong
