#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares operators of com.microsoft on Leat with ONNX Runtime's CPU provider, with NumPy where that has no kernel.

usage: contributed.py LIBRARY

Operators that have a test of their own are not here. No model may leave its node to the CPU provider. Exit status: 0,
or 1 if an answer is wrong, 77 if there is no device.
"""
import sys

import numpy as np
import onnxruntime as ort
from onnx import helper, numpy_helper

import on_leat

F = np.float32
UNIT = 2.0 ** -24


class Case:
    """A node. `inputs` by name, None for one that is left out; those of `constants` are initializers. `wanted`: the
    outputs by NumPy, or None for what the CPU provider says. `tolerance` is for all outputs, with its reason where the
    case is made."""

    def __init__(self, op, inputs, outputs, tolerance, wanted=None, constants=(), **attributes):
        self.op, self.inputs, self.outputs, self.tolerance = op, inputs, outputs, tolerance
        self.wanted, self.constants, self.attributes = wanted, constants, attributes

    def model(self):
        given = {name: np.asarray(value) for name, value in self.inputs.items() if value is not None}
        names = [name if name in given else "" for name in self.inputs]
        results = [f"y{i}" for i in range(len(self.outputs))]
        node = helper.make_node(self.op, names, results, domain="com.microsoft", **self.attributes)
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            [node], "contributed",
            [value(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for name, x in given.items()
             if name not in self.constants],
            [value(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), None)
             for name, dtype in zip(results, self.outputs)],
            [numpy_helper.from_array(x, name) for name, x in given.items() if name in self.constants])
        domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        feeds = {name: x for name, x in given.items() if name not in self.constants}
        return helper.make_model(graph, opset_imports=domains, ir_version=9).SerializeToString(), feeds


def any_bytes(rng, dtype, *shape):
    least = np.iinfo(dtype).min
    return rng.integers(least, least + 256, shape).astype(dtype)


def q_attention(rng):
    """Projections are integers times scales, off by 4 roundings of numbers up to 255 * 255 * 16 * 0.012 * 0.02 = 250;
    scores are sums of 16 products of two of them times 1/4, so off by less than 1e-5 of their size, and so weights and
    results. The CPU provider takes int8 weights with zero points for all or none by column."""
    for dtype, by_column, heads, past in [(np.int8, True, 2, 0), (np.uint8, False, 4, 0), (np.int8, False, 2, 5)]:
        batch, length, size, hidden = 2, 7, 16, 32
        scale = (rng.uniform(0.0005, 0.001, 3 * hidden) if by_column else np.full((), 0.001)).astype(F)
        inputs = {"x": any_bytes(rng, np.uint8, batch, length, size), "w": any_bytes(rng, dtype, size, 3 * hidden),
                  "b": rng.uniform(-1, 1, 3 * hidden).astype(F), "x_scale": F(0.02), "w_scale": scale,
                  "mask": rng.integers(3, length, batch).astype(np.int32) if past == 0 else None,
                  "x_zero": np.uint8(130), "w_zero": np.zeros(scale.shape, dtype) + dtype(5 if not by_column else 0)}
        if past:
            inputs["past"] = rng.uniform(-1, 1, (2, batch, heads, past, hidden // heads)).astype(F)
        yield Case("QAttention", inputs, [F, F] if past else [F], 2e-4, num_heads=heads, unidirectional=int(past != 0),
                   constants=("w", "w_scale", "w_zero"))


def q_embed_layer_normalization(rng):
    """Rows of sums of three numbers up to 3, rounded 5 times; normalised they are about 1, times up to 2."""
    for dtype, segments in [(np.uint8, True), (np.uint8, False)]:
        columns = 40
        tables = {"words": 11, "places": 9, "kinds": 2, "gamma": None, "beta": None}
        given = {name: any_bytes(rng, dtype, *([lines, columns] if lines else [columns]))
                 for name, lines in tables.items()}
        inputs = {"ids": rng.integers(0, 11, (3, 7)).astype(np.int32),
                  "segments": rng.integers(0, 2, (3, 7)).astype(np.int32), **given,
                  "mask": rng.integers(0, 2, (3, 7)).astype(np.int32),
                  **{f"{name}_scale": F(0.01 + 0.002 * i) for i, name in enumerate(tables)},
                  **{f"{name}_zero": dtype(120 + i) for i, name in enumerate(tables)}}
        if not segments:
            inputs |= {name: None for name in ("segments", "kinds", "kinds_scale", "kinds_zero")}
        # The CPU provider counts a mask up to its first 0, as EmbedLayerNormalization counts ones: a prefix is both.
        inputs["mask"] = np.sort(inputs["mask"], axis=1)[:, ::-1].copy()
        yield Case("QEmbedLayerNormalization", inputs, [F, np.int32], 64 * UNIT * 16, epsilon=1e-5)


def matmul_bnb4(rng):
    """Products of k numbers from -1 to 1 and weights up to 0.1, each off by a sum of them in float32."""
    for kind, k, n, block, shape in [(0, 96, 37, 32, (2, 3)), (1, 64, 5, 16, (33,)), (1, 128, 9, 64, (1,))]:
        inputs = {"a": rng.uniform(-1, 1, (*shape, k)).astype(F), "b": any_bytes(rng, np.uint8, (n * k + 1) // 2),
                  "absmax": rng.uniform(0.01, 0.1, -(-n * k // block)).astype(F)}
        yield Case("MatMulBnb4", inputs, [F], 2 * (k + 6) * UNIT * 0.1 * k, constants=("b", "absmax"), K=k, N=n,
                   block_size=block, quant_type=kind)


def gather_block_quantized(rng):
    """A difference that is exact, and a product."""
    for bits, last, zeros in [(4, 64, True), (4, 48, False), (8, 40, True)]:
        blocks = -(-last // 16)
        inputs = {"data": any_bytes(rng, np.uint8, 11, last * bits // 8), "indices": rng.integers(-11, 11, (2, 3)),
                  "scales": rng.uniform(0.01, 0.1, (11, blocks)).astype(F),
                  "zeros": any_bytes(rng, np.uint8, 11, -(-blocks * bits // 8)) if zeros else None}
        yield Case("GatherBlockQuantized", inputs, [F], 255 * 0.1 * 2 * UNIT, constants=("data", "scales", "zeros"),
                   bits=bits, block_size=16, quantize_axis=1)


def gather_nd(rng):
    for dtype in (np.int32, np.int64):
        inputs = {"data": rng.uniform(-1, 1, (7, 3, 4)).astype(F), "indices": rng.integers(0, 3, (5, 2)).astype(dtype)}
        yield Case("GatherND", inputs, [F], 0)


def moved(rng):
    """Operators that move elements, or are a version of one of ONNX's."""
    x = rng.uniform(-1, 1, (3, 9, 5)).astype(F)
    for dim, size, step in [(1, 4, 2), (-1, 5, 1), (0, 1, 2)]:
        yield Case("UnfoldTensor", {"x": x}, [F], 0, dim=dim, size=size, step=step)
    for mode in ("constant", "reflect", "edge"):
        for pads in np.array([1, 0, 2, 0, 3, 1]), np.array([[1, 0, 2, 0, 3, 1]]):
            yield Case("Pad", {"x": x, "pads": pads, "value": F(2.5)}, [F], 0, constants=("pads", "value"), mode=mode)
    yield Case("Range", {"start": np.int64(3), "limit": np.int64(40), "delta": np.int64(7)}, [np.int64], 0,
               constants=("start", "limit", "delta"))


