#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# build.sh TREE WORK OPTION...: applies the worked examples of docs/adding-an-operator.md to a copy of the tree in WORK,
# builds it with these options of CMake, and runs what they add: each must be there, and right. Exits 77 where there is
# no device.
set -eu
tree=$1 work=$2 folder=$(cd "$(dirname "$0")" && pwd -P)
shift 2
rm -rf "$work"
mkdir -p "$work/tree"
tar -C "$tree" -c --exclude='./build*' --exclude='./.*' --exclude=__pycache__ . | tar -x -C "$work/tree"
cd "$work/tree"
# Else git takes the paths of a patch to begin where the repository around this copy does.
GIT_CEILING_DIRECTORIES=$(cd .. && pwd -P)
export GIT_CEILING_DIRECTORIES
for patch in "$folder"/*.patch "$folder/rule.scene"; do
  git apply -C1 "$patch"
done
# Without debug information, and without kernels for hardware that is not here.
cmake -S . -B "$work/build" -G Ninja "$@" -DLEAT_MATRIX_GLSLC= -DCMAKE_C_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG' \
  -DBUILD_TESTING=ON >"$work/log" || {
  cat "$work/log"
  exit 1
}
cmake --build "$work/build" --target leat_vulkan leat-conformance leat-info fusion_test tensor_test >>"$work/log" || {
  tail -n 40 "$work/log"
  exit 1
}
cd "$work/build"
runner=$PWD/leat-conformance plugin=$PWD/libleat_vulkan.so

# What scripts write, but for the quick list, which takes minutes where a type is new to most operators.
"$work/tree/conformance/mustpass/renew" "$runner"
sh "$work/tree/docs/operators.sh" ./leat-info "$plugin"

# Operators and types that would be lacking fail; no entry or type is left without a case, but for the constant of the new type.
"$runner" --quiet --batch=64 --all-operators "$plugin" --filter 'op.Cube.*' --filter 'op.Mirror.*' \
  --filter op.Trilu.version_90 --filter 'op.*.float8e4m3fn*'
if "$runner" --untried "$plugin" | grep -vx 'ConstantOfShape 9 to 25 T2 float8e4m3fn'; then
  echo 'the examples have no case for these'
  exit 1
fi
./tensor_test
./fusion_test
