#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# alone.sh TREE WORK COMPILER GLSLC DLPACK KERNELS INFO: the plugin is configured, built and installed where there are a C
# compiler, glslc, CMake and Ninja, and neither pkg-config nor Python nor a C++ compiler, so that no GLib is found, nor
# ONNX Runtime. What the compiler read is looked at too. INFO is leat-info, which loads what comes of it; KERNELS are
# compiled ones of the same tree.
set -eu
tree=$1
work=$2
compiler=$3
glslc=$4
dlpack=$5
kernels=$6
info=$7

rm -rf "$work"
mkdir -p "$work/bin"
for program in "$compiler" "$glslc" cmake ninja as ld sh cat cmp cut dirname mkdir mv rm sed sort; do
  ln -s "$(command -v "$program")" "$work/bin/${program##*/}"
done
# CMake looks for programs where the system has them, whatever PATH says.
echo 'set(CMAKE_IGNORE_PATH /usr/bin /usr/sbin /bin /sbin /usr/local/bin /usr/local/sbin)' >"$work/toolchain.cmake"

# within COMMAND...: runs it; what it says is in $work/log.
within() {
  env -i HOME="$work" LC_ALL=C PATH="$work/bin" PKG_CONFIG_LIBDIR="$work/nowhere" "$@" >"$work/log" 2>&1
}

stop() {
  printf 'FAIL %s\n' "$*"
  cat "$work/log"
  exit 1
}

# configure PARTS: not optimised, because that takes most of the time.
configure() {
  rm -rf "$work/build"
  within cmake -S "$tree" -B "$work/build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$work/toolchain.cmake" "-DLEAT_PARTS=$1" \
    -DCMAKE_C_COMPILER="$work/bin/${compiler##*/}" -DVulkan_GLSLC_EXECUTABLE="$work/bin/${glslc##*/}" \
    -DDLPACK_INCLUDE_DIR="$dlpack" -DLEAT_KERNELS_DIR="$kernels" -DCMAKE_C_FLAGS_RELWITHDEBINFO=-DNDEBUG
}

# Canaries: parts that need more do not find it, and say what.
! configure 'host;tools' || stop "canary: the tools found GLib, which should not be seen"
grep -q -i 'pkg-\?config' "$work/log" || stop "canary: the tools do not say what they lack"
! configure provider || stop "canary: the provider found ONNX Runtime's headers, which should not be seen"
grep -q ONNXRUNTIME_INCLUDE_DIR "$work/log" || stop "canary: the provider does not say what it lacks"

configure plugin || stop "configuring the plugin alone"
within ninja -C "$work/build" || stop "building the plugin alone"
within ninja -C "$work/build" -t deps || stop "what was read cannot be told"
foreign=$(grep -E '/(glib-2\.0|json-glib-1\.0|onnxruntime|c\+\+|python3[^/]*)/|cmocka|host-shim|/batch/|conformance|/tools/' "$work/log" || :)
[ -z "$foreign" ] || stop "the plugin's sources read $foreign"
grep -q 'dlpack/dlpack\.h' "$work/log" || stop "canary: the headers that were read are not in this list"
within cmake --install "$work/build" --prefix "$work/installed" --component plugin || stop "installing the plugin alone"
installed=$(cd "$work/installed" && find . -type f | sort | sed 's,^\./lib[^/]*/\([^/]*-linux-[^/]*/\)\?,LIB/,' | tr '\n' ' ')
[ "$installed" = 'LIB/leat/libleat_vulkan.so ./share/doc/leat/LICENSE ' ] || stop "installed: $installed"
status=0
"$info" --check --plugin "$(find "$work/installed" -name libleat_vulkan.so)" || status=$?
[ $status -ne 2 ] || stop "leat-info cannot use it"
echo "the plugin alone: built, installed, loaded"
