#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Running tests: on which driver, and under validation layers.
# shellcheck source=tools/ci/lib/build.sh
. "${0%/*}/lib/build.sh"

# Tests also sleep and wait, for deadlines and for one another's threads: two more than cores keep the cores busy.
TESTS=$((JOBS + 2))

# Mesa keeps what it has compiled from one test and job to the next, by its own version, the settings below and the
# kernel's whole text. Without LLVM's optimisations, which take longer than what they make saves: most kernels are
# compiled for a few workgroups. ./dev newest runs the whole suite with them.
keep_kernels() {
  export MESA_SHADER_CACHE_DIR="${MESA_SHADER_CACHE_DIR:-$BUILD/shaders}" MESA_DISK_CACHE_MULTI_FILE=1
  export GALLIVM_PERF="${GALLIVM_PERF-nopt}"
}

# Software Vulkan, the same everywhere, unless a driver is named. Leat itself finds nothing on disk of what an earlier
# run compiled, and leaves nothing there.
use_lavapipe() {
  keep_kernels
  export LEAT_CACHE_DIR=
  if [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ]; then
    return 0
  fi
  for file in /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json; do
    if [ -e "$file" ]; then
      # The loader of Debian 12 knows the second name only, newer ones prefer the first.
      export VK_DRIVER_FILES="$file" VK_ICD_FILENAMES="$file"
      return 0
    fi
  done
  stop "lavapipe, Mesa's software Vulkan, is not there (lvp_icd*.json); Debian's package is mesa-vulkan-drivers." \
    "To test on another driver, name it: VK_DRIVER_FILES=/usr/share/vulkan/icd.d/....json ./dev ..."
}

# run_tests CTEST...: ctest, whose tests are ended when they hang for 5 minutes.
run_tests() {
  "$(find_python)" -B tools/ci/watch.py 300 ctest --parallel "$TESTS" --output-on-failure "$@"
}

# shellcheck disable=SC2034 # Those who source this use it.
SYNC_OF_DEBIAN_12='enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT'

# begin_layers FOLDER SYNC: what under_layers needs; SYNC is how these layers are told to look for missing barriers. The
# layers write to a named pipe, because every process of a run would truncate a common file.
begin_layers() {
  folder=$1
  rm -rf "$folder"
  mkdir -p "$folder"
  mkfifo "$folder/pipe"
  cat >"$folder/vk_layer_settings.txt" <<END
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.log_filename = $folder/pipe
khronos_validation.report_flags = error,warn,perf
khronos_validation.$2
END
}

# check_layers COMMAND...: stops if the layers do not complain about the canary that the command runs.
check_layers() {
  under_layers "$folder/canary.log" "$@" || stop "the canary failed: $*"
  [ "$messages" -gt 0 ] || stop "the layers said nothing about $*, which is wrong on purpose: they are not at work"
  say "the layers are at work: $messages lines about the canary"
}

# under_layers LOG COMMAND...: the command's status; sets messages to how many the layers wrote to LOG.
under_layers() {
  log=$1
  shift
  cat "$folder/pipe" >"$log" &
  reader=$!
  status=0
  # File 8 keeps the pipe open between the processes of the run.
  (
    exec 8>"$folder/pipe"
    export VK_INSTANCE_LAYERS="${LAYERS:-VK_LAYER_KHRONOS_validation}"
    export VK_LAYER_SETTINGS_PATH="$folder/vk_layer_settings.txt"
    "$@"
  ) || status=$?
  wait $reader
  messages=$(grep -c '^[^[:space:]]' "$log" || true)
  return $status
}

# end_layers MESSAGES FAILED: stops if there were any, or if FAILED, how many runs failed, is not 0.
end_layers() {
  say "validation layers: $1 messages"
  [ "$1" -eq 0 ] || stop "the layers' messages are in $folder, in *.log but canary.log"
  [ "$2" -eq 0 ] || stop "under the layers a run failed, see above"
}

run_demo() {
  "$DEPS/python/bin/python" "$ROOT/examples/demo/demo.py" --build "$BUILD" --work "$DEPS/demo" "$@"
}