def elementwise(rng):
    """Products of numbers up to 1, and sums of two of them, each rounded once; the sigmoid is off by 8 ULP. The CPU
    provider has no BiasDropout."""
    x, y, residual = (rng.uniform(-1, 1, (3, 5, 8)).astype(F) for _ in range(3))
    gate, bias = rng.uniform(0, 1, (3, 5, 1)).astype(F), rng.uniform(-1, 1, 8).astype(F)
    yield Case("GatedAdd", {"x": x, "y": y, "gate": gate}, [F], 4 * UNIT)
    yield Case("ScaledSiLU", {"x": x}, [F], 32 * UNIT, alpha=1.5)
    mask = np.ones(x.shape, bool)
    yield Case("BiasDropout", {"x": x, "bias": bias, "residual": residual}, [F, bool], 8 * UNIT,
               wanted=[x + bias + residual, mask])
    yield Case("BiasDropout", {"x": x, "bias": y, "residual": None, "ratio": F(0.5), "training": np.bool_(False)},
               [F, bool], 4 * UNIT, wanted=[x + y, mask], constants=("ratio", "training"))


def relative_buckets(distance, buckets, most):
    """T5's, as transformers computes them, by float32."""
    exact = buckets // 2
    far = np.maximum(distance, 1).astype(F)
    more = np.log(far / F(exact)) / F(np.log(most / exact)) * F(buckets - exact)
    return np.where(distance < exact, distance, np.minimum(exact + more.astype(np.int64), buckets - 1))


