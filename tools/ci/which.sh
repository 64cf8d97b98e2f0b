#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# which FILE...: the tests and cases that try a source file, as commands.
# shellcheck source=tools/ci/lib/build.sh
. "${0%/*}/lib/build.sh"

[ $# -gt 0 ] || stop "which wants the path of a file in this tree"
setup
configure_gcc
cd "$CALLED_FROM"
exec "$(find_python)" -B "$ROOT/tools/ci/which.py" "$ROOT" "$BUILD" "$@"
