#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# build.sh BUILD PLATFORM FOLDER: builds the wheel for a platform tag such as manylinux_2_28_x86_64 of what is in BUILD, a
# build folder with libleat_vulkan.so, libleat_onnxruntime.so and libleat_batch.so, and prints its path. FOLDER is made
# anew and gets the wheel and, in project/, what hatchling builds it of: this folder, and what the wheel holds of the rest of the tree.
# PYTHON is an interpreter with hatchling. The same tree gives the same bytes: dates are those of the commit.
set -eu
build=$1
platform=$2
folder=$3
here=$(cd "$(dirname "$0")" && pwd -P)
tree=$(dirname "$here")
project=$folder/project
package=$project/onnxruntime_ep_leat

version=$(sed -n 's/^project(leat VERSION \([0-9.]*\) .*/\1/p' "$tree/CMakeLists.txt")
id=$(sed -n 's/^#define LEAT_BUILD_ID "\(.*\)"$/\1/p' "$build/generated/leat_build_id.h")
rm -rf "$folder"
mkdir -p "$package/tests"
cp "$here/pyproject.toml" "$here/tag.py" "$here/README.md" "$tree/LICENSE" "$project"
cp "$here"/onnxruntime_ep_leat/*.py "$here/onnxruntime_ep_leat/py.typed" "$here/onnxruntime_ep_leat/report.html" "$package"
cp "$here"/onnxruntime_ep_leat/tests/*.py "$package/tests"
cp "$build/libleat_vulkan.so" "$build/libleat_onnxruntime.so" "$build/libleat_batch.so" "$package"
cp "$tree/examples/demo/digits.onnx" "$package"
cat >"$package/_build.py" <<END
# SPDX-License-Identifier: BSD-3-Clause
"""What exactly this package was built from."""
VERSION = "$version"
BUILD_ID = "$id"
END
# What a person's umask lets others do is no part of the wheel.
find "$project" -type d -exec chmod 755 {} +
find "$project" -type f -exec chmod 644 {} +

# Without git there is no date of a commit; then hatchling has one of its own, always the same.
if epoch=$(git -C "$tree" log -1 --format=%ct 2>/dev/null); then
  export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$epoch}"
fi
cd "$project"
LEAT_WHEEL_PLATFORM=$platform "$PYTHON" -m hatchling build --target wheel --directory "$folder" >"$folder/hatchling.log" 2>&1 || {
  cat "$folder/hatchling.log" >&2
  exit 1
}
echo "$folder"/*.whl
