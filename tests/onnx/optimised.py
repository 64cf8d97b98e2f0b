#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the layers of an encoder as they are exported, and as ONNX Runtime's optimizer of transformers writes them.

usage: optimised.py LIBRARY

All have to be wholly on Leat and to give what the CPU provider gives, and what the optimizer wrote may take no more
fused subgraphs and dispatches than the first, whose fusions are Leat's own. Exit status: 0, or 1 if that is not so, 77
without a device.
"""
import os
import sys
import tempfile

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import on_leat

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "models"))
import dispatches  # noqa: E402  (of tests/models)

TOKENS, WIDTH, INNER, LAYERS, HEADS = 12, 16, 32, 2, 2
BATCH = 2
EPSILON = 1e-5
FILTER = -10000.0  # what is added to the scores of padding, which is the optimizer's too
# Norms of numbers about 1: sums of up to 32 products, three times, each off by less than 34 * 2^-24 * 32.
TOLERANCE = 3e-4
FUSED = {"domain": "com.microsoft"}

node = helper.make_node


def weights():
    """Numbers of the model, by name: those of a layer end with its number."""
    rng = np.random.default_rng(3)
    shapes = {"words": (11, WIDTH), "places": (TOKENS, WIDTH), "kinds": (2, WIDTH), "scale": (WIDTH,),
              "shift": (WIDTH,)}
    for n in range(LAYERS):
        shapes |= {f"w{n}": (WIDTH, INNER), f"b{n}": (INNER,), f"v{n}": (INNER, WIDTH), f"c{n}": (WIDTH,)}
        shapes |= {f"{kind}_{part}{n}": (WIDTH,) if kind == "bias" else (WIDTH, WIDTH)
                   for kind in ("weight", "bias") for part in "qkvo"}
    numbers = {name: rng.uniform(-0.5, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    for n in range(LAYERS):
        for kind in ("weight", "bias"):
            numbers[f"{kind}{n}"] = np.concatenate([numbers[f"{kind}_{part}{n}"] for part in "qkv"], axis=-1)
    return numbers | {"half": np.float32(0.5), "one": np.float32(1), "root": np.float32(np.sqrt(2)),
                      "size": np.float32(np.sqrt(WIDTH // HEADS)), "filter": np.float32(FILTER),
                      "heads": np.array([0, 0, HEADS, WIDTH // HEADS]), "flat": np.array([0, 0, WIDTH]),
                      "behind": np.array([1, 2])}


def embedding():
    return [node("Gather", ["words", "ids"], ["e0"]), node("Gather", ["kinds", "segments"], ["e1"]),
            node("Add", ["e0", "e1"], ["e2"]), node("Add", ["e2", "places"], ["e3"]),
            node("LayerNormalization", ["e3", "scale", "shift"], ["x0"], epsilon=EPSILON)]


def masking():
    return [node("Unsqueeze", ["mask", "behind"], ["mask4"]), node("Cast", ["mask4"], ["seen"], to=TensorProto.FLOAT),
            node("Sub", ["one", "seen"], ["unseen"]), node("Mul", ["unseen", "filter"], ["masking"])]


def attention(n):
    """Of x<n> to o<n>, without the bias of the last product."""
    nodes = []
    for part in "qkv":
        order = [0, 2, 3, 1] if part == "k" else [0, 2, 1, 3]
        nodes += [node("MatMul", [f"x{n}", f"weight_{part}{n}"], [f"{part}0{n}"]),
                  node("Add", [f"bias_{part}{n}", f"{part}0{n}"], [f"{part}1{n}"]),
                  node("Reshape", [f"{part}1{n}", "heads"], [f"{part}2{n}"]),
                  node("Transpose", [f"{part}2{n}"], [f"{part}3{n}"], perm=order)]
    return nodes + [node("MatMul", [f"q3{n}", f"k3{n}"], [f"s0{n}"]), node("Div", [f"s0{n}", "size"], [f"s1{n}"]),
                    node("Add", [f"s1{n}", "masking"], [f"s2{n}"]), node("Softmax", [f"s2{n}"], [f"s3{n}"], axis=-1),
                    node("MatMul", [f"s3{n}", f"v3{n}"], [f"t0{n}"]),
                    node("Transpose", [f"t0{n}"], [f"t1{n}"], perm=[0, 2, 1, 3]),
                    node("Reshape", [f"t1{n}", "flat"], [f"t{n}"]),
                    node("MatMul", [f"t{n}", f"weight_o{n}"], [f"o{n}"])]


def exported():
    nodes = embedding() + masking()
    for n in range(LAYERS):
        nodes += attention(n)
        nodes += [node("Add", [f"bias_o{n}", f"o{n}"], [f"r0{n}"]), node("Add", [f"r0{n}", f"x{n}"], [f"r1{n}"]),
                  node("LayerNormalization", [f"r1{n}", "scale", "shift"], [f"y{n}"], epsilon=EPSILON),
                  node("MatMul", [f"y{n}", f"w{n}"], [f"m{n}"]), node("Add", [f"m{n}", f"b{n}"], [f"a{n}"]),
                  node("Div", [f"a{n}", "root"], [f"d{n}"]), node("Erf", [f"d{n}"], [f"f{n}"]),
                  node("Add", [f"f{n}", "one"], [f"p{n}"]), node("Mul", [f"a{n}", f"p{n}"], [f"n{n}"]),
                  node("Mul", [f"n{n}", "half"], [f"g{n}"]), node("MatMul", [f"g{n}", f"v{n}"], [f"h{n}"]),
                  node("Add", [f"h{n}", f"c{n}"], [f"i{n}"]), node("Add", [f"i{n}", f"y{n}"], [f"s{n}"]),
                  node("LayerNormalization", [f"s{n}", "scale", "shift"], [f"x{n + 1}"], epsilon=EPSILON)]
    return nodes


def optimised(attends):
    """With what the optimizer puts behind attention; `attends(n)` is that of a layer."""
    nodes = []
    for n in range(LAYERS):
        nodes += attends(n)
        nodes += [node("SkipLayerNormalization", [f"o{n}", f"x{n}", "scale", "shift", f"bias_o{n}"], [f"y{n}"],
                       epsilon=EPSILON, **FUSED),
                  node("MatMul", [f"y{n}", f"w{n}"], [f"m{n}"]),
                  node("BiasGelu", [f"m{n}", f"b{n}"], [f"g{n}"], **FUSED),
                  node("MatMul", [f"g{n}", f"v{n}"], [f"h{n}"]),
                  node("SkipLayerNormalization", [f"h{n}", f"y{n}", "scale", "shift", f"c{n}"], [f"x{n + 1}"],
                       epsilon=EPSILON, **FUSED)]
    return nodes


def fused(mask_format):
    """All of it: masks as the sequences' lengths, which the embedding counts, or as they are given."""
    lengths = mask_format == "lengths"
    nodes = [node("Cast", [name], [name + "32"], to=TensorProto.INT32) for name in ("ids", "segments", "mask")]
    nodes += [node("EmbedLayerNormalization", ["ids32", "segments32", "words", "places", "kinds", "scale", "shift"] +
                   ["mask32"] * lengths, ["x0", "lengths"], epsilon=EPSILON, **FUSED)]
    return nodes + optimised(lambda n: [
        node("Attention", [f"x{n}", f"weight{n}", f"bias{n}", "lengths" if lengths else "mask32"], [f"t{n}"],
             num_heads=HEADS, **FUSED),
        node("MatMul", [f"t{n}", f"weight_o{n}"], [f"o{n}"])])


