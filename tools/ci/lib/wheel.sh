#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Building for systems that are older than this one, and for other architectures.
# shellcheck source=tools/ci/lib/tests.sh
. "${0%/*}/lib/tests.sh"

# cached NAME: the value of a variable of CMake's in build/.
cached() {
  sed -n "s/^$1:[A-Z]*=//p" "$BUILD/CMakeCache.txt"
}

# configure_portable PRESET FOLDER ARCHITECTURE GLIBC OPTION...: a build folder for the compiler of python/compiler.txt.
# It has headers and symbols of any glibc of its own, so it must not see this machine's: what it needs beside them is
# linked into a folder.
configure_portable() {
  preset=$1
  folder=$2
  architecture=$3
  glibc=$4
  shift 4
  # What the compiler keeps is not left in the user's home, and what it made is not found by another build.
  export ZIG_GLOBAL_CACHE_DIR="$DEPS/compiler/cache" ZIG_LOCAL_CACHE_DIR="$folder/cache"
  mkdir -p "$folder/include"
  ln -sfn "$(cached DLPACK_INCLUDE_DIR)/dlpack" "$folder/include/dlpack"
  ln -sfn "$(cached Vulkan_INCLUDE_DIR)/vulkan" "$folder/include/vulkan"
  ln -sfn "$(cached Vulkan_INCLUDE_DIR)/vk_video" "$folder/include/vk_video"
  configure "$preset" "$folder" "-DCMAKE_C_COMPILER=$DEPS/compiler/bin/python;-m;ziglang;cc" \
    -DCMAKE_C_COMPILER_TARGET="$architecture-linux-gnu.$glibc" -DCMAKE_SYSTEM_PROCESSOR="$architecture" \
    -DDLPACK_INCLUDE_DIR="$folder/include" -DVulkan_INCLUDE_DIR="$folder/include" "$@"
}

# wheel_build FOLDER ARCHITECTURE: the wheel, built in FOLDER. Sets wheel to its path.
wheel_build() {
  configure_portable wheel "$1" "$2" 2.28
  compile "$1" leat_vulkan leat_onnxruntime leat_batch
  # shellcheck disable=SC2034 # Those who call this use it.
  wheel=$(PYTHON="$LEAT_TEST_WHEEL" sh python/build.sh "$1" "manylinux_2_28_$2" "$1/wheel") ||
    stop "the wheel could not be built; see above"
}
