#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what ONNX Runtime's quantisers write on Leat with ONNX Runtime's CPU provider.

usage: quantizers.py LIBRARY

No model may leave its node to the CPU provider. Exit status: 0, or 1 if an answer is wrong, 77 if there is no device.
"""
import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

import on_leat

FLOAT = 1


def model_of(op, shape, inputs, outputs, **attributes):
    """A model of one node of com.microsoft: its first input is x, of floats of a shape, the others are constants by
    name, None where there is none."""
    names = ["x"] + [name if value is not None else "" for name, value in inputs.items()]
    node = helper.make_node(op, names, outputs, domain="com.microsoft", **attributes)
    return model_with([node], shape, inputs, outputs)


def model_with(nodes, shape, inputs, outputs):
    graph = helper.make_graph(nodes, "graph", [helper.make_tensor_value_info("x", FLOAT, shape)],
                              [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs if name],
                              [numpy_helper.from_array(np.asarray(v), name) for name, v in inputs.items()
                               if v is not None])
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=9).SerializeToString()


def bytes_of(rng, dtype, shape):
    least = np.iinfo(dtype).min
    return rng.integers(least, least + 256, shape).astype(dtype)


def scales_of(rng, dtype, shape, most):
    """Scales and zero points. The CPU provider takes no zero points of int8 by column, and one for all columns else."""
    zero = 131 if dtype == np.uint8 else 0 if len(shape) > 1 else 3
    return rng.uniform(most / 2, most, shape).astype(np.float32), np.full(shape, zero, dtype)


def lstm(rng, dtype, by_column, steps, rows, size, units, directions):
    """A layer, its input, and how far states may be off where rounding makes a byte of them the next one: a step of
    1/255 of their range, from -1 to 1, times the weights of a column."""
    columns, most = 4 * units, 1 / (128 * units ** 0.5)
    shape = (directions, columns) if by_column else (directions,)
    inputs = {"w": bytes_of(rng, dtype, (directions, size, columns)),
              "r": bytes_of(rng, dtype, (directions, units, columns)),
              "b": rng.uniform(-1, 1, (directions, 2 * columns)).astype(np.float32), "lengths": None,
              "h": rng.uniform(-1, 1, (directions, rows, units)).astype(np.float32), "c": None, "p": None}
    for name in "wr":
        inputs[f"{name}_scale"], inputs[f"{name}_zero"] = scales_of(rng, dtype, shape, most)
    model = model_of("DynamicQuantizeLSTM", (steps, rows, size), inputs, ["y", "y_h", "y_c"], hidden_size=units,
                     direction="bidirectional" if directions == 2 else "forward")
    weights = (inputs["r"].astype(float) - inputs["r_zero"].flat[0]) * most
    return model, rng.uniform(-2, 2, (steps, rows, size)).astype(np.float32), np.abs(weights).sum(1).max() * 2 / 255


def compare_lstms(rng, devices):
    """All elements are within the step of a byte, and most within what floats are rounded by."""
    wrong = []
    cases = [(np.int8, False, 9, 1, 5, 8, 1), (np.int8, True, 7, 3, 4, 20, 2), (np.uint8, False, 6, 1, 16, 260, 2)]
    for case in cases:
        model, x, step = lstm(rng, *case)
        options = ort.SessionOptions()
        options.intra_op_num_threads = case[3]  # each row is quantised by itself where each has a thread
        wanted = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, {"x": x})
        for a, b in zip(on_leat.session(model, devices).run(None, {"x": x}), wanted):
            off = np.abs(a - b)
            if not (off.max() <= step and np.mean(off <= 1e-5) > 0.5):
                wrong.append(f"DynamicQuantizeLSTM {case}: off by {off.max():.3g}, {np.mean(off > 1e-5):.2f} of all")
    return len(cases), wrong


def products(rng):
    """Models of DynamicQuantizeMatMul with their inputs, and how far their results may be off: a sum of integers, times
    the product of the scales, plus the bias, each rounded."""
    for dtype, shape, columns, by_column in [(np.int8, (2, 5, 72), 33, True), (np.uint8, (1, 40), 24, False)]:
        scale, zero = scales_of(rng, dtype, (columns,) if by_column else (), 0.02)
        inputs = {"b": bytes_of(rng, dtype, (shape[-1], columns)), "scale": scale, "zero": zero,
                  "bias": rng.uniform(-1, 1, columns).astype(np.float32) if by_column else None}
        model = model_of("DynamicQuantizeMatMul", shape, inputs, ["y"])
        x = rng.uniform(-1, 3, shape).astype(np.float32)
        yield "DynamicQuantizeMatMul", model, x, 2.0 ** -22 * (255 * 0.02 * np.abs(x).sum(-1).max() + 1)


def picks(rng):
    """A QLinearWhere between QuantizeLinear and DequantizeLinear of com.microsoft, which are exact."""
    constants = {"c": rng.integers(0, 2, (6, 1)).astype(bool), "y": bytes_of(rng, np.uint8, (7,)),
                 **{f"{name}_scale": np.float32(scale) for name, scale in (("x", 0.02), ("y", 0.03), ("z", 0.025))},
                 **{f"{name}_zero": np.uint8(zero) for name, zero in (("x", 121), ("y", 9), ("z", 130))}}
    nodes = [helper.make_node("QuantizeLinear", ["x", "x_scale", "x_zero"], ["q"], domain="com.microsoft"),
             helper.make_node("QLinearWhere", ["c", "q", "x_scale", "x_zero", "y", "y_scale", "y_zero", "z_scale",
                                               "z_zero"], ["z"], domain="com.microsoft"),
             helper.make_node("DequantizeLinear", ["z", "z_scale", "z_zero"], ["out"], domain="com.microsoft")]
    x = rng.uniform(-3, 3, (6, 7)).astype(np.float32)
    yield "QLinearWhere", model_with(nodes, (6, 7), constants, ["out"]), x, 0


def images(rng):
    """Convolutions and pools of int8 and uint8, as ONNX Runtime writes them anew with channels last. A result is one
    step off where a float is between two of them, and three operators that round follow each other."""
    constants = {"s": np.float32(0.02), "z": np.uint8(128), "t": np.float32(0.01), "n": np.int8(0)}
    shapes = {"w0": (8, 3, 3, 3), "w1": (8, 8, 3, 3), "w2": (8, 1, 3, 3)}
    for name, shape in shapes.items():
        constants[name] = rng.integers(-40, 41, shape).astype(np.int8)

    def convolution(x, w, y, group=1):
        return helper.make_node("QLinearConv", [x, "s", "z", w, "t", "n", "s", "z"], [y], pads=[1] * 4, group=group,
                                kernel_shape=[3, 3])

    def own(op, inputs, y, **attributes):
        return helper.make_node(op, inputs, [y], domain="com.microsoft", **attributes)

    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), convolution("q", "w0", "a"),
             helper.make_node("MaxPool", ["a"], ["b"], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
             convolution("b", "w1", "c"), own("QLinearAdd", ["b", "s", "z", "c", "s", "z", "s", "z"], "d"),
             convolution("d", "w2", "e", group=8),
             own("QLinearAveragePool", ["e", "s", "z", "s", "z"], "f", kernel_shape=[2, 2]),
             own("QLinearGlobalAveragePool", ["f", "s", "z", "s", "z"], "g", channels_last=0),
             helper.make_node("DequantizeLinear", ["g", "s", "z"], ["y"])]
    with tempfile.TemporaryDirectory() as folder:
        options = ort.SessionOptions()
        options.optimized_model_filepath = os.path.join(folder, "model.onnx")
        ort.InferenceSession(model_with(nodes, (2, 3, 12, 14), constants, ["y"]), options,
                             providers=["CPUExecutionProvider"])
        made = onnx.load(options.optimized_model_filepath)
    last = {node.op_type for node in made.graph.node
            if node.op_type == "NhwcMaxPool" or any(a.name == "channels_last" and a.i == 1 for a in node.attribute)}
    yield f"channels last of {sorted(last)}", made.SerializeToString(), rng.uniform(-2, 2, (2, 3, 12, 14)).astype(
        np.float32), 3 * 0.02


def compare(cases, devices):
    wrong = []
    for count, (what, model, x, tolerance) in enumerate(cases, 1):
        plain = ort.SessionOptions()
        plain.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        wanted = ort.InferenceSession(model, plain, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
        off = np.abs(on_leat.session(model, devices).run(None, {"x": x})[0] - wanted).max()
        if not off <= tolerance:
            wrong.append(f"{what} {count}: off by {off:.3g}, {tolerance:.3g} allowed")
    return count, wrong


def main():
    devices = on_leat.devices_of_command_line(__doc__.splitlines()[2])
    rng = np.random.default_rng(1)
    cases = [*products(rng), *picks(rng), *images(rng)]
    count, wrong = map(sum, zip(compare_lstms(rng, devices), compare(cases, devices)), (0, []))
    print("\n".join([*wrong, f"{count} models, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
