#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Everything that must be there before a build.
# shellcheck source=tools/ci/lib/python.sh
. "${0%/*}/lib/python.sh"
# shellcheck source=tools/ci/lib/debian.sh
. "${0%/*}/lib/debian.sh"

# The oldest API of ONNX Runtime that is taken from Debian, and the suites that may have it. A builder's own headers are
# looked at by CMake, which takes somewhat older ones.
ORT_API_MIN=26
ORT_SUITES='experimental unstable'
# The same for a glslc that knows cooperative matrices (trixie's has none of bfloat16), and for a Mesa whose lavapipe has
# them.
GLSLC_SUITES='testing unstable trixie'
# For Spin, whose program runs with the machine's own C library: the oldest.
SPIN_SUITES='bookworm'
# For herd7, which Debian 13 does not have.
HERD_SUITES='testing unstable'
# For CBMC, of which the harnesses know version 6.
CBMC_SUITES='trixie testing'

ort_api() {
  sed -n 's/^#define ORT_API_VERSION \([0-9]*\).*/\1/p' "$1/onnxruntime_c_api.h" 2>/dev/null
}

download_headers() {
  (cd "$headers" && suite_apt "$headers" download libonnxruntime-dev)
}

# fetch_headers MIRROR SUITE: unpacks that suite's libonnxruntime-dev into $headers/root; false if it does not serve.
fetch_headers() {
  begin_suite "$headers" "$1" "$2"
  logged "headers-update-$2" suite_apt "$headers" update --error-on=any || return 1
  logged "headers-download-$2" download_headers || return 1
  logged "headers-unpack-$2" dpkg-deb -x "$headers"/libonnxruntime-dev_*.deb "$headers/root" || return 1
  api=$(ort_api "$headers/root/usr/include/onnxruntime")
  if [ "${api:-0}" -lt $ORT_API_MIN ]; then
    say "$2 has ONNX Runtime's headers at API ${api:-unknown}; at least $ORT_API_MIN is needed"
    return 1
  fi
}

# setup_headers: ONNX Runtime's C headers out of Debian's newest package, unpacked beside our build and never installed.
# Sets ORT_INCLUDE.
setup_headers() {
  if [ -n "${ONNXRUNTIME_INCLUDE_DIR:-}" ]; then
    ORT_INCLUDE=$ONNXRUNTIME_INCLUDE_DIR
    [ -f "$ORT_INCLUDE/onnxruntime_c_api.h" ] ||
      stop "ONNXRUNTIME_INCLUDE_DIR is $ORT_INCLUDE, which has no onnxruntime_c_api.h" \
        "Name the folder with that file, or unset it: the headers are downloaded then."
    return 0
  fi
  headers=$DEPS/headers
  ORT_INCLUDE=$headers/root/usr/include/onnxruntime
  [ ! -e "$headers/leat-stamp" ] || return 0
  say "downloading ONNX Runtime's headers (Debian's libonnxruntime-dev, unpacked in $headers)"
  for mirror in $(debian_mirrors); do
    for suite in $ORT_SUITES; do
      if fetch_headers "$mirror" "$suite"; then
        say "ONNX Runtime headers: API $api, from Debian $suite"
        rm -rf "$headers/state" "$headers/cache"
        : >"$headers/leat-stamp"
        return 0
      fi
    done
  done
  stop "no Debian mirror in /etc/apt gave ONNX Runtime's headers (package libonnxruntime-dev, suites: $ORT_SUITES)." \
    "Is the mirror reachable, and does it carry these suites? Or bring headers of ONNX Runtime 1.$ORT_API_MIN or newer:" \
    "  ONNXRUNTIME_INCLUDE_DIR=/folder/with/onnxruntime_c_api.h ./dev ..."
}

# setup_glslc: a glslc that knows cooperative matrices, of bfloat16 too if there is one, where the installed one does not.
# Sets MATRIX_GLSLC; without one Leat is built without kernels for matrix hardware.
setup_glslc() {
  MATRIX_GLSLC=
  probe=plugin/ops/core/kernels/matrix_probe.comp
  place=$DEPS/glslc-bfloat16
  if glslc -fshader-stage=compute --target-env=vulkan1.2 -DBFLOAT16 -o /dev/null "$ROOT/$probe" 2>/dev/null; then
    return 0
  fi
  if ! setup_apart "$place" "$GLSLC_SUITES" glslc; then
    say "no newer glslc: Leat is built without kernels for matrix hardware"
    return 0
  fi
  MATRIX_GLSLC=$place/glslc
  run_apart "$place" glslc >"$MATRIX_GLSLC"
  chmod +x "$MATRIX_GLSLC"
}

# setup_spin: Spin, for tests/spin. Sets LEAT_TEST_SPIN, its program, which needs nothing but the C library.
setup_spin() {
  exec 9>"$DEPS/lock"
  flock 9
  setup_apart "$DEPS/spin" "$SPIN_SUITES" spin ||
    stop "no Debian mirror in /etc/apt gave Spin (suites: $SPIN_SUITES); is the mirror reachable?"
  exec 9>&-
  export LEAT_TEST_SPIN="$DEPS/spin/root/usr/bin/spin"
}

# program_apart NAME SUITES PACKAGE PROGRAM [OPTIONS]: sets `program`, which runs a program of a newer Debian's package
# with the libraries of that one.
program_apart() {
  exec 9>"$DEPS/lock"
  flock 9
  place=$DEPS/$1
  setup_apart "$place" "$2" "$3" ||
    stop "no Debian mirror in /etc/apt gave $3 (suites: $2); is the mirror reachable?"
  program=$place/$4
  run_apart "$place" "$4" "${5:-}" >"$program"
  chmod +x "$program"
  exec 9>&-
}

# setup_herd: herd7, for tests/litmus. Sets LEAT_TEST_HERD, which runs it with its models.
setup_herd() {
  program_apart herd "$HERD_SUITES" herdtools7 herd7 "-set-libdir '$DEPS/herd/root/usr/share/herdtools7/herd'"
  export LEAT_TEST_HERD="$program"
}

# setup_cbmc: CBMC, for tests/cbmc. Sets LEAT_TEST_CBMC, which runs it.
setup_cbmc() {
  program_apart cbmc "$CBMC_SUITES" cbmc cbmc
  export LEAT_TEST_CBMC="$program"
}

# Sets ORT_LIBRARY: the builder's own, or the one in our Python environment.
find_ort_library() {
  ORT_LIBRARY=${ONNXRUNTIME_LIBRARY:-}
  if [ -z "$ORT_LIBRARY" ]; then
    for file in "$DEPS"/python/lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so.*; do
      ORT_LIBRARY=$file
    done
  fi
  [ -f "$ORT_LIBRARY" ] || stop "ONNX Runtime's library is not there: $ORT_LIBRARY" \
    "If ONNXRUNTIME_LIBRARY is set, mend it; if not, remove $DEPS/python and run this again."
}

# setup: everything that must be there before a build.
setup() {
  make_logs
  # Another ./dev may be doing the same; flock is part of every Debian. Closed again so that no child keeps the lock.
  exec 9>"$DEPS/lock"
  flock 9
  # shellcheck disable=SC2046 # A list of words.
  setup_packages $(packages_of "$COMMAND")
  setup_python
  setup_headers
  setup_glslc
  find_ort_library
  exec 9>&-
}
