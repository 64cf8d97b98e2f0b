#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# provider_test.sh LEAT_RUN MODEL: the ONNX Runtime provider where no device address is a host address, so that whoever
# reads one on the host crashes. The model's nodes but one take one value on both sides; that one shows that Leat runs.
# The driver does no arithmetic, so nothing is compared.
set -u
told=$("$1" "$2" --fill x=1 --compare none --threads 4 --runs 20 2>&1)
status=$?
printf '%s\n' "$told"
if [ "$status" -ne 0 ]; then
  echo "FAIL leat-run ended with $status"
  exit 1
fi
case $told in
  *'LeatExecutionProvider 1: Reshape 1'*) ;;
  *)
    echo "FAIL not just the one node ran on Leat"
    exit 1
    ;;
esac
