#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Packages, ONNX Runtime and Python environment, without a build.
# shellcheck source=tools/ci/lib/setup.sh
. "${0%/*}/lib/setup.sh"

no_arguments "$@"
setup
