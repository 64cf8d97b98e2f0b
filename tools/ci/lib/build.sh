#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Configuring and building, in the folders of CMakePresets.json.
# shellcheck source=tools/ci/lib/setup.sh
. "${0%/*}/lib/setup.sh"

JOBS=$(nproc 2>/dev/null || echo 2)

# configure PRESET FOLDER OPTION...: CMake, unless the folder was configured just so before.
configure() {
  preset=$1
  folder=$2
  shift 2
  set -- -DONNXRUNTIME_INCLUDE_DIR="$ORT_INCLUDE" -DONNXRUNTIME_LIBRARY="$ORT_LIBRARY" \
    -DPython3_EXECUTABLE="$DEPS/python/bin/python" -DLEAT_MATRIX_GLSLC="${MATRIX_GLSLC:-}" "$@"
  want="$ROOT $preset $(cksum <CMakePresets.json) $*"
  if [ -f "$folder/build.ninja" ] && [ "$(cat "$folder/dev-stamp" 2>/dev/null || true)" = "$want" ]; then
    return 0
  fi
  say "configuring $folder"
  # A folder made for another tree or compiler would be refused.
  rm -rf "$folder/CMakeCache.txt" "$folder/CMakeFiles"
  cmake --preset "$preset" -B "$folder" "$@" >"$LOGS/configure.log" 2>&1 || {
    cat "$LOGS/configure.log" >&2
    stop "CMake could not configure $folder; its message is above." \
      "What it calls missing belongs into the lists of tools/ci/lib/packages.sh, or is named in README.md."
  }
  printf '%s\n' "$want" >"$folder/dev-stamp"
}

# compile FOLDER TARGET...
compile() {
  folder=$1
  shift
  say "building ${*:-everything} in $folder"
  # shellcheck disable=SC2086
  cmake --build "$folder" --parallel "$JOBS" ${1:+--target} "$@" ||
    stop "the build failed; the compiler's first message above says where." \
      "After a change of compiler or packages, remove $folder and run this again."
}

# The tests are built too wherever what they need beyond the build is there, so that build, info, bench and demo share
# the folder with the jobs, and nothing is configured or built again when they take turns.
configure_gcc() {
  tests=OFF
  if wants_tests "$COMMAND" || { command -v g++ >/dev/null && pkg-config --exists cmocka; }; then
    tests=ON
  fi
  configure gcc "$BUILD" -DBUILD_TESTING=$tests
}

build_gcc() {
  configure_gcc
  compile "$BUILD" "$@"
}

# build_beside PRESET TARGET...: in the preset's own folder, build-PRESET. Kernels do not depend on compiler and options:
# they are compiled once, in build/.
build_beside() {
  beside=$1
  shift
  build_gcc leat_kernels
  configure "$beside" "$ROOT/build-$beside"
  compile "$ROOT/build-$beside" "$@"
}
