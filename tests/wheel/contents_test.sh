#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# contents_test.sh BUILD WORK: a wheel of what is in BUILD holds what it should, twice the same bytes, and its types are
# right. That it fits older systems is not asked of it, and that it does not is what the check of a release must notice;
# in place of one library there is then one with a RUNPATH.
# LEAT_TEST_WHEEL is a Python with the packages of python/requirements.txt; without it the exit status is 77.
set -eu
build=$1
work=$2
tests=$(cd "$(dirname "$0")" && pwd -P)
export PYTHON="${LEAT_TEST_WHEEL:-}"
[ -n "$PYTHON" ] || {
  echo 'LEAT_TEST_WHEEL names no Python; ./dev unit sets it'
  exit 77
}
make_wheel() {
  sh "$tests/../../python/build.sh" "$1" "linux_$(uname -m)" "$work/$2"
}

umask 022
wheel=$(make_wheel "$build" one)
umask 077
again=$(make_wheel "$build" two)
cmp "$wheel" "$again"
"$PYTHON" "$tests/inspect_wheel.py" "$wheel"
seeded=$work/seeded
rm -rf "$seeded"
mkdir -p "$seeded/generated"
cp "$build/libleat_vulkan.so" "$build/libleat_onnxruntime.so" "$seeded"
cp "$build/generated/leat_build_id.h" "$seeded/generated"
cc -shared -Wl,-rpath,/nowhere -o "$seeded/libleat_batch.so" -x c /dev/null
if said=$("$PYTHON" "$tests/inspect_wheel.py" "$(make_wheel "$seeded" wrong)" --release); then
  echo "what a release is asked for was not looked at: $said"
  exit 1
fi
for finding in 'the platform is' 'is not stripped' 'has a path to look for libraries in' 'asks for GLIBC'; do
  case $said in
    *"$finding"*) ;;
    *)
      echo "'$finding' was not said: $said"
      exit 1
      ;;
  esac
done
cd "$work/one/project"
"$PYTHON" -m mypy --cache-dir=/dev/null
sed -i 's/count\.value <= capacity/count.value <= "256"/' onnxruntime_ep_leat/_backend.py
if "$PYTHON" -m mypy --cache-dir=/dev/null >/dev/null; then
  echo 'a comparison of a number with text was not noticed'
  exit 1
fi
