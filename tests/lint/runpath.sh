#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# runpath.sh COMPILER BUILD WORK: fails if a program or library in BUILD, or what is installed from it, looks for
# libraries in the folder that a process happens to be in: an entry of RUNPATH or RPATH is empty or relative.
set -eu
compiler=$1
build=$2
work=$3
rm -rf "$work"
mkdir -p "$work/canary"

# looks FOLDER: a line for each program and library below, and one for each of its entries that is neither absolute nor
# begins with $ORIGIN. (With /dev/null there are always several files, which readelf names then. Tests that run beside
# this one make and remove files.)
looks() {
  { find "$1" -type f \( -perm -u=x -o -name '*.so*' \) -exec readelf -dW /dev/null {} + 2>"$work/errors" || :; } |
    awk '
      /^File: / { file = substr($0, 7) }
      /^Dynamic section/ { print "looked at " file }
      /\((RUNPATH|RPATH)\)/ {
        gsub(/.*\[|\][^]]*$/, "")
        for (i = split($0 ":", entry, ":") - 1; i > 0; --i)
          if (entry[i] !~ /^(\/|[$]ORIGIN(\/|$))/) print file ": looks for libraries in \"" entry[i] "\""
      }' | sort -u
}

result=0
for path in "\$ORIGIN:" ':/usr/lib' "\$ORIGIN::/usr/lib" lib '/usr/lib:../lib' "\$ORIGIN/../lib:/usr/lib"; do
  for tags in --enable-new-dtags --disable-new-dtags; do
    echo 'int canary;' | "$compiler" -shared -fPIC -x c - -o "$work/canary/c.so" -Wl,$tags,-rpath,"$path"
    wanted=1
    [ "$path" != "\$ORIGIN/../lib:/usr/lib" ] || wanted=0
    got=$(looks "$work/canary" | grep -c 'looks for') || :
    [ "$got" -eq $wanted ] || {
      echo "canary $tags $path: $got wrong entries noticed, and not $wanted"
      result=1
    }
  done
done
rm -rf "$work/canary"

cmake --install "$build" --prefix "$work/installed" >"$work/install.log" || {
  cat "$work/install.log"
  exit 1
}
looks "$build" >"$work/found"
grep 'looks for' "$work/found" && result=1
grep -q "^looked at $work/installed/" "$work/found" || {
  echo "nothing was installed from $build"
  result=1
}
[ $result -ne 0 ] || echo "$(grep -c 'looked at' "$work/found") programs and libraries: no empty and no relative entry"
exit $result
