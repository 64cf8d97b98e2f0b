#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares operators that round nothing with ONNX Runtime's CPU provider.

usage: exact_tests.py LIBRARY

LIBRARY is libleat_onnxruntime.so. Each model is one node, which must run on Leat; what its inputs may be known from,
constants and feeds, is tried. Results are the same bits. Exit status: 0, or 1 if a result is wrong, 77 if there is no
device.
"""
import sys

import numpy as np
import onnxruntime as ort
from onnx import helper, numpy_helper

import on_leat

IR_VERSION = 8


class Call:
    """A node and its inputs, of which those named in `constants` are initialisers in one of two models."""

    def __init__(self, operator, opset, inputs, constants=(), **attributes):
        self.operator, self.opset, self.inputs, self.attributes = operator, opset, inputs, attributes
        self.constants = constants
        self.title = f"{operator}-{opset} " + ", ".join(
            [*(f"{name} {value.dtype}{list(value.shape)}" for name, value in inputs.items()),
             *(f"{key}={value}" for key, value in attributes.items())])

    def model(self, constants):
        given = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype),
                                               [f"{name}{d}" for d in range(value.ndim)])
                 for name, value in self.inputs.items() if name not in constants]
        node = helper.make_node(self.operator, list(self.inputs), ["y"], **self.attributes)
        graph = helper.make_graph([node], "call", given, [helper.make_empty_tensor_value_info("y")],
                                  [numpy_helper.from_array(self.inputs[name], name) for name in constants])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                 ir_version=IR_VERSION).SerializeToString()


def one_hot():
    """The types of indices, values and depth that the CPU provider has."""
    numbers = np.random.default_rng(1)
    for index, value, depth in (("int64", "int64", "int64"), ("float32", "int64", "int64"),
                                ("int64", "float32", "int64"), ("int64", "int32", "float32"),
                                ("int64", "float32", "float32"), ("int32", "float32", "float32"),
                                ("float32", "float32", "float32"), ("int64", "float32", "int32"),
                                ("int32", "float32", "int32")):
        for opset, axis, shape in ((9, -1, (5, 3)), (11, 0, (7,)), (13, 1, (2, 3, 4))):
            at = numbers.integers(-9, 9, shape).astype(index)
            if index == "float32" and at.size > 2:
                at.flat[:3] = 2.5, np.nan, 1e30
            yield Call("OneHot", opset, {"indices": at, "depth": np.array(6, depth),
                                         "values": np.array([3, 8], value)}, ("depth", "values"), axis=axis)


def hardmax():
    numbers = np.random.default_rng(2)
    for opset, axis in ((9, 1), (11, 2), (13, -1), (13, 0)):
        yield Call("Hardmax", opset, {"x": numbers.integers(-3, 3, (3, 5, 7)).astype(np.float32)}, axis=axis)


def eye_like():
    for kind in (np.float32, np.float64, np.int32, np.int64):
        yield Call("EyeLike", 9, {"x": np.ones((5, 7), kind)}, k=-1)
        if kind != np.float64:  # which the attribute cannot name on Leat
            yield Call("EyeLike", 13, {"x": np.ones((9, 4), np.float32)}, k=1,
                       dtype=helper.np_dtype_to_tensor_dtype(np.dtype(kind)))


def scatter():
    numbers = np.random.default_rng(3)
    for kind in (np.float32, np.int64, np.bool_):
        yield Call("Scatter", 9, {"data": numbers.integers(0, 2, (4, 6)).astype(kind),
                                  "indices": np.array([[0, 5, 2], [1, 3, 4]], np.int64),
                                  "updates": numbers.integers(0, 2, (2, 3)).astype(kind)}, axis=1)


CALLS = [*one_hot(), *hardmax(), *eye_like(), *scatter()]


def main():
    on = on_leat.devices_of_command_line(__doc__)
    wrong = 0
    for call in CALLS:
        for constants in {(), call.constants}:
            model = call.model(constants)
            feeds = {name: value for name, value in call.inputs.items() if name not in constants}
            expected = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, feeds)[0]
            found = on_leat.session(model, on).run(None, feeds)[0]
            if found.dtype != expected.dtype or found.shape != expected.shape or found.tobytes() != expected.tobytes():
                print(f"{call.title}, constants {constants}: {found} instead of {expected}")
                wrong += 1
    print(f"{len(CALLS)} calls, {wrong} wrong results")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
