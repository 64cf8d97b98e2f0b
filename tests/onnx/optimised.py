#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the layers of an encoder, and a residual block of a diffusion model's U-Net, as they are exported, and as ONNX
Runtime's optimizer of transformers writes them.

usage: optimised.py LIBRARY

All have to be wholly on Leat and to give what the CPU provider gives, and what the optimizer wrote may take no more
fused subgraphs and dispatches than the first, whose fusions are Leat's own. A convolution of images in NHWC, whose
weights are constants, is one dispatch. Exit status: 0, or 1 if that is not so, 77 without a device.
"""
import itertools
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
CHANNELS, GROUPS, PIXELS, STEP = 16, 4, (7, 9), 8
# Sums of CHANNELS * 9 products of numbers about 1 and 0.5, behind norms, three times: 146 * 2^-24 * 72 each.
IMAGE_TOLERANCE = 3 * 7e-4
# Sums of 16 * 49 products, below 0.1 * 49 all together, and a bias, of which Softmax takes less than half: a half of
# 786 * 2^-24 * 6.
CONVOLUTION_TOLERANCE = 1.5e-4
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


def image_weights():
    """Numbers of the block, by name; as the optimizer writes them, weights of convolutions have their channels last."""
    rng = np.random.default_rng(4)
    shapes = {"w0": (CHANNELS, 4, 3, 3), "w1": (CHANNELS, CHANNELS, 3, 3), "w2": (CHANNELS, CHANNELS, 3, 3),
              "w3": (4, CHANNELS, 3, 3), "c0": (CHANNELS,), "c1": (CHANNELS,), "c2": (CHANNELS,), "c3": (4,),
              "scale": (CHANNELS,), "shift": (CHANNELS,), "wt": (STEP, CHANNELS), "ct": (CHANNELS,)}
    numbers = {name: rng.uniform(-0.5, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    for n in range(4):
        numbers[f"w{n}_last"] = numbers[f"w{n}"].transpose(0, 2, 3, 1)
    for name in ("scale", "shift"):
        numbers[f"{name}4"] = numbers[name].reshape(CHANNELS, 1, 1)
    return numbers | {"ones": np.ones(GROUPS, np.float32), "zeros": np.zeros(GROUPS, np.float32),
                      "grouped": np.array([0, GROUPS, -1]), "imaged": np.array([BATCH, CHANNELS, *PIXELS]),
                      "behind": np.array([2, 3]), "between": np.array([1, 2])}


def image_step(pixel):
    """What the time of the diffusion adds to each channel, of one pixel with those dimensions."""
    return [node("Sigmoid", ["step"], ["t0"]), node("Mul", ["step", "t0"], ["t1"]),
            node("Gemm", ["t1", "wt", "ct"], ["t2"]), node("Unsqueeze", ["t2", pixel], ["t"])]


def image_exported():
    def convolution(n, x, y):
        return [node("Conv", [x, f"w{n}", f"c{n}"], [y], pads=[1] * 4)]

    def norm(x, y):
        return [node("Reshape", [x, "grouped"], [f"{y}0"]),
                node("InstanceNormalization", [f"{y}0", "ones", "zeros"], [f"{y}1"], epsilon=EPSILON),
                node("Reshape", [f"{y}1", "imaged"], [f"{y}2"]), node("Mul", [f"{y}2", "scale4"], [f"{y}3"]),
                node("Add", [f"{y}3", "shift4"], [f"{y}4"]), node("Sigmoid", [f"{y}4"], [f"{y}5"]),
                node("Mul", [f"{y}4", f"{y}5"], [y])]

    return (image_step("behind") + convolution(0, "image", "a") + norm("a", "b") + convolution(1, "b", "d") +
            [node("Add", ["d", "t"], ["e"])] + norm("e", "f") + convolution(2, "f", "g") +
            [node("Add", ["a", "g"], ["h"])] + norm("h", "i") + convolution(3, "i", "y"))


def image_fused():
    def convolution(n, x, y):
        # Without the size of the kernel ONNX Runtime takes it from dimensions 2 and 3 of the weights.
        return [node("NhwcConv", [x, f"w{n}_last", f"c{n}"], [y], kernel_shape=[3, 3], pads=[1] * 4, **FUSED)]

    def norm(x, y, *skip):
        return [node("SkipGroupNorm" if skip else "GroupNorm", [x, "scale", "shift", *skip], [y], epsilon=EPSILON,
                     groups=GROUPS, activation=1, **FUSED)]

    return (image_step("between") + [node("Transpose", ["image"], ["last"], perm=[0, 2, 3, 1])] +
            convolution(0, "last", "a") + norm("a", "b") + convolution(1, "b", "d") + norm("d", "f", "t") +
            convolution(2, "f", "g") + norm("a", "i", "g") + convolution(3, "i", "z") +
            [node("Transpose", ["z"], ["y"], perm=[0, 3, 1, 2])])


def model_of(nodes, inputs, result, numbers):
    """A model of these nodes; types and shapes of inputs and of the result, by name, and constants."""
    described = [[helper.make_tensor_value_info(name, *value) for name, value in values.items()]
                 for values in (inputs, result)]
    used = {name for each in nodes for name in each.input}
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in numbers.items() if name in used]
    graph = helper.make_graph(nodes, "optimised", *described, constants)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=9).SerializeToString()


def count_of(model):
    """Fused subgraphs and dispatches, twice: what is prepared, and what a Run launches; and more."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(model)
        return dispatches.count(os.path.abspath(sys.argv[1]), path)


