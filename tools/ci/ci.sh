#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What .ci/run runs.
# shellcheck source=tools/ci/lib/setup.sh
. "${0%/*}/lib/setup.sh"

no_arguments "$@"
begun=$(date +%s)
setup
exec "$(find_python)" -B tools/ci/run_jobs.py "$ROOT" ci "$begun"
