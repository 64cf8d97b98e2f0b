#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs models of old operator sets through ONNX Runtime with Leat and compares with the CPU provider.

usage: old_sets.py LIBRARY

LIBRARY is libleat_onnxruntime.so. Each operator whose definition has changed is there as models of the sets before had
it, with what the definition meant then: all nodes must run on Leat. Exit status: 0, or 1 if a result is wrong or a node
stays with the CPU, 77 if there is no device.
"""
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import on_leat

IR_VERSION = 3  # initializers are inputs too, as they were
IMAGE, MATRIX, CUBE = (2, 4, 9, 8), (5, 7), (3, 5, 7)
SCALES, SMALLER = [1, 1, 2, 3], [1, 1, 0.5, 0.5]  # elements, not a shape
REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
              "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")

# Operator set, operator, shapes of what it takes (or lists of elements), attributes, outputs.
CASES = [
    (7, "Conv", [(2, 4, 9, 8), (6, 4, 3, 3), (6,)], {"pads": [1, 1, 1, 1]}, 1),
    (10, "Conv", [(2, 4, 9, 8), (4, 1, 3, 3)], {"group": 4, "auto_pad": "SAME_UPPER"}, 1),
    (10, "ConvTranspose", [(1, 4, 5, 5), (4, 3, 3, 3)], {"strides": [2, 2]}, 1),
    (10, "ConvTranspose", [(1, 4, 5, 5), (4, 3, 3, 3)], {"strides": [2, 2], "auto_pad": "SAME_UPPER"}, 1),
    (10, "ConvTranspose", [(1, 4, 5, 5), (4, 3, 3, 3)], {"strides": [2, 2], "auto_pad": "SAME_LOWER"}, 1),
    (7, "MaxPool", [IMAGE], {"kernel_shape": [3, 3], "strides": [2, 2]}, 1),
    (8, "MaxPool", [IMAGE], {"kernel_shape": [2, 2], "pads": [1, 1, 0, 0]}, 1),
    (7, "AveragePool", [IMAGE], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, 1),
    (9, "AveragePool", [IMAGE], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}, 1),
    (7, "BatchNormalization", [IMAGE, (4,), (4,), (4,), (4,)], {}, 1),
    (8, "BatchNormalization", [IMAGE, (4,), (4,), (4,), (4,)], {"spatial": 1, "epsilon": 1e-3}, 1),
    (8, "MatMul", [CUBE, (7, 4)], {}, 1),
    (8, "Gemm", [MATRIX, (7, 3), (3,)], {}, 1),
    (10, "Gemm", [MATRIX, (3, 7), (5, 1)], {"transB": 1, "alpha": 0.5, "beta": 2.0}, 1),
    (7, "Sum", [MATRIX, MATRIX, MATRIX], {}, 1),
    (7, "Mean", [MATRIX, MATRIX, MATRIX], {}, 1),
    (7, "Max", [MATRIX, MATRIX], {}, 1),
    (7, "Min", [MATRIX, MATRIX], {}, 1),
    (10, "Clip", [MATRIX], {"min": 0.0, "max": 6.0}, 1),
    (10, "Clip", [MATRIX], {}, 1),
    (9, "Dropout", [MATRIX], {"ratio": 0.25}, 1),
    (10, "Dropout", [MATRIX], {"ratio": 0.25}, 2),
    (12, "Softmax", [CUBE], {}, 1),
    (12, "Softmax", [CUBE], {"axis": -1}, 1),
    (10, "Softmax", [CUBE], {"axis": 0}, 1),
    (12, "LogSoftmax", [(2, 3, 4, 5)], {"axis": 2}, 1),
    (10, "LogSoftmax", [MATRIX], {}, 1),
    (10, "ArgMax", [CUBE], {"axis": 1}, 1),
    (10, "ArgMin", [CUBE], {"axis": 2, "keepdims": 0}, 1),
    (9, "TopK", [MATRIX], {"k": 3}, 2),
    (9, "TopK", [CUBE], {"k": 2, "axis": 1}, 2),
    (10, "Squeeze", [(1, 5, 1, 7)], {"axes": [0, 2]}, 1),
    (12, "Squeeze", [(1, 5, 1, 7)], {"axes": [-2]}, 1),
    (12, "Squeeze", [(1, 5, 1, 7)], {}, 1),
    (10, "Unsqueeze", [MATRIX], {"axes": [0, 3]}, 1),
    (12, "Unsqueeze", [MATRIX], {"axes": [-1]}, 1),
    (9, "Slice", [CUBE], {"starts": [1, -3], "ends": [9, -1], "axes": [0, 2]}, 1),
    (9, "Slice", [CUBE], {"starts": [1], "ends": [2]}, 1),
    (10, "Split", [MATRIX], {"axis": 1, "split": [2, 4, 1]}, 3),
    (12, "Split", [CUBE], {"axis": -3}, 3),
    (10, "Pad", [IMAGE], {"pads": [0, 1, 2, 0, 0, 0, 1, 3], "value": 1.5}, 1),
    (10, "Pad", [MATRIX], {"pads": [2, 1, 1, 2], "mode": "reflect"}, 1),
    (10, "Pad", [MATRIX], {"pads": [-1, 1, 1, -2], "mode": "edge"}, 1),
    (12, "LayerNormalization", [CUBE, (7,), (7,)], {"axis": -1, "epsilon": 1e-5}, 1),
    (9, "ThresholdedRelu", [MATRIX], {"alpha": 0.5}, 1),
    (8, "Upsample", [IMAGE], {"mode": "nearest", "scales": [1.0, 1.0, 2.0, 2.0]}, 1),
    (8, "Upsample", [IMAGE], {"mode": "linear", "scales": [1.0, 1.0, 2.0, 3.0]}, 1),
    (9, "Upsample", [IMAGE, SCALES], {"mode": "nearest"}, 1),
    (9, "Upsample", [IMAGE, SCALES], {"mode": "linear"}, 1),
    (10, "Resize", [IMAGE, SCALES], {"mode": "nearest"}, 1),
    (10, "Resize", [IMAGE, SMALLER], {"mode": "nearest"}, 1),
    (10, "Resize", [IMAGE, SMALLER], {"mode": "linear"}, 1),
    *((10, name, [CUBE], {"axes": [0, 2], "keepdims": 0}, 1) for name in REDUCTIONS),
    *((10, name, [CUBE], {"axes": [1]}, 1) for name in REDUCTIONS),
    *((10, name, [CUBE], {}, 1) for name in REDUCTIONS),
]


def model_of(opset, name, shapes, attributes, outputs):
    """A model as bytes, and what its first input is; the others are constants."""
    random = np.random.default_rng(1)
    tensors = [np.array(shape, np.float32) if isinstance(shape, list) else
               random.uniform(0.25, 2, shape).astype(np.float32) for shape in shapes]
    names = [f"x{i}" for i in range(len(shapes))]
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, t.shape) for n, t in zip(names, tensors)]
    constants = [numpy_helper.from_array(t, n) for n, t in zip(names[1:], tensors[1:])]
    results = [f"y{i}" for i in range(outputs)]
    nodes = [helper.make_node("Neg", ["x0"], ["before"]), helper.make_node("Abs", ["before"], ["within"]),
             helper.make_node(name, ["within", *names[1:]], results, **attributes)]
    values = [helper.make_empty_tensor_value_info(y) for y in results]
    graph = helper.make_graph(nodes, name, inputs, values, constants)
    domains = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=domains, ir_version=IR_VERSION).SerializeToString(), tensors[0]


def check(case, on):
    """What is wrong with a case; None: nothing."""
    model, x = model_of(*case)
    expected = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x0": x})
    try:
        found = on_leat.session(model, on).run(None, {"x0": x})
    except ort.capi.onnxruntime_pybind11_state.Fail as error:
        return str(error).strip()
    for i, (a, b) in enumerate(zip(expected, found)):
        if a.dtype != b.dtype or a.shape != b.shape or not np.allclose(a, b, rtol=1e-4, atol=1e-5):
            return f"output {i} is {b.ravel()[:4]}, the CPU has {a.ravel()[:4]}"
    return None


def main():
    on = on_leat.devices_of_command_line(__doc__)
    wrong = 0
    for case in CASES:
        message = check(case, on)
        if message is not None:
            wrong += 1
            print(f"{case[1]} of operator set {case[0]} with {case[3]}: {message}")
    print(f"{len(CASES)} models, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
