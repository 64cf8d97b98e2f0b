#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# exports.sh LIBRARY SYMBOL...: fails unless the library exports exactly these symbols.
# exports.sh --canary LIBRARY SYMBOL...: fails if it does; LIBRARY is one that exports more or others.
set -eu
expect=0
if [ "$1" = --canary ]; then
  expect=1
  shift
fi
library=$1
shift
if [ ! -e "$library" ]; then
  echo "$library: is not there; build it first"
  exit 1
fi
wanted=$(printf '%s\n' "$@" | sort)
found=$(nm -D --defined-only "$library" | awk '{ print $NF }' | sort)
if [ "$found" = "$wanted" ]; then
  same=0
  echo "$library: exports" "$@"
else
  same=1
  echo "$library: exports"
  printf '  %s\n' "$found"
  echo "instead of"
  printf '  %s\n' "$wanted"
fi
[ "$same" = "$expect" ]
