#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run each fixture once as one graph, and require few dispatches in few levels.

Usage: dispatches.py LIBRARY [MODEL.onnx...]     (LIBRARY: libleat_onnxruntime.so; without models, all fixtures here)

A fixture may take as many as LIMITS says; of other models the counts are printed alone. LEAT_FUSIONS_OFF shows what
single rules bring.

Exit status: 0 right, 1 too many, 77 no Vulkan device.
"""
import os
import re
import subprocess
import sys

import numpy as np
import onnxruntime as ort

NO_DEVICE = 77
HERE = os.path.dirname(os.path.abspath(__file__))
# Dispatches and levels, as they were when each was last improved.
LIMITS = {
    "bert.dynamo": (23, 17),
    "bert.script": (23, 17),
    "gpt2.dynamo": (20, 17),
    "gpt2.script": (20, 17),
    "mobilenet_v3.dynamo": (53, 53),
    "mobilenet_v3.script": (53, 53),
    "resnet.dynamo": (17, 14),
    "resnet.script": (17, 14),
    "vit.dynamo": (18, 18),
    "vit.script": (18, 18),
}
SIZES = {"batch": 1, "batch_size": 1, "sequence": 48, "sequence_length": 48}
WORDS = re.compile(r"(\d+) launches, of (\d+) dispatches in (\d+) levels and (\d+) copies")


def run(library, model):
    """In a process of its own: ONNX Runtime writes its log to stderr."""
    ort.set_default_logger_severity(1)
    ort.register_execution_provider_library("leat", library)
    devices = [device for device in ort.get_ep_devices() if device.ep_name == "LeatExecutionProvider"]
    if not devices:
        return NO_DEVICE
    options = ort.SessionOptions()
    options.add_provider_for_devices(devices[:1], {"force_graph_path": "1"})
    session = ort.InferenceSession(model, options)
    masks = model.rsplit(".", 2)[0] + ".attention_mask.npy"
    mask = np.load(masks)[:1] if os.path.exists(masks) else None
    numbers = np.random.default_rng(0)
    given = {}
    for wanted in session.get_inputs():
        shape = [size if isinstance(size, int) else SIZES.get(size, 1) for size in wanted.shape]
        if wanted.name == "attention_mask" and mask is not None:
            given[wanted.name] = mask
        elif wanted.type == "tensor(int64)":
            given[wanted.name] = np.ones(mask.shape if mask is not None else shape, np.int64)
        else:
            given[wanted.name] = numbers.standard_normal(shape).astype(np.float32)
    session.run(None, given)
    return 0


def count(library, model):
    """Fused subgraphs, and dispatches, levels and copies of all of them; None without a device."""
    done = subprocess.run([sys.executable, __file__, "--run", library, model], capture_output=True, text=True,
                          check=False)
    if done.returncode == NO_DEVICE:
        return None
    if done.returncode != 0:
        raise RuntimeError(f"{model}: {done.stderr.strip().splitlines()[-1]}")
    found = [[int(number) for number in each] for each in WORDS.findall(done.stderr)]
    return (len(found), *(sum(each[i] for each in found) for i in (1, 2, 3)))


def main():
    if sys.argv[1:2] == ["--run"]:
        return run(*sys.argv[2:])
    library = os.path.abspath(sys.argv[1])
    models = sys.argv[2:] or [os.path.join(HERE, name + ".onnx") for name in LIMITS]
    wrong = 0
    for model in models:
        name = os.path.basename(model).removesuffix(".onnx")
        found = count(library, model)
        if found is None:
            return NO_DEVICE
        subgraphs, dispatches, levels, copies = found
        print(f"{name}: {subgraphs} fused subgraphs, {dispatches} dispatches, {levels} levels, {copies} copies")
        most = LIMITS.get(name, found[1:3]) if not os.environ.get("LEAT_FUSIONS_OFF") else found[1:3]
        if subgraphs == 0 or dispatches > most[0] or levels > most[1]:
            print(f"  at most {most[0]} dispatches in {most[1]} levels are expected")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
