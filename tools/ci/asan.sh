#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# asan [CTEST...]: the tests that are in C, under the address and undefined-behaviour sanitizers.
# shellcheck source=tools/ci/lib/tests.sh
. "${0%/*}/lib/tests.sh"

setup
use_lavapipe
build_beside asan
export ASAN_OPTIONS="detect_leaks=1:abort_on_error=0:${ASAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$ROOT/tests/canary/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
# Python is not instrumented and cannot load libraries that are; lints have nothing to do with the compiler; whole
# models take long here and run the operators and threads that the other tests run. Mutants show what the suite finds,
# with code of the suite that the other cases run too. Scenes of a process's life are repeated for the sake of their
# timing, which the unit job does; what the sanitizer sees differs little by round. Nor does what the suite says of other
# backends differ by backend. Fusions are run all and none: with some of them it is the same code, and the unit job
# looks at the results. So it is with all programs and networks that are drawn.
left_out='^conformance\.(mutant\.|operators$)'
left_out="$left_out|^unit\.(fusion\.without\.(bias|activation|chain)|pointwise\.all|drawn\.all)\$"
LEAT_LIFE_ROUNDS="${LEAT_LIFE_ROUNDS:-2}" \
  run_tests --test-dir "$ROOT/build-asan" -LE '^(python|lint|models)$' -E "$left_out" "$@"
