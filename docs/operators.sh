#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# operators.sh LEAT-INFO BACKEND [--check]: writes what `leat-info --operators` prints of the backend into
# docs/operators.md, behind its heading "List": a table for each domain, in which operators of the same element types are
# one row. With --check nothing is written: exit status 1 and the difference if the page has something else there, or if
# its table of what is refused names an operator that is not in the list.
set -eu
info=$1
backend=$2
page=$(dirname "$0")/operators.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$info" --operators --plugin "$backend" >"$work/list"
# The first pattern and all text behind it stay as they are; the list's long entries go on in lines that are indented.
awk '
  function put() {
    if (name == "") return
    gsub(/float32, float16, bfloat16/, "floats", types)
    gsub(/int8 to int64, uint8 to uint64/, "integers", types)
    gsub(/floats, float64, integers, bool/, "any", types)
    gsub(/floats, integers/, "numbers", types)
    if (!(types in row)) { order[++rows] = types; row[types] = name } else row[types] = row[types] ", " name
    name = ""
  }
  function table(i) {
    put()
    for (i = 1; i <= rows; ++i) print "| " row[order[i]] " | " order[i] " |"
    rows = 0
    split("", row)
  }
  FILENAME == ARGV[1] { if (!inside) print; if (/^## List/) inside = 1; next }
  /^Domain/ {
    table()
    sub(/^Domain /, "")
    print "\n### " ($0 == "\"\" (ONNX)" ? "ONNX" : $0) "\n\n| operators, versions | element types |\n|---|---|"
    next
  }
  /^  [^ ]/ { put(); name = $1 " " $2; $1 = $2 = ""; sub(/^ +/, ""); types = $0; next }
  /^   / { sub(/^ +/, ""); types = types " " $0 }
  END { table() }' "$page" "$work/list" >"$work/page"
if [ "${3-}" != --check ]; then
  cat "$work/page" >"$page"
  exit 0
fi
diff "$page" "$work/page" || {
  echo "docs/operators.md is not what leat-info --operators prints: sh docs/operators.sh $info $backend" >&2
  exit 1
}
awk -F ' [|] ' '/^## List/ { exit } /^[|] / { sub(/^[|] /, ""); n = split($1, names, ", "); for (i = 1; i <= n; ++i) print names[i] }' \
  "$page" | grep -v -x operator | while read -r name; do
  grep -q "^  $name " "$work/list" || {
    echo "docs/operators.md says what is refused of $name, which is no operator of the list" >&2
    exit 1
  }
done
