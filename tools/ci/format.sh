#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# format [--check]: clang-format over the C files.
# shellcheck source=tools/ci/lib/common.sh
. "${0%/*}/lib/common.sh"

command -v clang-format >/dev/null || stop "clang-format is not there; Debian's package is clang-format"
case ${1:-} in
  '') find abi batch common plugin host-shim conformance tools tests examples -name '*.[ch]' -exec clang-format -i {} + ;;
  --check) find abi batch common plugin host-shim conformance tools tests examples -name '*.[ch]' \
    -exec clang-format --dry-run --Werror {} + ;;
  *) stop "format: '$1' is not known; --check or nothing" ;;
esac
