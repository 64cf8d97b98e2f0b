#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What everybody runs before a change goes in.
# shellcheck source=tools/ci/lib/setup.sh
. "${0%/*}/lib/setup.sh"

no_arguments "$@"
setup
exec "$(find_python)" -B tools/ci/run_jobs.py "$ROOT" test
