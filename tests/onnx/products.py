#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs random products of one input, which a graph computes in one dispatch, as a graph and node by node.

usage: products.py LIBRARY [--models N] [--seed S]

LIBRARY is libleat_onnxruntime.so. Both ways must give the same bits, also where k is shared out over workgroups, which
each product decides for itself; in float16, where what a graph adds to a product is not rounded before, products alone.
Exit status: 0, or 1 if a model is wrong, 77 if there is no device.
"""
import argparse
import itertools
import random
import sys

import numpy as np
import onnxruntime as ort
from onnx import helper, numpy_helper

import on_leat

OPSET, IR_VERSION = 17, 8
ELEMENTS = 1 << 19  # of an operand at most
# Rows, k and columns of three products. Of the first, k would be cut otherwise if they were one product; of the second,
# the last one's k is cut otherwise.
SHAPES = [(64, 384, (384, 384, 384)), (9, 640, (800, 800, 1300)), (1, 1100, (320, 320, 320)), (33, 1541, (72, 72, 40))]


def model_of(seed, type_):
    """A model as bytes, and what is given to it."""
    draw, numbers = random.Random(seed), np.random.default_rng(seed)
    if seed < len(SHAPES):
        rows, k, columns = SHAPES[seed]
    else:
        rows = draw.choice((1, 7, 8, 9, 33, 100, 197))
        k = min(draw.choice((draw.randint(1, 64), 4 * draw.randint(1, 100), draw.randint(300, 2600))), ELEMENTS // rows)
        widest = ELEMENTS // k
        usual = min(draw.choice((draw.randint(1, 64), 4 * draw.randint(1, 100), 384, 1100)), widest)
        columns = [usual if draw.random() < 0.8 else draw.randint(1, min(200, widest))
                   for _ in range(draw.randint(2, 5))]
    nodes, constants = [], []
    x = numbers.standard_normal((*draw.choice(((), (1,), (2,))), rows, k)).astype(type_)
    for i, count in enumerate(columns):
        constants.append(numpy_helper.from_array(numbers.standard_normal((k, count)).astype(type_), f"matrix{i}"))
        if type_ == np.float16:
            nodes.append(helper.make_node("MatMul", ["x", f"matrix{i}"], [f"y{i}"]))
            continue
        constants.append(numpy_helper.from_array(numbers.standard_normal(count).astype(np.float32), f"row{i}"))
        nodes.append(helper.make_node("MatMul", ["x", f"matrix{i}"], [f"product{i}"]))
        nodes.append(helper.make_node("Add", [f"product{i}", f"row{i}"], [f"sum{i}"]))
        # A function behind a product is a kernel of its own for the driver to compile, so that few models have some.
        bounded = draw.random() < 0.4 and (seed < len(SHAPES) or seed % 4 == 0)
        nodes.append(helper.make_node("Tanh" if bounded else "Identity", [f"sum{i}"], [f"y{i}"]))
    code = helper.np_dtype_to_tensor_dtype(x.dtype)
    outputs = [helper.make_tensor_value_info(f"y{i}", code, None) for i in range(len(columns))]
    inputs = [helper.make_tensor_value_info("x", code, x.shape)]
    graph = helper.make_graph(nodes, "products", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    return model.SerializeToString(), x


def answers(model, devices, option, x):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_provider_for_devices(devices, {option: "1"})
    return ort.InferenceSession(model, options).run(None, {"x": x})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--models", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    ort.set_default_logger_severity(3)
    devices = on_leat.devices(wanted.library)
    wrong = 0
    for seed, type_ in itertools.product(range(wanted.seed, wanted.seed + wanted.models), (np.float32, np.float16)):
        if type_ == np.float16 and seed >= len(SHAPES) and seed % 4 != 0:
            continue
        model, x = model_of(seed, type_)
        graph = answers(model, devices, "force_graph_path", x)
        nodes = answers(model, devices, "force_direct_path", x)
        for i, (one, other) in enumerate(zip(graph, nodes)):
            if one.tobytes() != other.tobytes():
                wrong += 1
                off = np.abs(one.astype(np.float32) - other).max()
                print(f"model {seed} of {x.dtype}, product {i} of x{list(x.shape)}, {one.shape[-1]} columns: "
                      f"off by up to {off:.3g}")
    print(f"{wanted.models} models, {wrong} products wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
