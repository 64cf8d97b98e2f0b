#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# build [TARGET...]: build/ with gcc.
# shellcheck source=tools/ci/lib/build.sh
. "${0%/*}/lib/build.sh"

setup
build_gcc "$@"
