#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The wheel for aarch64 and tests that are compiled with it, in an emulator of one processor. The whole suite would take
# hours, most of it for the driver's compiler, so of the tests those are left out that make hundreds of kernels.
# shellcheck source=tools/ci/lib/wheel.sh
. "${0%/*}/lib/wheel.sh"

# What is linked and run: of Debian 12 whatever this machine is, because the compiler is told its glibc.
SYSROOT_PACKAGES='libcmocka-dev libglib2.0-dev libjson-glib-dev libvulkan1 mesa-vulkan-drivers python3'
SYSROOT_SUITE=bookworm
SYSROOT_GLIBC=2.36

# sysroot_apt ARGUMENT...: apt-get for another architecture, on which nothing is installed yet.
sysroot_apt() {
  suite_apt "$sysroot" -o Dir::State::Status="$sysroot/status" -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
    -o Acquire::Languages=none "$@"
}

# unpack_sysroot: what was downloaded, into $sysroot/root. Without the C library's headers, because the compiler has its
# own; and without what lies in /bin, because an emulated program would find its shell there.
unpack_sysroot() {
  for file in "$sysroot"/cache/archives/*.deb; do
    case ${file##*/} in
      libc6-dev_* | linux-libc-dev_*) ;;
      *) dpkg-deb -x "$file" "$sysroot/root" || return 1 ;;
    esac
  done
  rm -rf "$sysroot/root/bin" "$sysroot/root/sbin"
}

# fetch_sysroot MIRROR: false if the mirror does not serve.
fetch_sysroot() {
  begin_suite "$sysroot" "$1" $SYSROOT_SUITE
  : >"$sysroot/status"
  logged sysroot-update sysroot_apt update --error-on=any || return 1
  # shellcheck disable=SC2086 # A list of words.
  logged sysroot-download sysroot_apt install --yes --no-install-recommends --download-only $SYSROOT_PACKAGES || return 1
  logged sysroot-unpack unpack_sysroot || return 1
  rm -rf "$sysroot/state" "$sysroot/cache"
}

# setup_sysroot: Debian's packages for aarch64, unpacked and never installed. Sets SYSROOT.
setup_sysroot() {
  sysroot=$DEPS/aarch64/sysroot
  SYSROOT=$sysroot/root
  want="$SYSROOT_SUITE $SYSROOT_PACKAGES"
  [ "$(cat "$sysroot/leat-stamp" 2>/dev/null || true)" != "$want" ] || return 0
  exec 9>"$DEPS/lock"
  flock 9
  say "downloading Debian's packages for aarch64, about 75 MB, unpacked in $sysroot"
  found=false
  for mirror in $(debian_mirrors); do
    if fetch_sysroot "$mirror"; then
      found=true
      break
    fi
  done
  exec 9>&-
  $found || stop "no Debian mirror in /etc/apt gave the packages for aarch64 of Debian $SYSROOT_SUITE; see above." \
    "Is the mirror reachable, and does it carry that suite for arm64?"
  printf '%s\n' "$want" >"$sysroot/leat-stamp"
}

# setup_emulated_python: the oldest ONNX Runtime that Leat is for and NumPy, for aarch64 and the sysroot's Python.
# Sets EMULATED_PACKAGES. (ONNX Runtime 1.32 ends at its start where /sys describes another processor than it runs on,
# as it does under an emulator.)
setup_emulated_python() {
  EMULATED_PACKAGES=$DEPS/aarch64/packages
  list=$DEPS/aarch64/requirements.txt
  { cat tests/onnx/oldest.txt && sed -n '/^numpy==/,/[^\\]$/p' tools/requirements.txt; } >"$list"
  want=$(sha256sum <"$list" | cut -c1-16)
  [ "$(cat "$EMULATED_PACKAGES/leat-stamp" 2>/dev/null || true)" != "$want" ] || return 0
  exec 9>"$DEPS/lock"
  flock 9
  say "downloading ONNX Runtime and NumPy for aarch64, about 35 MB"
  rm -rf "$EMULATED_PACKAGES"
  set -- --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux_2_17_aarch64
  logged pip "$DEPS/python/bin/python" -m pip --disable-pip-version-check install --target "$EMULATED_PACKAGES" "$@" \
    --python-version 3.11 --implementation cp --require-hashes --no-deps --only-binary :all: -r "$list" ||
    stop "pip could not bring ONNX Runtime and NumPy for aarch64; see above"
  exec 9>&-
  printf '%s\n' "$want" >"$EMULATED_PACKAGES/leat-stamp"
}

no_arguments "$@"
setup
setup_wheel
setup_compiler
setup_sysroot
setup_emulated_python
build_gcc leat_kernels
wheel_build "$ROOT/build-wheel-aarch64" aarch64
folder=$ROOT/build-aarch64
export PKG_CONFIG_SYSROOT_DIR="$SYSROOT" \
  PKG_CONFIG_LIBDIR="$SYSROOT/usr/lib/aarch64-linux-gnu/pkgconfig:$SYSROOT/usr/share/pkgconfig"
configure_portable aarch64 "$folder" aarch64 $SYSROOT_GLIBC \
  "-DCMAKE_CXX_COMPILER=$DEPS/compiler/bin/python;-m;ziglang;c++" \
  -DCMAKE_CXX_COMPILER_TARGET="aarch64-linux-gnu.$SYSROOT_GLIBC"
compile "$folder" unit_tests nulldriver_tests leat-conformance
driver=$SYSROOT/usr/share/vulkan/icd.d/lvp_icd.aarch64.json
export QEMU_LD_PREFIX="$SYSROOT" LEAT_TEST_EMULATOR=qemu-aarch64 VK_DRIVER_FILES="$driver" \
  VK_ICD_FILENAMES="$driver" LEAT_CACHE_DIR=
# leat_build: whether all that tests use was built from this tree. Half of it is not built here; what is was so above.
ctest --test-dir "$folder" --parallel "$JOBS" --output-on-failure -FS leat_build -R '^(unit|nulldriver)\.' \
  -E '^unit\.(finding|fusion.*|graph|pointwise.*|drawn\.all)$|^nulldriver\.provider$'
sh tests/emulated/conformance.sh "$folder/leat-conformance" "$ROOT/build-wheel-aarch64/libleat_vulkan.so"
# As a person's own Python would find it, but for where that is.
rm -rf "$folder/wheel"
"$LEAT_TEST_WHEEL" -m zipfile -e "$wheel" "$folder/wheel"
PYTHONHOME="$SYSROOT/usr" PYTHONPATH="$folder/wheel:$EMULATED_PACKAGES" qemu-aarch64 "$SYSROOT/usr/bin/python3" \
  -m onnxruntime_ep_leat --check || stop "the wheel for aarch64 does not work, see above"
