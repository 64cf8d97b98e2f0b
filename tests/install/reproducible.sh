#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# reproducible.sh TREE WORK PARTS [CMAKE-OPTION...]: PARTS of LEAT_PARTS are built and installed from two copies of
# TREE in folders of different depth, one with its build folder inside and one beside it; what is installed is the same,
# byte for byte. The libraries in it hold no path of either.
set -eu
tree=$1
work=$2
parts=$3
shift 3

# A cache of compiled files may hold what was compiled in another folder.
unset CMAKE_C_COMPILER_LAUNCHER
rm -rf "$work"
mkdir -p "$work/here/tree" "$work/somewhere/quite/else/tree"

# build TREE BUILD INSTALLED CMAKE-OPTION...
build() {
  from=$1
  to=$2
  installed=$3
  shift 3
  (cd "$tree" && tar -c --exclude=./build* --exclude=./.* --exclude=./tests .) | tar -x -C "$from"
  echo copy.of.a.tree >"$from/VERSION.build"
  [ "$(sh "$from/cmake/build_id.sh" "$from")" = copy.of.a.tree ] || {
    echo "$from: its VERSION.build is not its build id"
    exit 1
  }
  { cmake -S "$from" -B "$to" "-DLEAT_PARTS=$parts" -DBUILD_TESTING=OFF "$@" && cmake --build "$to" --parallel 2 &&
    DESTDIR=$installed cmake --install "$to"; } >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 1
  }
}

build "$work/here/tree" "$work/here/tree/build" "$work/one" "$@"
build "$work/somewhere/quite/else/tree" "$work/b" "$work/two" "$@"
diff -r "$work/one" "$work/two"
files=$(find "$work/one" -type f | wc -l)
[ "$files" -gt 0 ] || {
  echo "nothing was installed"
  exit 1
}
if grep -r -l -F -e "$work" "$work/one"; then
  echo "the files above hold the path of the folder that they were built in"
  exit 1
fi
echo "$files files, the same from both"
