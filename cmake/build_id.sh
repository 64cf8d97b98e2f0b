#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# build_id.sh TREE [HEADER]: prints the build id of a source tree, or writes it to a header if it changed. The id is the
# commit and, when files differ from it, a dot and a digest of the differences: fit for the build part of a semantic
# version. New files count in the folders that hold what is committed; others, beside these, are what people keep there.
set -eu
tree=$1
id=unknown
# A tree that was unpacked somewhere inside of another project's is none of git's, and its id is not that project's.
if above=$(git -C "$tree" rev-parse --show-cdup 2>/dev/null) && [ -z "$above" ] &&
  commit=$(git -C "$tree" rev-parse --short=12 HEAD 2>/dev/null); then
  id=$commit
  changes=$( (cd "$tree" && git diff HEAD --no-ext-diff && git ls-tree -d -z --name-only HEAD |
    xargs -0 git ls-files --others --exclude-standard -z -- | sort -z | xargs -0 -r sha256sum) | sha256sum | cut -c1-12)
  empty=$(printf '' | sha256sum | cut -c1-12)
  [ "$changes" = "$empty" ] || id=$commit.$changes
elif [ -f "$tree/VERSION.build" ]; then
  id=$(cat "$tree/VERSION.build")
fi
if [ $# -lt 2 ]; then
  printf '%s\n' "$id"
  exit 0
fi
mkdir -p "$(dirname "$2")"
printf '#define LEAT_BUILD_ID "%s"\n' "$id" >"$2.new"
if cmp -s "$2.new" "$2"; then rm "$2.new"; else mv "$2.new" "$2"; fi
