#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# conformance [ARGUMENT...]: the suite on the tree's plugin. Many cases a process, because opening the driver and compiling kernels costs more than a case does; --batch=1 gives
# each one of its own again.
# shellcheck source=tools/ci/lib/tests.sh
. "${0%/*}/lib/tests.sh"

setup
use_lavapipe
build_gcc leat-conformance leat_vulkan
"$BUILD/leat-conformance" --batch=64 --quiet "$BUILD/libleat_vulkan.so" "$@"
