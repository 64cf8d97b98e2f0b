#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# With the driver and the layers of Debian 12: what is no operator's case, which ./dev newest has, and the demo. Of
# operators what computes in float16, which the newest driver has matrix hardware for. Of drawn calls, which have views of
# all sorts, the first hundred of a kind: the address sanitizer's job finds their shaders on disk.
# shellcheck source=tools/ci/lib/tests.sh
. "${0%/*}/lib/tests.sh"

no_arguments "$@"
setup
use_lavapipe
build_gcc canary-validation leat-conformance leat-run leat-info leat_vulkan leat_onnxruntime
begin_layers "$BUILD/validation" "$SYNC_OF_DEBIAN_12"
check_layers "$BUILD/leat-canary-validation"
failed=0
set --
for name in $("$BUILD/leat-conformance" --list | cut -f1 |
  awk -F . '$1 != "op" || NF == 3 && $3 ~ /^([a-z0-9_]*_)?float16$/'); do
  set -- "$@" -f "$name"
done
under_layers "$folder/conformance.log" "$BUILD/leat-conformance" --batch=64 --jobs="$JOBS" --quiet --all-operators \
  --deadline-scale=4 --calls=100 --waivers="$ROOT/conformance/waivers/vulkan.txt" "$@" \
  "$BUILD/libleat_vulkan.so" || failed=1
found=$messages
under_layers "$folder/demo.log" run_demo --seconds 0.1 --threads 8 || failed=1
end_layers "$((found + messages))" "$failed"
