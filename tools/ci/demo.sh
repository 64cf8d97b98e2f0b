#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# demo [ARGUMENT...]: two trained models through Leat.
# shellcheck source=tools/ci/lib/tests.sh
. "${0%/*}/lib/tests.sh"

setup
build_gcc leat-run leat-info leat_vulkan leat_onnxruntime
run_demo "$@"
