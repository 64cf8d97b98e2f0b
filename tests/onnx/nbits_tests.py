#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares products with weights of few bits on Leat with ONNX Runtime's CPU provider: MatMulNBits (com.microsoft) of
2, 4 and 8 bits, and MatMul of what DequantizeLinear gives.

usage: nbits_tests.py LIBRARY

No model may leave its node to the CPU provider. Exit status: 0, or 1 if an answer is wrong, 77 if there is no device.
"""
import itertools
import sys

import numpy as np
import onnxruntime as ort
from onnx import helper, numpy_helper

import on_leat

COLUMNS = 37
# Shapes of the first input: one row, a few, and as many as go to tiles; k is no multiple of most sizes of blocks.
SHAPES = [(1, 1304), (2, 3, 72), (40, 72)]
ZEROS = ("none", "packed", "flat", "float")


def pack(numbers, bits):
    """Rows of numbers of so many bits in bytes, the first in the lowest bits."""
    return sum(numbers[:, i::8 // bits] << i * bits for i in range(8 // bits))


def make_case(rng, dtype, shape, bits, block, zeros, indexed=False):
    """A model as bytes, its input, and the weights that it stands for; if `indexed` each k says the block of its
    scale."""
    k = shape[-1]
    blocks = -(-k // block)
    numbers = rng.integers(0, 1 << bits, (COLUMNS, blocks * block))
    scales = rng.uniform(0.01, 0.1, (COLUMNS, blocks)).astype(dtype)
    points = np.full((COLUMNS, blocks), 1 << (bits - 1), np.float64)
    packed = pack(numbers, bits)
    inputs = {"b": packed.astype(np.uint8).reshape(COLUMNS, blocks, -1), "scales": scales}
    if zeros == "float":
        points = rng.uniform(0, (1 << bits) - 1, (COLUMNS, blocks)).astype(dtype)
        inputs["zeros"] = points
    elif zeros != "none":
        points = rng.integers(0, 1 << bits, (COLUMNS, blocks))
        inputs["zeros"] = pack(np.pad(points, ((0, 0), (0, -blocks % (8 // bits)))), bits).astype(np.uint8)
    if zeros == "flat":
        inputs |= {name: inputs[name].reshape(-1) for name in ("scales", "zeros")}
    names = ["a", "b", "scales", "zeros" if "zeros" in inputs else ""]
    each = np.arange(k) // block
    if indexed:
        each = rng.integers(0, blocks, k)
        inputs["g_idx"] = each.astype(np.int32)
    names.append("g_idx" if indexed else "")
    if zeros != "none":
        inputs["bias"] = rng.uniform(-1, 1, COLUMNS).astype(dtype)
        names.append("bias")
    node = helper.make_node("MatMulNBits", names, ["y"], domain="com.microsoft", K=k, N=COLUMNS, bits=bits,
                            block_size=block)
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph([node], "nbits", [helper.make_tensor_value_info("a", number, shape)],
                              [helper.make_tensor_value_info("y", number, [None] * len(shape))],
                              [numpy_helper.from_array(value, name) for name, value in inputs.items()])
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=9).SerializeToString()
    each = each[None, :]
    weights = (numbers[:, :k] - np.take_along_axis(points, each, 1).astype(np.float64)) * np.take_along_axis(
        scales, each, 1).astype(np.float64)
    return model, rng.uniform(-1, 1, shape).astype(dtype), weights


def make_dequantized(rng, dtype, shape, block):
    """The same of MatMul with weights of int8, which have scales by column or, with a block, in blocks along k."""
    k = shape[-1]
    numbers = rng.integers(-128, 128, (k, COLUMNS)).astype(np.int8)
    scale_shape = (-(-k // block), COLUMNS) if block else (COLUMNS,)
    inputs = {"b": numbers, "scales": rng.uniform(0.01, 0.1, scale_shape).astype(dtype),
              "zeros": rng.integers(-9, 9, scale_shape).astype(np.int8)}
    attributes = {"axis": 0, "block_size": block} if block else {"axis": 1}
    nodes = [helper.make_node("DequantizeLinear", ["b", "scales", "zeros"], ["weights"], **attributes),
             helper.make_node("MatMul", ["a", "weights"], ["y"])]
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(nodes, "dequantized", [helper.make_tensor_value_info("a", number, shape)],
                              [helper.make_tensor_value_info("y", number, [None] * len(shape))],
                              [numpy_helper.from_array(value, name) for name, value in inputs.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()
    each = np.arange(k) // block if block else np.zeros(k, int)
    scales, zeros = (inputs[name].reshape(-1, COLUMNS)[each].astype(np.float64) for name in ("scales", "zeros"))
    return model, rng.uniform(-1, 1, shape).astype(dtype), ((numbers - zeros) * scales).T


def tolerance(a, weights, wanted):
    """How far two right answers may be apart: each is off by a sum of k products and a bias in float32, whose terms are
    rounded three times more at most, and with float16 by weights and the result, which are rounded to it
    (conformance/ops/core/bound.h)."""
    unit = 2.0 ** -24 * (a.shape[-1] + 6) + (2.0 ** -11 if a.dtype == np.float16 else 0)
    rounded = 2.0 ** -11 * np.abs(wanted.astype(np.float64)) if a.dtype == np.float16 else 0
    return 2 * (unit * (np.abs(a.astype(np.float64)) @ np.abs(weights).T + 1) + rounded)


def main():
    devices = on_leat.devices_of_command_line(__doc__.splitlines()[2])
    rng = np.random.default_rng(1)
    cases = []
    # How weights lie is the same whatever the rows, which the conformance suite has in every combination.
    shapes = itertools.cycle(SHAPES)
    for dtype, bits, zeros in itertools.product((np.float32, np.float16), (4, 8), ZEROS):
        if bits == 8 and zeros == "float":
            continue  # the CPU provider has none of these
        shape, block = next(shapes), 16 << len(cases) % 4
        what = f"{np.dtype(dtype)} {list(shape)}, {bits} bits in blocks of {block}, zero points {zeros}"
        cases.append((what, make_case(rng, dtype, shape, bits, block, zeros)))
    for zeros in ("none", "packed"):
        shape = next(shapes)
        what = f"float32 {list(shape)}, 2 bits in blocks of 32, zero points {zeros}"
        cases.append((what, make_case(rng, np.float32, shape, 2, 32, zeros)))
    # The CPU provider has none of 8 bits, and takes 8 for packed zero points.
    for dtype, zeros in itertools.product((np.float32, np.float16), ("none", "float")):
        shape = next(shapes)
        what = f"{np.dtype(dtype)} {list(shape)}, 4 bits with g_idx, zero points {zeros}"
        cases.append((what, make_case(rng, dtype, shape, 4, 16, zeros, indexed=True)))
    for dtype, block in itertools.product((np.float32, np.float16), (0, 24)):
        shape = next(shapes)
        what = f"{np.dtype(dtype)} {list(shape)}, int8 " + (f"in blocks of {block}" if block else "by column")
        cases.append((what, make_dequantized(rng, dtype, shape, block)))
    # Optimised, the CPU provider makes products of int8 of some of these.
    plain = ort.SessionOptions()
    plain.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    wrong = 0
    for what, (model, a, weights) in cases:
        got = on_leat.session(model, devices).run(None, {"a": a})[0]
        wanted = ort.InferenceSession(model, plain, providers=["CPUExecutionProvider"]).run(None, {"a": a})[0]
        off = np.abs(got.astype(np.float64) - wanted)
        if not (off <= tolerance(a, weights, wanted)).all():
            wrong += 1
            print(f"{what}: off by {off.max():.3g}")
    print(f"{len(cases)} models, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
