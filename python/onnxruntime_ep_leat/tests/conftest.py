# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share. Those that need ONNX Runtime or a device are skipped where there is none."""
import os
import subprocess
import sys

import pytest

import onnxruntime_ep_leat as leat
from onnxruntime_ep_leat._register import onnxruntime


@pytest.fixture(scope="session")
def ort():
    try:
        module = onnxruntime()
    except leat.LeatError as error:
        pytest.skip(str(error))
    module.set_default_logger_severity(3)
    return module


@pytest.fixture(scope="session")
def devices(ort):
    found = leat.register()
    if not found:
        pytest.skip("no usable device: " + leat.why_no_device())
    return found


@pytest.fixture(scope="session")
def model():
    """A small network of convolutions: "image" float32 [batch, 1, 8, 8] -> float32 [batch, 10]."""
    return os.path.join(os.path.dirname(leat.__file__), "digits.onnx")


@pytest.fixture(scope="session")
def run():
    """Runs Python with this package in another process, with variables of the environment set."""
    def call(*arguments, **variables):
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        return subprocess.run([sys.executable, *arguments], env=dict(os.environ, PYTHONPATH=path, **variables),
                              capture_output=True, text=True, timeout=300, check=False)
    return call
