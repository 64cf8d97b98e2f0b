#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# On the null driver nothing is suppressed (its tests have no TSAN_OPTIONS); elsewhere Mesa's library is, and no deadlocks
# are looked for: the sanitizer counts locks of LLVM's, which lavapipe compiles with, as held for ever, and has room for
# 64 of them a thread. Our own are checked by their ranks.
# shellcheck source=tools/ci/lib/tests.sh
. "${0%/*}/lib/tests.sh"

no_arguments "$@"
setup
use_lavapipe
# Tests beside these use GLib, whose locks the sanitizer cannot see. ONNX Runtime, which is not instrumented, calls the
# provider from its threads: a race that was made on purpose shows that it is seen (canary.provider).
build_beside tsan canary-race canary-locks config_test graph_test kept_test lane_test memory_test op_test \
  lane_tuner_test stream_test sync_test command_buffer_test test-batch test-batch-memory test-guard nulldriver_test \
  nulldriver_tests nulldriver_random_test nulldriver_race random_test life-scene life-test interop_test leat_vulkan \
  leat-provider-test leat-provider-scene provider_admission_test provider_changing_test provider_collector_test \
  provider_run_test provider_shape_cache_test provider_subgraphs_test leat_onnxruntime_race
tests='canary\.(race|locks\..*)|batch|batch\.memory|loader\.guard|interop\.nulldriver|unit\.(config|graph|kept|lane|memory|op|lane_tuner|stream|sync|command_buffer)'
provider='canary\.provider|life\.onnxruntime|provider(\.(admission\.(waiting|shared)|changing|collector|run|shape_cache|subgraphs))?'
TSAN_OPTIONS="suppressions=$ROOT/tests/canary/tsan.supp:print_suppressions=0:detect_deadlocks=0:${TSAN_OPTIONS:-}" \
  LEAT_LIFE_ROUNDS="${LEAT_LIFE_ROUNDS:-1}" \
  run_tests --test-dir "$ROOT/build-tsan" \
  -FA '.*' -R "^(nulldriver\..*|($tests|$provider|random\.(calls|runs)|life\.(threads|pool))\$)"
