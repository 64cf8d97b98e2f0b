#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# places.sh TREE: the worked examples of docs/adding-an-operator.md, patches beside this file, still apply to the tree,
# take a number that is free, and none is of more places than that page says for its kind. A place is a run of lines that
# are edited by hand: a file that is edited in two places counts twice. What scripts write (lists of cases,
# docs/operators.md) is none, nor is the line in CHANGELOG.md that every change has.
set -u
tree=$(cd "$1" && pwd -P) folder=$(cd "$(dirname "$0")" && pwd -P) status=0
# Else git takes the paths of a patch to begin where a repository around a tree without one does.
export GIT_CEILING_DIRECTORIES="${tree%/*}"

# places PATCH: how many.
places() {
  awk '/^(---|\+\+\+) /{ next } /^[-+]/ { count += !inside; inside = 1; next } { inside = 0 } END { print count + 0 }' "$1"
}

# told KIND: what the page says of a kind, in "(5 places: [example](../tests/recipes/family.patch))".
told() {
  sed -n "s|.*(\([0-9]*\) places: \[[^]]*\](../tests/recipes/$1.patch)).*|\1|p" "$tree/docs/adding-an-operator.md"
}

# check KIND PATCH: whether the patch applies and is of no more places.
check() {
  most=$(told "$1")
  found=$(places "$2")
  if [ -z "$most" ] || [ "$found" -gt "$most" ]; then
    echo "$2 has $found places; docs/adding-an-operator.md says '$most' for $1"
    return 1
  fi
  (cd "$tree" && git apply --check -C1 - <"$2") || {
    echo "$2 does not apply any more: make the change again, and 'git diff -U1' of it"
    return 1
  }
}

# free_numbers PATCH: whether no function that the patch adds has the number of one that the tree has.
free_numbers() {
  sed -n 's/^+[A-Z]*_FUNCTION(\([0-9]*\), \([A-Z_]*\),.*/\1 \2/p' "$1" | while read -r number code; do
    holder=$(sed -n "s/^[A-Z]*_FUNCTION($number, \([A-Z0-9_]*\)[,)].*/\1/p" "$tree/plugin/ops/elementwise/functions.inc")
    [ -z "$holder" ] || echo "$1 gives $code the number $number, which $holder has: take another, on the page too"
  done | if grep .; then return 1; fi
}

count=0
for patch in "$folder"/*.patch; do
  check "$(basename "$patch" .patch)" "$patch" || status=1
  free_numbers "$patch" || status=1
  count=$((count + 1))
done

# One place more, a change to what is not there, and a number that is taken.
missed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat "$folder/version.patch" "$folder/version.patch" >"$work/more.patch"
check version "$work/more.patch" | grep -q 'has 4 places' || missed=$((missed + 1))
sed 's/^ .*/ not there/' "$folder/version.patch" >"$work/elsewhere.patch"
check version "$work/elsewhere.patch" 2>/dev/null | grep -q 'does not apply' || missed=$((missed + 1))
sed 's/FUNCTION([0-9]*, CUBE/FUNCTION(19, CUBE/' "$folder/unary.patch" >"$work/taken.patch"
free_numbers "$work/taken.patch" | grep -q 'which BITWISE_NOT has' || missed=$((missed + 1))
printf '%d examples; 3 seeded mistakes, %d missed\n' "$count" "$missed"
[ "$missed" -eq 0 ] && exit "$status"
