#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# deb: packages of the tree as it is, built from a copy, because dpkg-buildpackage writes into a tree and beside it.
# ONNX Runtime's headers are ours, which the build profile says.
# shellcheck source=tools/ci/lib/build.sh
. "${0%/*}/lib/build.sh"

no_arguments "$@"
make_logs
# shellcheck disable=SC2046 # A list of words.
setup_packages $(packages_of "$COMMAND")
setup_headers
out=$ROOT/build-deb
version=$(dpkg-parsechangelog -l "$ROOT/debian/changelog" -S Version)
copy=$out/leat-$version
rm -rf "$out"
mkdir -p "$copy"
tar -c --exclude='./build*' --exclude='./.*' --exclude=__pycache__ . | tar -x -C "$copy"
sh "$ROOT/cmake/build_id.sh" "$ROOT" >"$copy/VERSION.build"
say "building Debian packages of Leat $version"
(
  cd "$copy"
  export ONNXRUNTIME_INCLUDE_DIR="$ORT_INCLUDE"
  logged deb dpkg-buildpackage -us -uc -j"$JOBS" -Ppkg.leat.headers
) || stop "dpkg-buildpackage failed, see above"
say "Debian packages:"
ls "$out"/*.deb
