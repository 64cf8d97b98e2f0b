#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs NonZero through ONNX Runtime with Leat and compares with its CPU provider.

usage: nonzero.py LIBRARY

LIBRARY is libleat_onnxruntime.so. Positions as TorchScript exports them, of what follows from a shape: all nodes must
run on Leat, as one graph. Of what the device computes, and of what is fed, whose places only a Run knows. Exit status:
0, or 1 if a result is wrong, 77 if there is no device.
"""
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import on_leat

OPSET, IR_VERSION = 10, 6
ROWS = (3, 7, 7, 1, 33, 3)


def model_of(nodes, kind, shape):
    constants = {"table": np.random.default_rng(1).standard_normal((40, 8)).astype(np.float32),
                 "half": np.array(0.5, np.float32)}
    graph = helper.make_graph([helper.make_node(*node[:3], **node[3]) for node in nodes], "nonzero",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", kind, None)],
                              [numpy_helper.from_array(value, name) for name, value in constants.items()])
    domains = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=domains, ir_version=IR_VERSION).SerializeToString()


def positions():
    """Rows of a table for the positions of x, to which x is added."""
    one = helper.make_tensor("one", TensorProto.INT64, [1], [1])
    ends = {name: helper.make_tensor(name, TensorProto.INT64, [1], [value]) for name, value in (("from", 0), ("to", 1))}
    return model_of([("Shape", ["x"], ["sizes"], {}),
                     ("Constant", [], ["from"], {"value": ends["from"]}),
                     ("Constant", [], ["to"], {"value": ends["to"]}),
                     ("Slice", ["sizes", "from", "to"], ["size"], {}),
                     ("ConstantOfShape", ["size"], ["ones"], {"value": one}),
                     ("NonZero", ["ones"], ["places"], {}),
                     ("Transpose", ["places"], ["turned"], {"perm": [1, 0]}),
                     ("Squeeze", ["turned"], ["row"], {"axes": [1]}),
                     ("Gather", ["table", "row"], ["rows"], {}),
                     ("Add", ["rows", "x"], ["y"], {})], TensorProto.FLOAT, ["n", 8])


def main():
    on = on_leat.devices_of_command_line(__doc__)
    models = {
        "positions": (positions(), True),
        "of the device": (model_of([("Mul", ["x", "x"], ["square"], {}), ("Greater", ["square", "half"], ["set"], {}),
                                    ("NonZero", ["set"], ["y"], {})], TensorProto.INT64, ["n", 8]), False),
        "fed": (model_of([("NonZero", ["x"], ["y"], {})], TensorProto.INT64, ["n", 8]), False),
        "used": (model_of([("NonZero", ["x"], ["places"], {}), ("Cast", ["places"], ["real"], {"to": 1}),
                           ("Mul", ["real", "half"], ["y"], {})], TensorProto.FLOAT, ["n", 8]), False),
    }
    random, wrong = np.random.default_rng(2), 0
    for name, (model, whole) in models.items():
        options = ort.SessionOptions()
        options.add_provider_for_devices(on, {})
        leat = on_leat.session(model, on) if whole else ort.InferenceSession(model, options)
        cpu = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
        for rows in ROWS:
            x = (random.standard_normal((rows, 8)) * random.integers(0, 2, (rows, 8))).astype(np.float32)
            found, expected = leat.run(None, {"x": x})[0], cpu.run(None, {"x": x})[0]
            if found.dtype != expected.dtype or not np.array_equal(found, expected):
                print(f"{name}: {rows} rows: {found} instead of {expected}")
                wrong += 1
    print(f"{len(models)} models, {wrong} wrong results")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
