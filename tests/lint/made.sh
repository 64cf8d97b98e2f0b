#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# made.sh TREE: what the pages have readers make in the tree's own folder (an environment for Python, traces, pictures) is
# no part of the tree: git ignores it, and the build id, without which no test runs, does not change. New sources and
# changed ones do change it.
set -eu
tree=$1
if ! git -C "$tree" rev-parse --show-cdup >/dev/null 2>&1; then
  echo "the tree is none of git's"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  failures=$((failures + 1))
  echo "FAIL $1"
}

# made PAGE...: names that commands of the pages write to, those with a folder before them left out.
made() {
  sed -n -E -e 's/.*-m venv ([a-z]+).*/\1/p' \
    -e 's/^cc .* -o ([a-z]+)( .*)?$/\1/p' \
    -e 's/.*(LEAT_PROFILE=|--profile |--report |--plot |-o |>)([a-z_]+\.(json|html|svg)).*/\2/p' "$@" | sort -u
}

names=$(made "$tree"/*.md "$tree"/docs/*.md "$tree"/python/*.md)
for name in env trace.json latency.svg page.html; do
  printf '%s\n' "$names" | grep -qx "$name" || fail "$name is not found on the pages: this test reads them wrongly"
done
for name in $names; do
  git -C "$tree" check-ignore -q "$name" || fail "a page has readers make $name, which .gitignore does not name"
done

# A tree of its own, with what decides.
mkdir -p "$work/tree/cmake" "$work/tree/plugin"
cd "$work/tree"
cp "$tree/.gitignore" .
cp "$tree/cmake/build_id.sh" cmake
echo 'int first;' >plugin/first.c
echo 'project(leat)' >CMakeLists.txt
git init -q
git add .
git -c user.name=made -c user.email=made commit -q -m made
id() {
  sh cmake/build_id.sh .
}
clean=$(id)
for name in $names; do
  case $name in
    *.*) echo '{}' >"$name" ;;
    *) mkdir "$name" && echo 'import first' >"$name/first.py" ;;
  esac
done
echo 'notes of a reader' >notes
[ "$(id)" = "$clean" ] || fail "the build id changes with what readers make in the tree's own folder"
echo 'int second;' >plugin/second.c
added=$(id)
[ "$added" != "$clean" ] || fail 'the build id is the same with a new source'
mkdir plugin/deeper
echo 'int third;' >plugin/deeper/third.c
[ "$(id)" != "$added" ] || fail 'the build id is the same with a new source in a new folder'
rm -r plugin/deeper plugin/second.c
[ "$(id)" = "$clean" ] || fail 'the build id is another once a new source is gone'
echo 'project(other)' >CMakeLists.txt
[ "$(id)" != "$clean" ] || fail 'the build id is the same with a changed file'

echo "$(printf '%s\n' "$names" | wc -l) names, $failures failures"
[ "$failures" -eq 0 ]
