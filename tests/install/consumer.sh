#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# consumer.sh TREE WORK BUILD COMPILER [CMAKE-OPTION...]: what BUILD installs is used by a project of its own, with
# CMake's package and with pkg-config, after it has been moved to another folder. Without plugin and provider, and
# without the libraries, the package says what is not there.
# Exit status 77: there is no device.
set -eu
tree=$1
work=$2
build=$3
compiler=$4
shift 4
unset LEAT_PLUGIN_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH CMAKE_INSTALL_PREFIX || :

stop() {
  printf 'FAIL %s\n' "$*"
  [ ! -e "$work/log" ] || cat "$work/log"
  exit 1
}

rm -rf "$work"
mkdir -p "$work/moved"
cmake --install "$build" --prefix "$work/installed" >"$work/log"
for component in host development; do
  cmake --install "$build" --prefix "$work/libraries" --component $component >"$work/log"
done
cmake --install "$build" --prefix "$work/headers" --component development >"$work/log"
mv "$work/installed" "$work/moved/usr"
installed=$work/moved/usr
libraries=$(dirname "$(dirname "$(find "$installed" -name leat.pc)")")
cp -r "$tree/examples/consumer" "$work/source"

# configure PREFIX CMAKE-OPTION...
configure() {
  prefix=$1
  shift
  rm -rf "$work/cmake"
  cmake -S "$work/source" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" "$@" \
    >"$work/log" 2>&1
}

# says TEXT: whether CMake has said it, however it broke the lines.
says() {
  tr -s ' \n' '  ' <"$work/log" | grep -qF "$1"
}

# Components that are not installed.
! configure "$work/headers" "$@" || stop "a package without its libraries was taken"
says "libleat_host.so.0" || stop "CMake did not name the library that is missing"
configure "$work/libraries" "$@" || stop "the package without plugin and provider was not taken"
says "plugin '', provider ''" || stop "paths of a plugin and a provider that are not there"

# With CMake.
configure "$installed" "$@" || stop "CMake"
says "plugin '$libraries/leat/libleat_vulkan.so', provider '$libraries/leat/libleat_onnxruntime.so'" || stop "paths"
cmake --build "$work/cmake" >"$work/log" 2>&1 || stop "building with CMake"

# With pkg-config. A library is found at run time by the path that a distribution's needs no option for.
mkdir "$work/plain"
export PKG_CONFIG_PATH="$libraries/pkgconfig"
flags() {
  pkg-config --define-variable=prefix="$installed" "$@"
}
# shellcheck disable=SC2046 # Lists of options.
{
  "$compiler" -std=c11 "$work/source/headers.c" $(flags --cflags --libs leat) -ldl -o "$work/plain/headers"
  "$compiler" -std=c11 "$work/source/host.c" $(flags --cflags --libs leat-host) -Wl,-rpath,"$libraries" \
    -o "$work/plain/host"
  "$compiler" -std=c11 "$work/source/batch.c" $(flags --cflags --libs leat-batch) -pthread -Wl,-rpath,"$libraries" \
    -o "$work/plain/batch"
} >"$work/log" 2>&1 || stop "compiling with pkg-config"
[ "$(pkg-config --modversion leat-host)" = "$(pkg-config --modversion leat-batch)" ] || stop "versions"
for file in plugin provider; do
  [ -f "$(flags --variable=$file leat)" ] || stop "pkg-config: $file is $(flags --variable=$file leat)"
done

"$installed/bin/leat-info" --check || exit 77
for folder in "$work/cmake" "$work/plain"; do
  rm -f "$work/log"
  got=$("$folder/headers" "$(flags --variable=plugin leat)") || stop "$folder/headers"
  [ "${got#*speaks ABI 1.}" != "$got" ] || stop "$folder/headers says $got"
  got=$("$folder/host") || stop "$folder/host"
  [ "${got#device 0: }" != "$got" ] || stop "$folder/host says $got"
  got=$("$folder/batch") || stop "$folder/batch"
  [ "$got" = "1 4 9 16" ] || stop "$folder/batch says $got"
  readelf -d "$folder/host" | grep -q 'NEEDED.*\[libleat_host\.so\.0\]' || stop "$folder/host is linked with another name"
done
echo "used by CMake and by pkg-config"
