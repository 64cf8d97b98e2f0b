#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fuzz [SECONDS [TARGET...]]: libFuzzer with the address and undefined-behaviour sanitizers across the ABI; 10^4
# executions in all, or so many seconds for each target of tests/fuzz/run.py. `corpus` in place of seconds writes the
# corpora in the tree anew.
# shellcheck source=tools/ci/lib/tests.sh
. "${0%/*}/lib/tests.sh"

case ${1:-1} in
  corpus) ;;
  *[!0-9]*) stop "fuzz takes seconds, and targets behind them ('$1')" ;;
esac
setup
use_lavapipe
build_beside fuzz fuzz_targets
exec "$(find_python)" -B tests/fuzz/run.py "$ROOT/build-fuzz" "$JOBS" "$@"
