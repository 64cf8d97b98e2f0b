#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# dist [--arch NAME]: dist/*.whl, the wheel, built in two folders that must give the same bytes. What is built for another processor
# does not run here; ./dev aarch64 runs it in an emulator.
# shellcheck source=tools/ci/lib/wheel.sh
. "${0%/*}/lib/wheel.sh"

# What wheels are made for.
ARCHITECTURES='x86_64 aarch64'

# architecture_of [--arch NAME]: the architecture that dist is asked for.
architecture_of() {
  case ${1:-} in
    '') name=x86_64 ;;
    --arch=*)
      name=${1#--arch=}
      shift
      ;;
    --arch)
      [ $# -gt 1 ] || stop "dist --arch wants a name: $ARCHITECTURES"
      name=$2
      shift 2
      ;;
    *) stop "dist has no argument '$1'; it has: --arch NAME" ;;
  esac
  [ $# -eq 0 ] || stop "dist takes one architecture at a time ('$1')"
  case " $ARCHITECTURES " in
    *" $name "*) printf '%s\n' "$name" ;;
    *) stop "dist makes no wheel for '$name'; --arch takes one of: $ARCHITECTURES" ;;
  esac
}

architecture=$(architecture_of "$@")
setup
use_lavapipe
setup_wheel
setup_compiler
build_gcc leat_kernels
wheel_build "$ROOT/build-wheel-$architecture" "$architecture"
first=$wheel
wheel_build "$ROOT/build-wheel-$architecture-again" "$architecture"
cmp "$first" "$wheel" || stop "built twice, the wheel has not the same bytes"
"$LEAT_TEST_WHEEL" tests/wheel/inspect_wheel.py "$first" --release || stop "the wheel is not as it should be, see above"
if [ "$architecture" = "$(uname -m)" ]; then
  "$DEPS/python/bin/python" tests/wheel/releases.py "$first" --here || stop "the wheel does not work, see above"
fi
mkdir -p "$ROOT/dist"
cp "$first" "$ROOT/dist"
say "dist/$(basename "$first"): $(sha256sum <"$first" | cut -c1-64)"
