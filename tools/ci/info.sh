#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# info [ARGUMENT...]: leat-info.
# shellcheck source=tools/ci/lib/build.sh
. "${0%/*}/lib/build.sh"

setup
build_gcc leat-info leat_vulkan
exec "$BUILD/leat-info" "$@"
