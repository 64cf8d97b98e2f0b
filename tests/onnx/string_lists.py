#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Attributes that are lists of strings reach Leat whole, in a graph and by a node's own kernel.

Usage: string_lists.py LIBRARY
An LSTM with other activations than it has by itself gives what the CPU provider gives, and without them something else.
Exit status: 0 right, 1 not, 77 no Vulkan device.
"""
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import on_leat

STEPS, ROWS, SIZE, UNITS = 3, 2, 5, 4
OPSET, IR_VERSION = 14, 8
# Sums of fewer than 16 products of numbers up to 1 in float32, and functions whose slope is at most 1, for each step
# and gate: 16 * 2^-24 * 4 gates * 3 steps, and as much for the functions' own rounding.
BOUND = 2 * 16 * 4 * STEPS * 2.0 ** -24


def model_of(random, activations):
    weights = {"w": (1, 4 * UNITS, SIZE), "r": (1, 4 * UNITS, UNITS), "b": (1, 8 * UNITS)}
    constants = [numpy_helper.from_array(random.uniform(-0.5, 0.5, shape).astype(np.float32), name)
                 for name, shape in weights.items()]
    node = helper.make_node("LSTM", ["x", *weights], ["y"], hidden_size=UNITS,
                            **({"activations": activations} if activations else {}))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in (("x", [STEPS, ROWS, SIZE]), ("y", [STEPS, 1, ROWS, UNITS])))
    graph = helper.make_graph([node], "lists", [x], [y], constants)
    return helper.make_model(graph, ir_version=IR_VERSION,
                             opset_imports=[helper.make_opsetid("", OPSET)]).SerializeToString()


def on_device(model, devices, option):
    options = ort.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    options.add_provider_for_devices(devices, {option: "1"})
    return ort.InferenceSession(model, options)


def main():
    devices = on_leat.devices_of_command_line(__doc__)
    x = np.random.default_rng(1).uniform(-1, 1, (STEPS, ROWS, SIZE)).astype(np.float32)
    plain, other = (model_of(np.random.default_rng(2), activations)
                    for activations in (None, ["HardSigmoid", "Softsign", "Tanh"]))
    cpu = [ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
           for model in (plain, other)]
    wrong = []
    if np.abs(cpu[0] - cpu[1]).max() < 100 * BOUND:
        wrong.append("the activations make no difference")
    for option in ("force_graph_path", "force_direct_path"):
        for name, model, expected in (("its own", plain, cpu[0]), ("others", other, cpu[1])):
            off = np.abs(on_device(model, devices, option).run(None, {"x": x})[0] - expected).max()
            if not off <= BOUND:
                wrong.append(f"{option}, {name} activations: off by {off:.3g}; allowed: {BOUND:.3g}")
    print("\n".join([*wrong, f"4 sessions, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
