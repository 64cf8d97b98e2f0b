#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every lock of plugin, provider and batch queue under clang's thread-safety analysis: who takes one gives it back on each
# way, and who needs one has it (common/guarded.h). No warning is allowed, and each wrong function of tests/tsa/canary.c
# must have one.
# shellcheck source=tools/ci/lib/build.sh
. "${0%/*}/lib/build.sh"

no_arguments "$@"
setup
configure_gcc
exec "$(find_python)" -B tests/tsa/analyse.py "$ROOT" "$BUILD" "$JOBS"
