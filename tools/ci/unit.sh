#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# unit [--job=JOB] [CTEST...]: of all that is built and fetched, what the chosen tests need. They are built just now, so
# they need not ask whether they are of this tree.
# shellcheck source=tools/ci/lib/tests.sh
. "${0%/*}/lib/tests.sh"

setup
use_lavapipe
configure_gcc
compile "$BUILD" build.ninja
plan=$("$(find_python)" -B tools/ci/ctest_plan.py "$BUILD" "$@") || stop "ctest did not list its tests, see above"
for what in $(printf '%s\n' "$plan" | sed -n 's/^fetch//p'); do
  "setup_$what"
done
targets=$(printf '%s\n' "$plan" | sed -n 's/^build//p')
# shellcheck disable=SC2086 # A list of words.
[ -z "$targets" ] || compile "$BUILD" $targets
case ${1:-} in
  --job=*)
    shift
    set -- -R "$(printf '%s\n' "$plan" | sed -n 's/^tests //p')" "$@"
    ;;
esac
run_tests --test-dir "$BUILD" -FS leat_build --output-log "$BUILD/ctest.log" "$@"
