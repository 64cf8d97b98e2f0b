#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# operators.sh LEAT-INFO BACKEND [--check]: writes what `leat-info --operators` prints of the backend into
# docs/operators.md, as its block of text. With --check nothing is written: exit status 1 and the difference if the page
# has something else there, or if its table names an operator that is not in the list.
set -eu
info=$1
backend=$2
page=$(dirname "$0")/operators.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$info" --operators --plugin "$backend" >"$work/list"
awk -v list="$work/list" '
  /^```/ { inside = !inside; if (!inside) while ((getline line <list) > 0) print line; print; next }
  !inside' "$page" >"$work/page"
if [ "${3-}" != --check ]; then
  cat "$work/page" >"$page"
  exit 0
fi
diff "$page" "$work/page" || {
  echo "docs/operators.md is not what leat-info --operators prints: sh docs/operators.sh $info $backend" >&2
  exit 1
}
awk -F ' [|] ' '/^[|] / { sub(/^[|] /, ""); n = split($1, names, ", "); for (i = 1; i <= n; ++i) print names[i] }' "$page" |
  grep -v -x operator | while read -r name; do
  grep -q "^  $name " "$work/list" || {
    echo "docs/operators.md says what is refused of $name, which is no operator of the list" >&2
    exit 1
  }
done
