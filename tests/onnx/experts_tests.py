#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares mixtures of experts, MoE and QMoE, with ONNX Runtime's CPU provider.

usage: experts_tests.py LIBRARY

LIBRARY is libleat_onnxruntime.so. One session has a token, several and many, whose weights are read for several at
once. What Leat computes must be within 1e-5 of the largest number of the CPU provider's, which adds up in another
order, and is told not to round what it multiplies with blocks of 8 bits. QMoE has router weights of its own or
normalises them: without both the two providers differ (docs/limits.md). Exit status: 0, or 1 if an answer is wrong,
77 if there is no device.
"""
import itertools
import os
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import on_leat

HIDDEN, INNER, EXPERTS, TAKEN = 32, 48, 6, 2
TOKENS = (1, 3, 40)
WITHIN = 1e-5
MICROSOFT = "com.microsoft"


def quantized(numbers, rows, width, bits, block, zeros):
    """Codes of weights, their scales, and zero points or None, as QMoE packs them."""
    count = width // block if block else 1
    codes = numbers.integers(0, 1 << bits, (EXPERTS, rows, width), dtype=np.uint8)
    points = numbers.integers(0, 1 << bits, (EXPERTS, rows, count), dtype=np.uint8)
    scales = numbers.uniform(0.01, 0.03, (EXPERTS, rows, count)).astype(np.float32)
    if not block:
        scales, points = scales[..., 0], points[..., 0]
    if bits == 4:
        points = np.pad(points, [(0, 0)] * (points.ndim - 1) + [(0, points.shape[-1] % 2)])
        codes, points = (packed[..., 0::2] | packed[..., 1::2] << 4 for packed in (codes, points))
    return codes, scales, points if zeros else None


def model_of(numbers, operator, constants, **attributes):
    """A model whose inputs are x, the scores of experts and, where `constants` ends with one, weights of experts."""
    given = [("x", ("tokens", HIDDEN)), ("scores", ("tokens", EXPERTS))]
    given += [("given", ("tokens", EXPERTS))] if isinstance(constants[-1], str) else []
    names = [value if isinstance(value, str) else f"constant{i}" if value is not None else ""
             for i, value in enumerate(constants)]
    stored = [numpy_helper.from_array(value, name) for value, name in zip(constants, names)
              if isinstance(value, np.ndarray)]
    while names[-1] == "":
        names.pop()
    node = helper.make_node(operator, ["x", "scores", *names], ["y"], domain=MICROSOFT, k=TAKEN, **attributes)
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in given]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ("tokens", HIDDEN))
    sets = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
    graph = helper.make_graph([node], "experts", inputs, [y], stored)
    return helper.make_model(graph, opset_imports=sets, ir_version=10).SerializeToString()


def cases(numbers):
    """Title and model of each."""
    def floats(*shape):
        return numbers.uniform(-0.5, 0.5, shape).astype(np.float32)

    swiglu = {"activation_type": "swiglu", "swiglu_fusion": 1, "activation_alpha": 1.702, "activation_beta": 1.0,
              "swiglu_limit": 0.5}
    for kind, normalized in itertools.product(("relu", "gelu", "silu", "identity", "swiglu"), (0, 1)):
        rows = INNER * (2 if kind == "swiglu" else 1)
        constants = [floats(EXPERTS, rows, HIDDEN), floats(EXPERTS, rows), floats(EXPERTS, HIDDEN, INNER),
                     floats(EXPERTS, HIDDEN)]
        attributes = swiglu if kind == "swiglu" else {"activation_type": kind}
        yield (f"MoE, {kind}, normalized {normalized}",
               model_of(numbers, "MoE", constants, normalize_routing_weights=normalized, **attributes))
    for bits, block, zeros, own in itertools.product((4, 8), (0, 16), (False, True), (False, True)):
        first = quantized(numbers, 2 * INNER, HIDDEN, bits, block, zeros)
        second = quantized(numbers, HIDDEN, INNER, bits, block, zeros)
        constants = [first[0], first[1], floats(EXPERTS, 2 * INNER), second[0], second[1], floats(EXPERTS, HIDDEN),
                     None, None, None, first[2], second[2], None, "given" if own else None]
        sizes = {"block_size": block} if block else {}
        yield (f"QMoE, {bits} bits, blocks of {block}, zero points {zeros}, weights of its own {own}",
               model_of(numbers, "QMoE", constants, normalize_routing_weights=int(not own), expert_weight_bits=bits,
                        **sizes, **swiglu))


def main():
    os.environ["ORT_QMOE_CPU_QNBIT_GEMM"] = "fp32"
    devices = on_leat.devices_of_command_line(__doc__)
    numbers = np.random.default_rng(1)
    count = wrong = 0
    for title, model in cases(numbers):
        mine = on_leat.session(model, devices)
        theirs = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
        for tokens in TOKENS:
            feeds = {"x": numbers.standard_normal((tokens, HIDDEN)).astype(np.float32),
                     "scores": numbers.standard_normal((tokens, EXPERTS)).astype(np.float32)}
            if len(mine.get_inputs()) > 2:
                feeds["given"] = numbers.uniform(0.1, 1, (tokens, EXPERTS)).astype(np.float32)
            expected = theirs.run(None, feeds)[0]
            off = float(np.max(np.abs(mine.run(None, feeds)[0] - expected)) / np.max(np.abs(expected)))
            count += 1
            if not off <= WITHIN:
                wrong += 1
                print(f"{title}, {tokens} tokens: differs by {off:.1e} of the largest, {WITHIN:.0e} allowed")
    print(f"{count - wrong} of {count} answers agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
