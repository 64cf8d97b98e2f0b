#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs models that declare other shapes of values than their Runs have, which ONNX Runtime lets pass.

usage: declared_shapes.py LIBRARY [--oldest]

LIBRARY is libleat_onnxruntime.so. Fused subgraphs and single nodes must give the CPU provider's values. Exporters write
such models: the state of a Loop grows and its body has the shape of the first round, and what depends on data has the
size that it had while the model was traced. With --oldest, ONNX Runtime is the one in the folder of packages that
LEAT_TEST_OLDEST names. Exit status: 0, or 1 if a model is wrong, 77 if there is no device or no such folder.
"""
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import on_leat
from subgraphs import IR_VERSION, OPSET, is_near, session

WIDTH = 4
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
value = helper.make_tensor_value_info
node = helper.make_node


def model(nodes, inputs, outputs, constants, declared=()):
    graph = helper.make_graph(nodes, "declared", inputs, outputs,
                              [numpy_helper.from_array(each, name) for name, each in constants.items()],
                              value_info=declared)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", 1)],
        ir_version=IR_VERSION)


def growing_state():
    """A Loop whose body takes [b, 1] and gives [b, 2], which is right for its first round."""
    body = helper.make_graph([
        node("Identity", ["going"], ["on"]),
        node("Tanh", ["last"], ["bent"]),
        node("Exp", ["bent"], ["next"]),
        node("MatMul", ["next", "weight"], ["product"]),
        node("Concat", ["all", "product"], ["more"], axis=1),
    ], "body", [value("round", INT64, []), value("going", BOOL, []), value("last", FLOAT, ["b", 1]),
                value("all", FLOAT, ["b", 1])],
        [value("on", BOOL, []), value("next", FLOAT, ["b", 1]), value("more", FLOAT, ["b", 2])])
    return model([node("Loop", ["rounds", "begin", "x", "x"], ["end", "o"], body=body)],
                 [value("x", FLOAT, ["b", 1]), value("rounds", INT64, [])], [value("o", FLOAT, None)],
                 {"begin": np.array(True), "weight": np.full((1, 1), 0.5, np.float32)})


def from_others():
    """The size of what another provider makes, as it was while the model was traced, of what a fused subgraph takes."""
    return model([
        node("Compress", ["x", "keep"], ["kept"], axis=0),
        node("Scaler", ["kept"], ["some"], domain="ai.onnx.ml", offset=[0.0], scale=[1.0]),
        node("MatMul", ["some", "weight"], ["product"]),
        node("Sigmoid", ["product"], ["o"]),
    ], [value("x", FLOAT, ["b", WIDTH]), value("keep", BOOL, ["b"])], [value("o", FLOAT, ["k", WIDTH])],
        {"weight": np.eye(WIDTH, dtype=np.float32)}, [value("some", FLOAT, [3, WIDTH])])


def inside():
    """A size of what nodes of a fused subgraph leave to other nodes of it, and of an output."""
    return model([
        node("Relu", ["x"], ["y"]),
        node("Concat", ["y", "x"], ["both"], axis=1),
        node("Exp", ["both"], ["o"]),
    ], [value("x", FLOAT, ["b", "w"])], [value("o", FLOAT, ["b", 6])], {}, [value("both", FLOAT, ["b", 6])])


def rows_of(count):
    return np.linspace(-1, 1, count * WIDTH, dtype=np.float32).reshape(count, WIDTH)


# What the models are given: first what they declare.
CASES = (
    (growing_state, [{"x": rows_of(2)[:, :1], "rounds": np.array(rounds)} for rounds in (1, 4, 2)]),
    (from_others, [{"x": rows_of(6), "keep": np.arange(6) < kept} for kept in (3, 5, 0, 1)]),
    (inside, [{"x": rows_of(3)[:, :3]}, {"x": rows_of(2)}]),
)


def complaint(made, puts, devices):
    """What is wrong with a model, or None."""
    cpu = session(made, None, None)
    for option in ("force_graph_path", "force_direct_path"):
        leat = session(made, devices, option)
        for number, put in enumerate(puts):
            try:
                got = leat.run(None, put)
            except Exception as error:  # whatever ONNX Runtime raises
                return f"{option}, run {number}: {error}"
            if not all(map(is_near, got, cpu.run(None, put))):
                return f"{option}, run {number}: other values than the CPU provider's"
    return None


def main():
    on_leat.choose_runtime()
    ort.set_default_logger_severity(4)  # it warns of outputs
    devices = on_leat.devices(sys.argv[1])
    wrong = 0
    for make, puts in CASES:
        why = complaint(make().SerializeToString(), puts, devices)
        if why:
            wrong += 1
            print(f"{make.__name__}: {why}")
    print(f"{len(CASES)} models, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