def model_of(nodes):
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [BATCH, TOKENS])
              for name in ("ids", "segments", "mask")]
    result = helper.make_tensor_value_info(f"x{LAYERS}", TensorProto.FLOAT, [BATCH, TOKENS, WIDTH])
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in weights().items()]
    graph = helper.make_graph(nodes, "encoder", inputs, [result], constants)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=9).SerializeToString()


def main():
    devices = on_leat.devices_of_command_line(__doc__.splitlines()[2])
    rng = np.random.default_rng(1)
    feeds = {"ids": rng.integers(0, 11, (BATCH, TOKENS)), "segments": rng.integers(0, 2, (BATCH, TOKENS)),
             "mask": (np.arange(TOKENS) < np.array([[TOKENS], [TOKENS - 5]])).astype(np.int64)}
    forms = {"exported": exported(), "norms alone": embedding() + masking() + optimised(attention),
             "lengths": fused("lengths"), "masks": fused("masks")}
    models = {name: model_of(nodes) for name, nodes in forms.items()}
    wanted = ort.InferenceSession(models["exported"], providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    wrong, counts = 0, {}
    for name, model in models.items():
        off = float(np.abs(on_leat.session(model, devices).run(None, feeds)[0] - wanted).max())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            with open(path, "wb") as file:
                file.write(model)
            counts[name] = dispatches.count(os.path.abspath(sys.argv[1]), path)
        print(f"{name}: off by {off:.3g}, {counts[name][0]} fused subgraphs, {counts[name][1]} dispatches")
        wrong += not off <= TOLERANCE
    wrong += any(more > most for found in counts.values() for more, most in zip(found[:2], counts["exported"][:2]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
