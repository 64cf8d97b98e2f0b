# SPDX-License-Identifier: BSD-3-Clause
"""What scripts of this folder have in common: the ONNX Runtime and the device that they run models on, and sessions on
it alone."""
import os
import sys

import onnxruntime as ort

SKIPPED = 77  # what ctest is told where there is no device


def choose_runtime():
    """With --oldest among its arguments, the program begins again, without it, with the ONNX Runtime in the folder of
    packages that LEAT_TEST_OLDEST names. Ends the program where there is none."""
    if "--oldest" not in sys.argv:
        return
    folder = os.environ.get("LEAT_TEST_OLDEST", "")
    if not os.path.isdir(os.path.join(folder, "onnxruntime")):
        print("LEAT_TEST_OLDEST names no folder with onnxruntime in it", file=sys.stderr)
        sys.exit(SKIPPED)
    arguments = [argument for argument in sys.argv if argument != "--oldest"]
    os.execve(sys.executable, [sys.executable, *arguments], {**os.environ, "PYTHONPATH": folder})


def devices(library):
    """The first device of the provider in a library, as sessions take it. Ends the program where there is none."""
    ort.register_execution_provider_library("leat", os.path.abspath(library))
    found = [device for device in ort.get_ep_devices() if device.ep_name == "LeatExecutionProvider"][:1]
    if not found:
        print(f"{os.path.basename(sys.argv[0])}: no Leat device", file=sys.stderr)
        sys.exit(SKIPPED)
    return found


def devices_of_command_line(usage):
    """The same, of the library that is the program's only argument; other arguments end the program with its usage."""
    if len(sys.argv) != 2:
        print(usage, file=sys.stderr)
        sys.exit(2)
    return devices(sys.argv[1])


def session(model, on):
    """A session that has all nodes on these devices, or fails."""
    options = ort.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    options.add_provider_for_devices(on, {})
    return ort.InferenceSession(model, options)
