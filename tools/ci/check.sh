#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check [JOB...]: the jobs beyond ./dev test.
# shellcheck source=tools/ci/lib/setup.sh
. "${0%/*}/lib/setup.sh"

# A mistyped one is refused before anything is installed or built.
"$(find_python)" -B tools/ci/run_jobs.py "$ROOT" known "$@" || exit 1
setup
exec "$(find_python)" -B tools/ci/run_jobs.py "$ROOT" check "$@"
