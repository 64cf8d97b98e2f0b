#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The whole suite on the lavapipe of the newest Debian and under its validation layers, by programs that were built here,
# with that one's loader and libraries: it has matrix hardware, which Debian 12's has not. With guard pages: a read outside
# of a tensor changes no answer, but ends the process there. No operator is lacking but what waivers/vulkan.txt names, and
# there is a recipe of drawn calls for each, of which 150 of a family are drawn.
# shellcheck source=tools/ci/lib/tests.sh
. "${0%/*}/lib/tests.sh"

# Where a Mesa is whose lavapipe has matrix hardware.
MESA_SUITES='testing unstable'

no_arguments "$@"
setup
keep_kernels
build_gcc canary-validation drawn_test fusion_test layout_test leat-conformance leat-info leat_vulkan
setup_apart "$DEPS/mesa" "$MESA_SUITES" mesa-vulkan-drivers libvulkan1 vulkan-validationlayers libcmocka0 \
  libglib2.0-0t64 libjson-glib-1.0-0 ||
  stop "no Debian mirror in /etc/apt gave Mesa (suites: $MESA_SUITES); is the mirror reachable?"
root=$DEPS/mesa/root
libraries=$(echo "$root"/usr/lib/*-linux-gnu)
sed "s#\"library_path\": *\".*/*libvulkan_lvp.so\"#\"library_path\": \"$libraries/libvulkan_lvp.so\"#" \
  "$root"/usr/share/vulkan/icd.d/lvp_icd*.json >"$BUILD/mesa.json"
for program in drawn_test fusion_test layout_test leat-conformance leat-info leat-canary-validation; do
  cp "$BUILD/$program" "$BUILD/$program-mesa"
  patchelf --set-interpreter "$(echo "$libraries"/ld-linux-*.so.*)" "$BUILD/$program-mesa"
done
begin_layers "$BUILD/newest" 'validate_sync = true'
export VK_LAYER_PATH="$root/usr/share/vulkan/explicit_layer.d"
on_mesa() { # SETTING=VALUE PROGRAM ARGUMENT...
  env -u GALLIVM_PERF LD_LIBRARY_PATH="$libraries" VK_DRIVER_FILES="$BUILD/mesa.json" LEAT_CACHE_DIR='' \
    LEAT_MEMORY_GUARD=pages "$@"
}
on_mesa LEAT_MATRICES=1 "$BUILD/leat-info-mesa" >"$LOGS/mesa-info.log" ||
  stop "Leat finds no device there; see $LOGS/mesa-info.log"
for feature in cooperativeMatrix cooperativeMatrix2; do
  grep -q "$feature .*; used" "$LOGS/mesa-info.log" ||
    stop "$feature would not be used there; $LOGS/mesa-info.log says why"
done
check_layers on_mesa LEAT_MATRICES=1 "$BUILD/leat-canary-validation-mesa"
failed=0
under_layers "$folder/conformance.log" on_mesa LEAT_MATRICES=1 "$BUILD/leat-conformance-mesa" --all-operators \
  --batch=32 --jobs="$JOBS" --quiet --deadline-scale=4 --calls=150 \
  --waivers="$ROOT/conformance/waivers/vulkan.txt" --waivers="$ROOT/conformance/waivers/pages.txt" \
  "--fail-on-output=has no recipe" "$BUILD/libleat_vulkan.so" || failed=1
found=$messages
# Attention has a kernel of its own for devices without VK_NV_cooperative_matrix2.
under_layers "$folder/khr.log" on_mesa LEAT_MATRICES=khr "$BUILD/leat-conformance-mesa" --all-operators \
  --batch=4 --jobs="$JOBS" --quiet --deadline-scale=4 "$BUILD/libleat_vulkan.so" \
  -f op.Attention.float16 -f 'op.Attention.*_float16' || failed=1
found=$((found + messages))
# Convolutions as small as the suite's are in NHWC layout only if they are told so.
under_layers "$folder/channels.log" on_mesa LEAT_TUNING=conv_last_min=0,conv_last_each=1 \
  "$BUILD/leat-conformance-mesa" --all-operators --batch=8 --jobs="$JOBS" --quiet --deadline-scale=4 \
  "$BUILD/libleat_vulkan.so" -f op.Conv.inner_split_float16 -f 'op.Conv.channels_*float16*' \
  -f 'op.Conv.tiles_of_*_float16' -f 'op.FusedConv.leat_float16*' || failed=1
found=$((found + messages))
# Where images lie in a graph; in a profile too, which reads what was recorded.
under_layers "$folder/layout.log" on_mesa LEAT_PROFILE="$folder/layout.json" "$BUILD/layout_test-mesa" || failed=1
found=$((found + messages))
# What rules do there, and networks drawn at random: without the layers, under which compiling kernels takes longest.
for program in drawn_test fusion_test; do
  on_mesa LEAT_MATRICES=1 "$BUILD/$program-mesa" >"$LOGS/$program.log" 2>&1 || {
    cat "$LOGS/$program.log"
    failed=1
  }
done
end_layers "$found" "$failed"
