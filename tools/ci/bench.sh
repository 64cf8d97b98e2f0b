#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench [ARGUMENT...]: leat-bench on the device that Leat would choose; nothing is told about which driver.
# shellcheck source=tools/ci/lib/build.sh
. "${0%/*}/lib/build.sh"

setup
build_gcc leat-bench leat_vulkan
exec "$BUILD/leat-bench" "$@"
