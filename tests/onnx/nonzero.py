#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs NonZero, Compress, Unique and MelWeightMatrix through ONNX Runtime with Leat and compares with its CPU provider.

usage: nonzero.py LIBRARY

LIBRARY is libleat_onnxruntime.so. Positions as TorchScript exports them, of what follows from a shape: all nodes must
run on Leat, as one graph. Of what the device computes, and of what is fed, whose places only a Run knows. Of scalars,
conditions of any shape and slices without elements. Of mel spectra, from constants and as fed. Exit status: 0, or 1 if
a result is wrong, 77 if there is no device.
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


def edges():
    """Nodes on inputs of shapes that are rare, and these inputs. Of slices without elements along axis 0 the CPU
    provider's Unique ends the process."""
    whole, yes, no = np.arange(6, dtype=np.float32).reshape(3, 2), np.array(True), np.array(False)
    some = np.array([[True, False], [False, True]])
    return [("NonZero", [np.array(2, np.float32)], 1, {}), ("NonZero", [np.array(0, np.float32)], 1, {}),
            *[("Compress", [whole, condition], 1, attributes) for condition in (yes, no, some)
              for attributes in ({}, {"axis": 0}, {"axis": -1})],
            ("Compress", [np.array(5, np.float32), yes], 1, {}),
            *[("Unique", [np.zeros(shape, np.float32)], 4, {"axis": axis, "sorted": in_order})
              for shape, axis in (((0, 3), 1), ((3, 0), 1), ((2, 0, 3), 1)) for in_order in (0, 1)]]


def wrong_mels(on):
    """How many mel spectra are wrong: of spectra below 1, by weights that add up to less than the bins."""
    wrong = 0
    for sizes, fed in ((sizes, fed) for sizes in ((8, 16, 8192, 0, 4096), (80, 400, 16000, 0, 8000),
                                                  (128, 1024, 16000, 55.5, 7999)) for fed in (False, True)):
        names, bins = ["mels", "length", "rate", "lower", "upper"], sizes[1] // 2 + 1
        kinds = dict(zip(names, 3 * [TensorProto.INT64] + 2 * [TensorProto.FLOAT]))
        numbers = {name: np.array(value, np.float32 if kinds[name] == TensorProto.FLOAT else np.int64)
                   for name, value in zip(names, sizes)}
        nodes = [helper.make_node("MelWeightMatrix", names, ["w"]), helper.make_node("MatMul", ["x", "w"], ["y"])]
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, bins])]
        inputs += [helper.make_tensor_value_info(name, kind, []) for name, kind in kinds.items() if fed]
        graph = helper.make_graph(nodes, "mel", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                                  [] if fed else [numpy_helper.from_array(*pair[::-1]) for pair in numbers.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                  ir_version=IR_VERSION + 2).SerializeToString()
        feeds = {"x": np.random.default_rng(3).uniform(0, 1, (3, bins)).astype(np.float32)} | (numbers if fed else {})
        found = on_leat.session(model, on).run(None, feeds)[0]
        expected = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, feeds)[0]
        off = float(np.abs(found - expected).max())
        # A sum of so many products, each with a rounded weight.
        if not off <= (bins + 2) * bins * 2.0 ** -24:
            print(f"mel spectra by {sizes}: off by {off:.3g}")
            wrong += 1
    return wrong


def wrong_edges(on):
    """How many of them are wrong."""
    wrong = 0
    for name, puts, outputs, attributes in edges():
        names = [f"i{k}" for k in range(len(puts))], [f"o{k}" for k in range(outputs)]
        kinds = [helper.np_dtype_to_tensor_dtype(each.dtype) for each in puts]
        results = [TensorProto.INT64 if k > 0 or name == "NonZero" else kinds[0] for k in range(outputs)]
        described = [[helper.make_tensor_value_info(each, kind, None) for each, kind in zip(*pair)]
                     for pair in ((names[0], kinds), (names[1], results))]
        graph = helper.make_graph([helper.make_node(name, *names, **attributes)], "edge", *described)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)],
                                  ir_version=IR_VERSION).SerializeToString()
        feeds = dict(zip(names[0], puts))
        found = on_leat.session(model, on).run(None, feeds)
        expected = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, feeds)
        if any(a.dtype != b.dtype or not np.array_equal(a, b) for a, b in zip(found, expected)):
            print(f"{name} {attributes} of {puts}: {found} instead of {expected}")
            wrong += 1
    return wrong


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
    wrong += wrong_edges(on) + wrong_mels(on)
    print(f"{len(models) + len(edges())} models, {wrong} wrong results")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
