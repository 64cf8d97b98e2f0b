# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the installed package: python -m pytest --pyargs onnxruntime_ep_leat."""
