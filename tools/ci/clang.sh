#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The build with clang, warnings as errors.
# shellcheck source=tools/ci/lib/build.sh
. "${0%/*}/lib/build.sh"

no_arguments "$@"
setup
build_beside clang
