#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs random models whose nodes are Leat's and other providers' in every mixture, as fused subgraphs, node by node
and on the CPU provider.

usage: subgraphs.py LIBRARY [--models N] [--seed S] [--keep DIR] [--oldest]

LIBRARY is libleat_onnxruntime.so. Fused subgraphs must give the bits that single nodes give, and the CPU provider's
values but for rounding. With --oldest, ONNX Runtime is the one in the folder of packages that LEAT_TEST_OLDEST names.
Exit status: 0, or 1 if a model is wrong, 77 if there is no device or no such folder.
"""
import argparse
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

import on_leat

WIDTH = 6
THREADS = 4
OPSET, IR_VERSION = 17, 8
OPSETS = (OPSET, OPSET, 12, OPSET, OPSET, OPSET, 9, OPSET)  # of models, in turn
# Inputs that were attributes, up to which operator set.
EARLIER = {"Unsqueeze": (12, ("axes",)), "ReduceSum": (12, ("axes",)), "Clip": (10, ("min", "max")),
           "Slice": (9, ("starts", "ends"))}
# As leat-run's for float32, which says where it comes from.
TOLERANCE = 2.0**-10


class Model:
    """A graph that grows; every value is of N rows of WIDTH floats."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.opset = OPSETS[seed % len(OPSETS)]
        self.nodes, self.constants, self.values = [], [], ["x", "z"]
        self.used = set()
        numbers = np.random.default_rng(seed)
        self.constant("weight", numbers.uniform(-0.5, 0.5, (WIDTH, WIDTH)).astype(np.float32))
        self.constant("scale", np.ones(WIDTH, np.float32))
        self.constant("bias", numbers.uniform(-1, 1, WIDTH).astype(np.float32))
        self.constant("halves", np.array([-1, 2, WIDTH // 2], np.int64))
        self.constant("rows", np.array([-1, WIDTH], np.int64))
        self.constant("one", np.array([[1]], np.float32))
        self.constant("three", np.array(3, np.float32))
        self.constant("step", np.array(1, np.int64))
        self.constant("first", np.array(0, np.int64))
        self.constant("times", np.array(3, np.int64))
        self.constant("begin", np.array([0], np.int64))
        self.constant("last", np.array([1], np.int64))
        self.constant("two", np.array([2], np.int64))
        self.constant("minus_one", np.array([-1], np.int64))
        self.constant("minus_two", np.array([-2], np.int64))
        self.constant("before_all", np.array([np.iinfo(np.int64).min], np.int64))
        self.constant("pairs", np.array([-1, 2], np.int64))
        self.constant("width", np.array([WIDTH], np.int64))

    def constant(self, name, value):
        self.constants.append(onnx.numpy_helper.from_array(value, name))

    def value(self):
        name = self.random.choice(self.values[-5:])
        self.used.add(name)
        return name

    def node(self, kind, inputs, **attributes):
        name = f"{kind.lower()}{len(self.nodes)}"
        last, names = EARLIER.get(kind, (0, ()))
        if self.opset <= last:
            given = {constant.name: onnx.numpy_helper.to_array(constant).tolist() for constant in self.constants}
            attributes.update({at: given[value] for at, value in zip(names, inputs[1:]) if value})
            inputs = inputs[:1]
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def branch(self, name, kind, inputs):
        """A body of If that takes values of the graph around it."""
        nodes = [helper.make_node(kind, inputs, [name + "_"], name + "_")]
        if self.random.random() < 0.7:
            nodes.append(helper.make_node("MatMul", [name + "_", "weight"], [name + "_product"], name + "_product"))
        nodes.append(helper.make_node("Tanh", [nodes[-1].output[0]], [name], name))
        given = helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, None])
        return helper.make_graph(nodes, name, [], [given])

    def condition(self, at):
        """An If that takes values of the graph around it."""
        return self.node("If", ["flag"], then_branch=self.branch(f"then{len(self.nodes)}", "Neg", [at]),
                         else_branch=self.branch(f"else{len(self.nodes)}", "Add", [at, self.value()]))

    def loop(self, at):
        """A Loop with a state, a result of each iteration, and a value of the graph around it."""
        name = f"body{len(self.nodes)}"
        state, result, on, going, number = (f"{name}_{part}" for part in ("state", "result", "on", "going", "number"))
        inner = [
            helper.make_node("MatMul", [state, "weight"], [name + "_product"], name + "_product"),
            helper.make_node("Add", [name + "_product", self.value()], [name + "_sum"], name + "_sum"),
            helper.make_node("Tanh", [name + "_sum"], [result], result),
            helper.make_node("Identity", [result], [name + "_last"], name + "_last"),
            helper.make_node("Identity", [on], [going], going),
        ]
        floats = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [None, None])
                  for n in (state, result, name + "_last")}
        bools = {n: helper.make_tensor_value_info(n, TensorProto.BOOL, []) for n in (on, going)}
        count = helper.make_tensor_value_info(number, TensorProto.INT64, [])
        body = helper.make_graph(inner, name, [count, bools[on], floats[state]],
                                 [bools[going], floats[result], floats[name + "_last"]])
        loop = helper.make_node("Loop", ["times", "", at], [name + "_end", name + "_all"], name + "_end", body=body)
        self.nodes.append(loop)
        return self.node("Add", [name + "_end", self.node("ReduceSum", [name + "_all", "begin"], keepdims=0)])

    def sized(self, at):
        """A Reshape to what nodes make of the value's own dimensions."""
        rows = self.node("Gather", [self.node("Shape", [at]), "begin"])
        twice = self.node("Add", [rows, rows])
        sizes = self.node("Concat", [self.node("Sub", [twice, rows]), "width"], axis=0)
        return self.node("Reshape", [self.node("Relu", [self.node("Reshape", [at, "halves"])]), sizes])

    def normalized(self, at):
        if self.opset < 17:
            return self.node("Sub", [at, self.node("ReduceMean", [at], axes=[1])])
        return self.node("LayerNormalization", [at, "scale", "bias"], axis=-1, epsilon=0.1)

    def counted(self, at):
        """Adds the number of its row to each, which is made of a dimension and becomes data."""
        if self.opset < 11:
            return self.node("Add", [at, "bias"])
        rows = self.node("Gather", [self.node("Shape", [at]), "first"])
        column = self.node("Unsqueeze", [self.node("Range", ["first", rows, "step"]), "last"])
        return self.node("Add", [at, self.node("Cast", [column], to=TensorProto.FLOAT)])

    def padded(self, at):
        """Adds rows and takes them away again; how many is computed as PyTorch's exporter of TorchScript does."""
        if self.opset < 11:
            return self.node("Slice", [self.node("Pad", [at], pads=[1, 0, 2, 0]), "last", "minus_two"])
        rows = self.node("Gather", [self.node("Shape", [at]), "begin"])
        pairs = self.node("Reshape", [self.node("Concat", ["begin", "begin", "begin", rows], axis=0), "pairs"])
        turned = self.node("Slice", [pairs, "minus_one", "before_all", "begin", "minus_one"])
        pads = self.node("Reshape", [self.node("Transpose", [turned], perm=[1, 0]), "minus_one"])
        reduction = self.random.choice(("ReduceMax", "ReduceMin"))
        end = self.node(reduction, [self.node("Tile", [rows, "two"])])
        padded = self.node("Pad", [at, self.node("Cast", [pads], to=TensorProto.INT64)])
        return self.node("Slice", [padded, "begin", end])

    def floated(self, at):
        """A shape by way of floats."""
        floats = self.node("Cast", [self.node("Shape", [at])], to=TensorProto.FLOAT)
        sizes = self.node("Cast", [self.node("Floor", [floats])], to=TensorProto.INT64)
        return self.node("Sub", [at, self.node("Expand", ["one", sizes])])

    def ranked(self, at):
        """Takes sums along axes that are counted from the number of dimensions, as bodies of functions do; the first
        one follows from a constant that Squeeze takes as data and as its axes."""
        if self.opset < 13:
            return self.node("Neg", [at])
        first = self.node("Add", [self.node("Squeeze", ["begin", "begin"]), "step"])
        axes = self.node("Range", [first, self.node("Size", [self.node("Shape", [at])]), "step"])
        return self.node("Sub", [at, self.node("Tanh", [self.node("ReduceSum", [at, axes])])])

    def grow(self, others):
        """Adds a step; `others` is the share of steps that Leat leaves to other providers."""
        at = self.value()
        if self.random.random() < others:
            made = self.random.choice((
                lambda: self.node("Scaler", [at], domain="ai.onnx.ml", offset=[0.0], scale=[1.0]),
                lambda: self.condition(at),
                lambda: self.loop(at),
            ))()
        else:
            made = self.random.choice((
                lambda: self.node(self.random.choice(("Relu", "Neg", "Tanh", "Sigmoid")), [at]),
                lambda: self.node(self.random.choice(("Add", "Sub", "Max")), [at, self.value()]),
                lambda: self.node("MatMul", [at, "weight"]),
                lambda: self.node("Softmax", [at], axis=1),
                lambda: self.normalized(at),
                lambda: self.node("Clip", [at, "", "three"]),
                lambda: self.node("Transpose", [self.node("Transpose", [at], perm=[1, 0])], perm=[1, 0]),
                lambda: self.node("Reshape", [self.node("Relu", [self.node("Reshape", [at, "halves"])]), "rows"]),
                lambda: self.node("Add", [at, self.node("Expand", ["one", self.node("Shape", [at])])]),
                lambda: self.sized(at),
                lambda: self.counted(at),
                lambda: self.padded(at),
                lambda: self.floated(at),
                lambda: self.ranked(at),
            ))()
        self.values.append(made)

    def finish(self):
        """Gives what no node took, and a value in the middle."""
        outputs = [v for v in self.values[2:] if v not in self.used]
        outputs += [v for v in self.values[2 + len(self.values) // 2:][:1] if v not in outputs]
        float_rows = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", WIDTH]) for n in ("x", "z")]
        graph = helper.make_graph(
            self.nodes, "mixture", float_rows + [helper.make_tensor_value_info("flag", TensorProto.BOOL, [])],
            [helper.make_tensor_value_info(v, TensorProto.FLOAT, [None, None]) for v in outputs], self.constants)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset), helper.make_opsetid("ai.onnx.ml", 1)],
            ir_version=IR_VERSION)
        onnx.checker.check_model(model)
        return model.SerializeToString()


