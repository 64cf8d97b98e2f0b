#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares ONNX Runtime's fused operators (domain com.microsoft) on Leat with its CPU provider.

usage: fused_tests.py LIBRARY

The models are what the runtime's own schemas accept; none may leave a node to the CPU provider. Exit status: 0, or 1 if
an answer is wrong, 77 if there is no device.
"""
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

import on_leat

# A sum has up to 29 terms (27 products, bias and residual) of numbers from -1 to 1, so each provider is off by up to
# 31 * 2^-24 * 29 = 5.4e-5 (conformance/ops/core/bound.h), which Selu's slope of 1.5 * 1.25 makes 1e-4, and the
# activation itself by less than 4e-6.
# In attention a score is off by less than 4e-6 (a sum of 16 products of numbers from -1 to 1), and so are the weights,
# which add up to 1; a sum of 40 products with them is off by 42 * 2^-24.
TOLERANCE = 2.2e-4
# Of bytes a step: close to the middle of two the CPU provider may round the other way, because it multiplies by
# quotients of scales and adds zero points first.
STEP = 1

CONV = {"x": [1, 3, 8, 8], "w": [4, 3, 3, 3], "b": [4]}
GEMM = {"a": [5, 7], "b": [9, 7], "c": [9]}
HEADS = {"q": [2, 9, 48], "k": [2, 40, 48], "v": [2, 40, 30]}
SQUARE = {"q": [2, 40, 48], "k": [2, 40, 48], "v": [2, 40, 48]}
APART = {"x": [2, 3, 5, 16], "positions": [2, 5], "cosines": [9, 8], "sines": [9, 8]}
TOGETHER = APART | {"x": [2, 5, 48]}
# Of bytes, with scales and zero points of theirs and of results, whose scales are about as large as those of operands.
CODED = {"x": [3, 5, 6], "x_scale": [1], "x_zero": [1], "y_scale": [1], "y_zero": [1]}
PAIR = {"x": [3, 6, 5], "x_scale": [], "x_zero": [], "b": [3, 6, 5], "b_scale": [], "b_zero": [], "y_scale": [],
        "y_zero": []}
IMAGES = CODED | {"x": [2, 3, 7, 9], "x_scale": [], "x_zero": [], "y_scale": [], "y_zero": []}
LAYER = {"x": [5, 7], "x_scale": [], "x_zero": [], "b": [9, 7], "b_scale": [], "b_zero": [], "bias": [9], "y_scale": [],
         "y_zero": []}
PARTS = {"y_scale": [], "y_zero": [], "x": [3, 2, 4], "x_scale": [], "x_zero": [], "b": [3, 5, 4], "b_scale": [],
         "b_zero": []}
# Of embeddings: numbers of lines, and a mask.
INDICES = {"ids": 7, "segments": 2, "mask": 2}
EMBED = {"ids": [2, 5], "segments": [2, 5], "words": [7, 8], "places": [6, 8], "kinds": [2, 8], "scale": [8],
         "shift": [8], "mask": [2, 5]}
DISTILLED = {"ids": [2, 5], "": None, "words": [7, 8], "places": [6, 8], " ": None, "scale": [8], "shift": [8]}
# Of results; that of others is the shape of "x".
RANKS = {"EmbedLayerNormalization": 3, "FusedConv": 4, "FusedGemm": 2, "MultiHeadAttention": 3, "QGemm": 2,
         "QLinearAveragePool": 4, "QLinearConcat": 3, "QLinearGlobalAveragePool": 4}
# Operator, shapes of the inputs (those without one are absent), attributes.
CASES = [
    ("BiasGelu", {"x": [3, 5, 8], "b": [8]}, {}),
    ("FastGelu", {"x": [3, 5, 8], "b": [8]}, {}),
    ("FastGelu", {"x": [3, 5, 8]}, {}),
    ("EmbedLayerNormalization", EMBED, {}),
    ("EmbedLayerNormalization", DISTILLED, {"epsilon": 1e-5}),
    ("FusedConv", {**CONV, "z": [1, 4, 8, 8]}, {"activation": "Relu", "pads": [1, 1, 1, 1]}),
    ("FusedConv", CONV, {"activation": "Clip", "activation_params": [-1.0, 1.0]}),
    ("FusedConv", CONV, {"activation": "LeakyRelu", "activation_params": [0.2]}),
    ("FusedConv", CONV, {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]}),
    ("FusedConv", CONV, {"activation": "Tanh", "strides": [2, 2]}),
    ("FusedConv", CONV, {"activation": "Sigmoid"}),
    ("FusedGemm", GEMM, {"activation": "Relu", "transB": 1, "alpha": 0.5, "beta": -2.0}),
    ("FusedGemm", GEMM, {"activation": "LeakyRelu", "activation_alpha": 0.3, "transB": 1}),
    ("FusedGemm", GEMM, {"activation": "Elu", "activation_alpha": 1.5, "transB": 1}),
    ("FusedGemm", GEMM, {"activation": "HardSigmoid", "activation_alpha": 0.3, "activation_beta": 0.4, "transB": 1}),
    ("FusedGemm", GEMM, {"activation": "Selu", "activation_alpha": 1.5, "activation_gamma": 1.25, "transB": 1}),
    ("FusedGemm", GEMM, {"activation": "Softplus", "transB": 1}),
    ("FusedGemm", GEMM, {"activation": "Softsign", "transB": 1}),
    ("FusedGemm", GEMM, {"activation": "Tanh", "transB": 1}),
    ("FusedGemm", GEMM, {"activation": "Sigmoid", "transB": 1}),
    ("MultiHeadAttention", HEADS, {"num_heads": 3}),
    ("MultiHeadAttention", HEADS, {"num_heads": 3, "scale": 0.3}),
    ("MultiHeadAttention", HEADS | {"": None, " ": None, "bias": [2, 3, 9, 40]}, {"num_heads": 3}),
    ("MultiHeadAttention", HEADS | {"": None, " ": None, "bias": [1, 1, 9, 40]}, {"num_heads": 3}),
    ("MultiHeadAttention", SQUARE, {"num_heads": 3, "unidirectional": 1}),
    ("QGemm", LAYER, {"transB": 1}),
    ("QLinearAdd", PAIR, {}),
    ("QLinearMul", PAIR | {"b": [6, 1]}, {}),
    ("QLinearLeakyRelu", CODED, {"alpha": 0.2}),
    ("QLinearSigmoid", CODED, {}),
    ("QLinearConcat", PARTS, {"axis": 1}),
    ("QLinearAveragePool", IMAGES, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("QLinearAveragePool", IMAGES, {"channels_last": 1, "kernel_shape": [2, 3], "pads": [1, 1, 0, 1]}),
    ("QLinearGlobalAveragePool", IMAGES, {}),
    ("QLinearGlobalAveragePool", IMAGES, {"channels_last": 1}),
    ("QLinearSoftmax", IMAGES, {"opset": 13}),
    ("RotaryEmbedding", APART, {}),
    ("RotaryEmbedding", APART | {"positions": [1]}, {"interleaved": 1}),
    ("RotaryEmbedding", TOGETHER, {}),
    ("RotaryEmbedding", TOGETHER, {"scale": 0.5, "is_packed_batching": 1}),
    ("RotaryEmbedding", TOGETHER | {"cosines": [9, 6], "sines": [9, 6]}, {"num_heads": 3, "rotary_embedding_dim": 12}),
]


def is_byte(operator, name):
    return operator.startswith("Q") and name != "bias" and not name.endswith("_scale")


def type_of(operator, name):
    if is_byte(operator, name):
        return TensorProto.UINT8
    if operator == "QGemm" and name == "bias":
        return TensorProto.INT32
    if name in INDICES:
        return TensorProto.INT32
    return TensorProto.INT64 if name == "positions" else TensorProto.FLOAT


def numbers(rng, operator, name, shape):
    if is_byte(operator, name):
        return rng.integers(0, 256, shape).astype(np.uint8)
    if operator == "QGemm" and name == "bias":
        return rng.integers(-9000, 9000, shape).astype(np.int32)
    if name.endswith("_scale"):
        return rng.uniform(0.01, 0.02, shape).astype(np.float32)
    if name in INDICES:
        return rng.integers(0, INDICES[name], shape).astype(np.int32)
    return rng.integers(0, 5, shape) if name == "positions" else rng.uniform(-1, 1, shape).astype(np.float32)


def make_model(operator, shapes, attributes):
    names = [name.strip() for name in shapes]
    results = ["y", "counts"] if operator == "EmbedLayerNormalization" else ["y"]
    node = helper.make_node(operator, names, results, domain="com.microsoft", **attributes)
    inputs = [helper.make_tensor_value_info(name, type_of(operator, name), shape)
              for name, shape in shapes.items() if shape is not None]
    shape = [None] * RANKS[operator] if operator in RANKS else shapes["x"]
    result = helper.make_tensor_value_info("y", type_of(operator, "y"), shape)
    counts = [helper.make_tensor_value_info(name, TensorProto.INT32, [None]) for name in results[1:]]
    graph = helper.make_graph([node], "fused", inputs, [result, *counts])
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=9).SerializeToString()


def main():
    devices = on_leat.devices_of_command_line(__doc__.splitlines()[2])
    rng = np.random.default_rng(1)
    wrong = 0
    for operator, shapes, attributes in CASES:
        model = make_model(operator, shapes, attributes)
        feeds = {name: np.asarray(numbers(rng, operator, name, shape))
                 for name, shape in shapes.items() if shape is not None}
        got = on_leat.session(model, devices).run(None, feeds)
        wanted = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, feeds)
        off = max(float(np.abs(have.astype(np.float64) - want).max()) for have, want in zip(got, wanted))
        allowed = STEP if is_byte(operator, "y") else TOLERANCE
        if not off <= allowed:
            wrong += 1
            print(f"{operator} {attributes}: off by {off:.3g}, more than {allowed}")
    print(f"{len(CASES)} models, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
