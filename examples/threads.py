# SPDX-License-Identifier: BSD-3-Clause
"""One session, eight workers. Usage: python3 examples/threads.py build/libleat_onnxruntime.so"""
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime as ort

# ONNX Runtime would look for a relative path in its own folder.
ort.register_execution_provider_library("leat", os.path.abspath(sys.argv[1]))
devices = [d for d in ort.get_ep_devices() if d.ep_name == "LeatExecutionProvider"]
if not devices:
    sys.exit("no Vulkan device; leat-info says why")
options = ort.SessionOptions()
options.add_provider_for_devices(devices[:1], {})  # the best device comes first
session = ort.InferenceSession("examples/demo/digits.onnx", options)

heldout = np.load("examples/demo/digits_heldout.npz")
images = heldout["image"][:, None, None].astype(np.float32) / 16


def classify(image):
    return session.run(None, {"image": image})[0].argmax()


with ThreadPoolExecutor(max_workers=8) as pool:
    guesses = list(pool.map(classify, images))  # 450 runs, eight at a time, on one session
print(f"{np.sum(guesses == heldout['label'])} of {len(guesses)} digits read rightly")