def relative_position_bias(rng):
    """The CPU provider has no kernel."""
    for both, buckets, most, queries, keys in [(1, 32, 128, 150, 150), (0, 32, 128, 200, 170), (0, 6, 20, 30, 30)]:
        table = rng.uniform(-1, 1, (buckets, 3)).astype(F)
        away = np.arange(keys)[None, :] - np.arange(queries)[:, None]
        bucket = (relative_buckets(np.abs(away), buckets // 2, most) + (away > 0) * (buckets // 2) if both
                  else relative_buckets(np.maximum(-away, 0), buckets, most))
        # Tools write the memory of a transposed table below its shape.
        wanted = table.reshape(3, buckets)[:, bucket][None]
        yield Case("RelativePositionBias", {"table": table, "queries": np.int64(queries), "keys": np.int64(keys)}, [F],
                   0, wanted=[wanted], constants=("queries", "keys"), is_bidirectional=both, max_distance=most)


def q_linear_conv(rng):
    """Bytes may be one off where a float is between two of them."""
    for last, dtype, group in [(0, np.int8, 1), (1, np.uint8, 1), (1, np.int8, 2)]:
        x = any_bytes(rng, np.uint8, 2, 4, 9, 7)
        inputs = {"x": np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if last else x, "x_scale": F(0.02),
                  "x_zero": np.uint8(120), "w": any_bytes(rng, dtype, 6, 4 // group, 3, 3),
                  "w_scale": rng.uniform(0.01, 0.02, 6).astype(F),
                  "w_zero": np.full(6, 0 if dtype == np.int8 else 128, dtype), "y_scale": F(0.2),
                  "y_zero": np.uint8(130), "bias": rng.integers(-9999, 9999, 6).astype(np.int32)}
        yield Case("QLinearConv", inputs, [np.uint8], 1, constants=tuple(inputs)[1:], channels_last=last, group=group,
                   pads=[1, 1, 1, 1], kernel_shape=[3, 3])


def nhwc_max_pool(rng):
    for dtype, shape, attributes in [
            (np.uint8, (2, 7, 9, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
            (np.int8, (1, 6, 5, 3), {"kernel_shape": [2, 3], "dilations": [2, 1], "ceil_mode": 1}),
            (np.int8, (2, 11, 5), {"kernel_shape": [4], "auto_pad": "SAME_UPPER"})]:
        yield Case("NhwcMaxPool", {"x": any_bytes(rng, dtype, *shape)}, [dtype], 0, **attributes)


CASES = [nhwc_max_pool, q_attention, q_embed_layer_normalization, matmul_bnb4, gather_block_quantized, gather_nd, moved,
         elementwise, relative_position_bias, q_linear_conv]


def outputs_of_cpu(model, feeds):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, feeds)


def main():
    devices = on_leat.devices_of_command_line(__doc__.splitlines()[2])
    rng = np.random.default_rng(1)
    count = wrong = 0
    for made in CASES:
        for case in made(rng):
            model, feeds = case.model()
            wanted = case.wanted if case.wanted is not None else outputs_of_cpu(model, feeds)
            count += 1
            for i, (got, want) in enumerate(zip(on_leat.session(model, devices).run(None, feeds), wanted)):
                off = np.abs(got.astype(np.float64) - want).max(initial=0)
                if got.shape != want.shape or not off <= case.tolerance:
                    wrong += 1
                    print(f"{case.op} {case.attributes}, output {i} {got.shape}: off by {off:.3g}, "
                          f"{case.tolerance:.3g} allowed")
    print(f"{count} models, {wrong} wrong outputs")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
