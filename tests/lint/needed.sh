#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# needed.sh CANARY LIBRARY...: fails if a LIBRARY is linked with anything but the C library's own parts, so that what a
# host loads is under no GPL or LGPL beside the C library that it has anyway. CANARY is a binary that is linked with
# more, which must be noticed.
set -eu

# foreign BINARY: the libraries it needs that it should not.
foreign() {
  readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' |
    grep -v -x -E 'lib(c|m|pthread|dl)\.so\.[0-9]+|ld-linux[a-z0-9_.-]*\.so\.[0-9]+' || :
}

canary=$1
shift
wrong=0
for binary in "$canary" "$@"; do
  if [ ! -e "$binary" ]; then
    echo "$binary: is not there; build it first"
    exit 1
  fi
done
if [ -z "$(foreign "$canary")" ]; then
  echo "canary $canary: what it is linked with was NOT noticed"
  wrong=1
fi
for library in "$@"; do
  found=$(foreign "$library")
  if [ -n "$found" ]; then
    echo "$library: is linked with" "$found"
    wrong=1
  else
    echo "$library: is linked with the C library only"
  fi
done
exit $wrong
