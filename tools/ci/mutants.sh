#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mutants [--count N] [--seed N] [--results FILE] ...: mistakes made in plugin and provider, drawn by a seed, of which a
# test must notice each (tests/mutants/mutants.py); six without arguments.
# shellcheck source=tools/ci/lib/tests.sh
. "${0%/*}/lib/tests.sh"

setup
setup_mutants
use_lavapipe
build_gcc leat_kernels
exec "$MUTANTS_PYTHON" -B tests/mutants/mutants.py "$ROOT" "$BUILD" "$@"
