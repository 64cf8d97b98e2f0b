#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What tests/limits/sets.txt says, with the layer of that folder on both sides of the validation layer, which asks what
# lies below it for the limits. The loader of Debian 12 takes layers in the order of folders, newer ones in that of
# names.
# shellcheck source=tools/ci/lib/tests.sh
. "${0%/*}/lib/tests.sh"

# suite_of_limits LOG BELOW ABOVE ARGUMENT...: under_layers for the conformance suite, which uses all queues that there
# are.
suite_of_limits() {
  export LIMITS_BELOW="${2#-}" LIMITS_ABOVE="${3#-}" LEAT_LANES=8
  log=$1
  shift 3
  under_layers "$log" "$BUILD/leat-conformance" "$@" "$BUILD/libleat_vulkan.so" </dev/null
}

passes_limits() {
  name=$1
  export LP_NATIVE_VECTOR_WIDTH="$2"
  limits=$3
  "$BUILD/leat-info" </dev/null | grep -q ", $2 bits)" || stop "lavapipe has no vectors of $2 bits here"
  # shellcheck disable=SC2046 # A list of words.
  set -- $(sed 's/^/--filter=/' "$ROOT/tests/limits/cases.txt")
  suite_of_limits "$folder/$name.log" "$limits" - --batch=32 --jobs="$JOBS" --quiet --all-operators --deadline-scale=4 \
    "$@" || return 1
  say "limits $name: $messages messages of the validation layer"
  [ "$messages" -eq 0 ]
}

refuses_limits() {
  LIMITS_BELOW=$1 LIMITS_ABOVE='' VK_INSTANCE_LAYERS=$LAYERS "$BUILD/leat-info" \
    >"$folder/refused.log" 2>&1 </dev/null || true
  if ! grep -q "^  reason  *$2\$" "$folder/refused.log"; then
    say "with $1 leat-info does not say: $2"
    return 1
  fi
  say "refused: $1, because it $2"
}

notices_limits() {
  suite_of_limits "$folder/noticed.log" "$2" "$3" --run-case="$1" >"$folder/noticed.out" 2>&1 || true
  if [ "$messages" -eq 0 ] && ! grep -q 'failed: VK_ERROR_FEATURE_NOT_PRESENT' "$folder/noticed.out"; then
    say "$1 exceeds $2 with $3, and nobody says so: the layers are not at work"
    return 1
  fi
  say "noticed: $1 exceeds $2"
}

no_arguments "$@"
setup
use_lavapipe
build_gcc leat-conformance leat-info leat_vulkan limits_layers
begin_layers "$BUILD/limits" "$SYNC_OF_DEBIAN_12"
layers=$BUILD/tests/limits
export VK_LAYER_PATH="$layers/above:/usr/share/vulkan/explicit_layer.d:/etc/vulkan/explicit_layer.d:$layers/below"
LAYERS=VK_LAYER_LEAT_limits_above:VK_LAYER_KHRONOS_validation:VK_LAYER_LEAT_limits_below
failed=0
grep -v '^#' "$ROOT/tests/limits/sets.txt" >"$folder/sets"
while read -r kind first second third; do
  case $kind in
    passes) passes_limits "$first" "$second" "$third" || failed=1 ;;
    refused) refuses_limits "$first" "$second $third" || failed=1 ;;
    noticed) notices_limits "$first" "$second" "$third" || failed=1 ;;
    *) stop "tests/limits/sets.txt: '$kind' is none of passes, refused, noticed" ;;
  esac
done <"$folder/sets"
[ $failed -eq 0 ] || stop "see above; the layers' messages are in $folder"
