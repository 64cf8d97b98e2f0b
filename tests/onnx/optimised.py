#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the layers of an encoder as they are exported, and as ONNX Runtime's optimizer of transformers writes them.

usage: optimised.py LIBRARY

Both have to be wholly on Leat and to give what the CPU provider gives, and the second may take no more islands and
dispatches than the first, whose fusions are Leat's own. Exit status: 0, or 1 if that is not so, 77 without a device.
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

TOKENS, WIDTH, INNER, LAYERS = 12, 16, 32, 2
BATCH = 2
EPSILON = 1e-5
# Norms of numbers about 1: sums of up to 32 products, twice, each off by less than 34 * 2^-24 * 32.
TOLERANCE = 2e-4

node = helper.make_node


def weights():
    rng = np.random.default_rng(3)
    shapes = {"words": (11, WIDTH), "places": (TOKENS, WIDTH), "kinds": (2, WIDTH), "scale": (WIDTH,),
              "shift": (WIDTH,)}
    for n in range(LAYERS):
        shapes |= {f"w{n}": (WIDTH, INNER), f"b{n}": (INNER,), f"v{n}": (INNER, WIDTH), f"c{n}": (WIDTH,)}
    numbers = {name: rng.uniform(-0.5, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    return numbers | {"half": np.float32(0.5), "one": np.float32(1), "root": np.float32(np.sqrt(2))}


def exported():
    nodes = [node("Gather", ["words", "ids"], ["e0"]), node("Gather", ["kinds", "segments"], ["e1"]),
             node("Add", ["e0", "e1"], ["e2"]), node("Add", ["e2", "places"], ["e3"]),
             node("LayerNormalization", ["e3", "scale", "shift"], ["x0"], epsilon=EPSILON)]
    for n in range(LAYERS):
        nodes += [node("MatMul", [f"x{n}", f"w{n}"], [f"m{n}"]), node("Add", [f"m{n}", f"b{n}"], [f"a{n}"]),
                  node("Div", [f"a{n}", "root"], [f"d{n}"]), node("Erf", [f"d{n}"], [f"f{n}"]),
                  node("Add", [f"f{n}", "one"], [f"p{n}"]), node("Mul", [f"a{n}", f"p{n}"], [f"q{n}"]),
                  node("Mul", [f"q{n}", "half"], [f"g{n}"]), node("MatMul", [f"g{n}", f"v{n}"], [f"h{n}"]),
                  node("Add", [f"h{n}", f"c{n}"], [f"i{n}"]), node("Add", [f"i{n}", f"x{n}"], [f"s{n}"]),
                  node("LayerNormalization", [f"s{n}", "scale", "shift"], [f"x{n + 1}"], epsilon=EPSILON)]
    return nodes


def optimised():
    fused = {"domain": "com.microsoft"}
    nodes = [node("Cast", ["ids"], ["ids32"], to=TensorProto.INT32),
             node("Cast", ["segments"], ["segments32"], to=TensorProto.INT32),
             node("EmbedLayerNormalization", ["ids32", "segments32", "words", "places", "kinds", "scale", "shift"],
                  ["x0", "counts"], epsilon=EPSILON, **fused)]
    for n in range(LAYERS):
        nodes += [node("MatMul", [f"x{n}", f"w{n}"], [f"m{n}"]),
                  node("BiasGelu", [f"m{n}", f"b{n}"], [f"g{n}"], **fused),
                  node("MatMul", [f"g{n}", f"v{n}"], [f"h{n}"]),
                  node("SkipLayerNormalization", [f"h{n}", f"x{n}", "scale", "shift", f"c{n}"], [f"x{n + 1}"],
                       epsilon=EPSILON, **fused)]
    return nodes


def model_of(nodes):
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [BATCH, TOKENS]) for name in ("ids", "segments")]
    result = helper.make_tensor_value_info(f"x{LAYERS}", TensorProto.FLOAT, [BATCH, TOKENS, WIDTH])
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in weights().items()]
    graph = helper.make_graph(nodes, "encoder", inputs, [result], constants)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=9).SerializeToString()


def main():
    devices = on_leat.devices_of_command_line(__doc__.splitlines()[2])
    rng = np.random.default_rng(1)
    feeds = {"ids": rng.integers(0, 11, (BATCH, TOKENS)), "segments": rng.integers(0, 2, (BATCH, TOKENS))}
    models = {"exported": model_of(exported()), "optimised": model_of(optimised())}
    wanted = ort.InferenceSession(models["exported"], providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    wrong, counts = 0, {}
    for name, model in models.items():
        off = float(np.abs(on_leat.session(model, devices).run(None, feeds)[0] - wanted).max())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            with open(path, "wb") as file:
                file.write(model)
            counts[name] = dispatches.count(os.path.abspath(sys.argv[1]), path)
        print(f"{name}: off by {off:.3g}, {counts[name][0]} islands, {counts[name][1]} dispatches")
        wrong += not off <= TOLERANCE
    wrong += any(more > most for more, most in zip(counts["optimised"][:2], counts["exported"][:2]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