def compare(forms, feeds, tolerance, devices):
    """Runs models by their names, the exported one first. The number of those that are off, or take more."""
    first = next(iter(forms))
    wanted = ort.InferenceSession(forms[first], providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    wrong, counts = 0, {}
    for name, model in forms.items():
        off = float(np.abs(on_leat.session(model, devices).run(None, feeds)[0] - wanted).max())
        counts[name] = count_of(model)
        print(f"{name}: off by {off:.3g}, {counts[name][0]} fused subgraphs, {counts[name][1]} dispatches")
        wrong += not off <= tolerance
    return wrong + any(more > most for found in counts.values() for more, most in zip(found[:2], counts[first][:2]))


def convolutions_that_copy(devices):
    """How many convolutions of images in NHWC take more than a dispatch, or give what Conv does not."""
    wrong = 0
    for op, (maps, depth, size, groups) in itertools.product(
            ("NhwcConv", "NhwcFusedConv"),
            ((16, 16, 3, 1), (16, 16, 1, 1), (16, 1, 3, 16), (16, 4, 3, 4), (16, 16, 7, 1), (16, 3, 7, 1))):
        rng, channels = np.random.default_rng(5), depth * groups
        numbers = {"w": rng.uniform(-0.1, 0.1, (maps, depth, size, size)).astype(np.float32),
                   "c": rng.uniform(-1, 1, maps).astype(np.float32)}
        shared = {"group": groups, "pads": [size // 2] * 4, "kernel_shape": [size, size]}
        inputs, result = {"x": (TensorProto.FLOAT, [2, 9, 10, channels])}, {"y": (TensorProto.FLOAT, [2, 9, 10, maps])}
        feeds = {"x": rng.uniform(-1, 1, inputs["x"][1]).astype(np.float32)}
        plain = model_of([node("Softmax", ["x"], ["a"]), node("Transpose", ["a"], ["b"], perm=[0, 3, 1, 2]),
                          node("Conv", ["b", "w", "c"], ["d"], **shared),
                          node("Transpose", ["d"], ["e"], perm=[0, 2, 3, 1]), node("Softmax", ["e"], ["y"])],
                         inputs, result, numbers)
        wanted = ort.InferenceSession(plain, providers=["CPUExecutionProvider"]).run(None, feeds)[0]
        if op == "NhwcConv":
            numbers["w"] = np.ascontiguousarray(numbers["w"].transpose(0, 2, 3, 1))
        made = model_of([node("Softmax", ["x"], ["a"]), node(op, ["a", "w", "c"], ["e"], **shared, **FUSED),
                         node("Softmax", ["e"], ["y"])], inputs, result, numbers)
        off = float(np.abs(on_leat.session(made, devices).run(None, feeds)[0] - wanted).max())
        found = count_of(made)
        if not off <= CONVOLUTION_TOLERANCE or found[:2] != (2, 6):
            print(f"{op} of {channels} to {maps} channels, {size} x {size}: off by {off:.3g}, {found}")
            wrong += 1
    return wrong


def main():
    devices = on_leat.devices_of_command_line(__doc__.splitlines()[2])
    rng = np.random.default_rng(1)
    feeds = {"ids": rng.integers(0, 11, (BATCH, TOKENS)), "segments": rng.integers(0, 2, (BATCH, TOKENS)),
             "mask": (np.arange(TOKENS) < np.array([[TOKENS], [TOKENS - 5]])).astype(np.int64)}
    inputs = {name: (TensorProto.INT64, [BATCH, TOKENS]) for name in feeds}
    result = {f"x{LAYERS}": (TensorProto.FLOAT, [BATCH, TOKENS, WIDTH])}
    forms = {"exported": exported(), "norms alone": embedding() + masking() + optimised(attention),
             "lengths": fused("lengths"), "masks": fused("masks")}
    wrong = compare({name: model_of(nodes, inputs, result, weights()) for name, nodes in forms.items()}, feeds,
                    TOLERANCE, devices)
    feeds = {"image": rng.uniform(-1, 1, (BATCH, 4, *PIXELS)).astype(np.float32),
             "step": rng.uniform(-1, 1, (BATCH, STEP)).astype(np.float32)}
    inputs = {name: (TensorProto.FLOAT, value.shape) for name, value in feeds.items()}
    result = {"y": (TensorProto.FLOAT, [BATCH, 4, *PIXELS])}
    forms = {"image exported": image_exported(), "image optimised": image_fused()}
    wrong += compare({name: model_of(nodes, inputs, result, image_weights()) for name, nodes in forms.items()}, feeds,
                     IMAGE_TOLERANCE, devices)
    wrong += convolutions_that_copy(devices)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
