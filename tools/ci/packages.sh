#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# packages [COMMAND]: the Debian packages that a command (build) installs where they are missing.
# shellcheck source=tools/ci/lib/packages.sh
. "${0%/*}/lib/packages.sh"

[ $# -le 1 ] || stop "packages takes one command ('$2')"
packages_of "${1:-build}"