def session(model, devices, option):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if devices:
        options.add_provider_for_devices(devices, {option: "1"})
        return ort.InferenceSession(model, options, enable_fallback=0)
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def is_near(got, want):
    """Values are about 1, and may cancel each other."""
    scale = max(np.abs(want).max(initial=0), 1)
    return got.shape == want.shape and bool((np.abs(got - want) <= TOLERANCE * scale).all())


def complaint(model, devices, seed):
    """What is wrong with a model, or None; and its number of fused subgraphs."""
    subgraphs, direct, cpu = (session(model, d, o) for d, o in
                              ((devices, "force_graph_path"), (devices, "force_direct_path"), (None, None)))
    count = sum(len(part.get_nodes()) > 1 for part in subgraphs.get_provider_graph_assignment_info()
                if part.ep_name == "LeatExecutionProvider")

    def run(number):
        numbers = np.random.default_rng(seed * 1000 + number)
        put = {n: numbers.uniform(-2, 2, (number % 4, WIDTH)).astype(np.float32) for n in ("x", "z")}
        put["flag"] = np.array(number % 3 == 0)
        got, same, want = (each.run(None, put) for each in (subgraphs, direct, cpu))
        if any(g.tobytes() != s.tobytes() for g, s in zip(got, same)):
            return f"run {number}: fused subgraphs give other bits than single nodes"
        if not all(map(is_near, got, want)):
            return f"run {number}: other values than the CPU provider's"
        return None

    with ThreadPoolExecutor(max_workers=THREADS) as pool:
        return next(filter(None, pool.map(run, range(3 * THREADS))), None), count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--models", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="folder for the models that are wrong")
    parser.add_argument("--oldest", action="store_true")
    wanted = parser.parse_args()
    on_leat.choose_runtime()
    ort.set_default_logger_severity(3)
    devices = on_leat.devices(wanted.library)
    wrong = subgraphs = 0
    for seed in range(wanted.seed, wanted.seed + wanted.models):
        made = Model(seed)
        for _ in range(made.random.randrange(2, 25)):
            made.grow(made.random.choice((0, 0.1, 0.3, 0.6)))
        model = made.finish()
        try:
            why, count = complaint(model, devices, seed)
        except Exception as error:  # whatever ONNX Runtime raises
            why, count = str(error), 0
        subgraphs += count
        if why:
            wrong += 1
            print(f"model {seed} of {len(made.nodes)} nodes: {why}")
            if wanted.keep:
                with open(os.path.join(wanted.keep, f"mixture{seed}.onnx"), "wb") as file:
                    file.write(model)
    print(f"{wanted.models} models, {subgraphs} fused subgraphs, {wrong} models wrong")
    return 1 if wrong or subgraphs < wanted.models / 2 else 0


if __name__ == "__main__":
    sys.exit(main())
