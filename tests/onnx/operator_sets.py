#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs random models of all operator sets from 7 on, each operator in the form that it has there, and compares them
with the CPU provider's results. All nodes must run on Leat.

usage: operator_sets.py LIBRARY [--models N] [--seed S] [--keep DIR] [--only STEP]

LIBRARY is libleat_onnxruntime.so. Of each pair of models one is optimised by ONNX Runtime, which fuses and folds; of
the other each node runs. Shapes are few, so that models share kernels. A step such as Less, Floor or ArgMax can make
another value of what is rounded in another way: an element is not compared where the CPU provider too gives other
values once each node's result is a little off. Exit status: 0, or 1 if a model is wrong, a node runs elsewhere, or more
than one model in a hundred has such elements, 77 if there is no device.
"""
import argparse
import os
import random
import sys
from collections import Counter

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

import on_leat

# Every value is of N images of CHANNELS planes of SIDE x SIDE.
CHANNELS, SIDE = 4, 6
# The newest set that releases of ONNX Runtime from 1.24 on take.
SETS = range(7, 25)
# As subgraphs.py.
TOLERANCE = 2.0**-10
# What a node's result is off by, of itself and of 1: sixteen times what a result of float32 is rounded by.
NOISE = 2.0**-20
# Of so many draws.
NOISES = 16


class Model:
    """A graph that grows by steps, in the forms of one operator set."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.set = self.random.choice(SETS)
        self.nodes, self.constants, self.values = [], [], ["x"]

    def constant(self, value):
        name = f"constant{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def weights(self, *shape):
        return self.constant((self.numbers.uniform(-1, 1, shape) / max(1, np.prod(shape[1:]))**0.5).astype(np.float32))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def node(self, kind, inputs, outputs=1, **attributes):
        names = [f"{kind.lower()}{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, names[0], **attributes))
        return names[0] if outputs == 1 else names

    def axis(self, last=4):
        """An axis; negative ones came with set 11."""
        axis = self.random.randrange(last)
        return axis - last if self.set >= 11 and self.random.random() < 0.5 else axis

    def with_axes(self, kind, at, axes, moved, **attributes):
        """An operator whose axes became an input with set `moved`."""
        if self.set < moved:
            return self.node(kind, [at], axes=axes, **attributes)
        return self.node(kind, [at, self.ints(*axes)], **attributes)

    # ---- Steps: a value of one -----------------------------------------------------------------------------------

    def activation(self, at):
        kind, since, attributes = self.random.choice((
            ("Relu", 6, {}), ("Tanh", 6, {}), ("Sigmoid", 6, {}), ("Elu", 6, {"alpha": 0.7}),
            ("LeakyRelu", 6, {"alpha": 0.2}), ("Selu", 6, {}), ("HardSigmoid", 6, {"alpha": 0.3}), ("Softplus", 1, {}),
            ("Softsign", 1, {}), ("ThresholdedRelu", 10, {"alpha": 0.3}), ("Celu", 12, {}), ("HardSwish", 14, {}),
            ("Mish", 18, {}), ("Gelu", 20, {})))
        return self.node(kind, [at], **attributes) if self.set >= since else self.node("Relu", [at])

    def unary(self, at):
        kind, since = self.random.choice((
            ("Abs", 6), ("Neg", 6), ("Floor", 6), ("Ceil", 6), ("Identity", 1), ("Sin", 7), ("Cos", 7), ("Atan", 7),
            ("Erf", 9), ("Sinh", 9), ("Sign", 9), ("Asinh", 9), ("Round", 11)))
        return self.node(kind if self.set >= since else "Neg", [at])

    def softmax(self, at):
        kind = self.random.choice(("Softmax", "LogSoftmax"))
        attributes = {} if self.random.random() < 0.3 else {"axis": self.axis()}
        return self.node("Mul", [self.node(kind, [at], **attributes), self.constant(np.float32(0.5))])

    def reduce(self, at):
        kind = self.random.choice(("ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceL1", "ReduceL2",
                                   "ReduceLogSumExp", "ReduceSumSquare", "ReduceProd"))
        axes = sorted({self.axis() % 4 for _ in range(self.random.randrange(1, 3))})
        kept = self.with_axes(kind, at, axes, 13 if kind == "ReduceSum" else 18)
        return self.node("Add", [at, self.node("Tanh", [kept])])

    def argument(self, at):
        axis = self.axis()
        attributes = {"select_last_index": 1} if self.set >= 12 and self.random.random() < 0.3 else {}
        found = self.node(self.random.choice(("ArgMax", "ArgMin")), [at], axis=axis, **attributes)
        return self.node("Add", [at, self.node("Cast", [found], to=TensorProto.FLOAT)])

    def squeeze(self, at):
        axes = self.random.choice(([0], [1, 3], [4], [0, 2]))
        return self.with_axes("Squeeze", self.with_axes("Unsqueeze", at, axes, 13), axes, 13)

    def clip(self, at):
        low, high = -0.7, 1.3
        if self.set < 11:
            return self.node("Clip", [at], min=low, max=high)
        return self.node("Clip", [at, self.constant(np.float32(low)), self.constant(np.float32(high))])

    def slice(self, at):
        """Takes a border away and puts another one in its place."""
        starts, ends, axes = [1, 0], [SIDE, SIDE - 1], [2, 3]
        if self.set < 10:
            part = self.node("Slice", [at], starts=starts, ends=ends, axes=axes)
        else:
            steps = [self.ints(1, 1)] if self.random.random() < 0.5 else []
            part = self.node("Slice", [at, self.ints(*starts), self.ints(*ends), self.ints(*axes), *steps])
        pads = [0, 0, 1, 0, 0, 0, 0, 1]
        mode = self.random.choice(("constant", "reflect", "edge"))
        if self.set < 11:
            return self.node("Pad", [part], pads=pads, mode=mode, value=0.25)
        return self.node("Pad", [part, self.ints(*pads), self.constant(np.float32(0.25))], mode=mode)

    def split(self, at):
        axis, sizes = self.random.choice(((1, [1, 3]), (2, [2, 4]), (3, [3, 3])))
        equal = axis == 3 and self.random.random() < 0.5
        if self.set < 13:
            parts = self.node("Split", [at], 2, axis=axis, **({} if equal else {"split": sizes}))
        elif equal:
            parts = self.node("Split", [at], 2, axis=axis, **({"num_outputs": 2} if self.set >= 18 else {}))
        else:
            parts = self.node("Split", [at, self.ints(*sizes)], 2, axis=axis)
        return self.node("Concat", [self.node("Neg", [parts[1]]), parts[0]], axis=axis)

    def topk(self, at):
        if self.set < 10:
            return self.node("TopK", [at], 2, axis=3, k=SIDE)[0]
        attributes = {"largest": 0} if self.set >= 11 and self.random.random() < 0.5 else {}
        return self.node("TopK", [at, self.ints(SIDE)], 2, axis=3, **attributes)[0]

    def gemm(self, at):
        rows = self.node("Reshape", [at, self.ints(-1, SIDE)])
        if self.random.random() < 0.4:
            product = self.node("MatMul", [rows, self.weights(SIDE, SIDE)])
        else:
            bias = [self.weights(SIDE)] if self.set < 11 or self.random.random() < 0.7 else []
            product = self.node("Gemm", [rows, self.weights(SIDE, SIDE), *bias], transB=self.random.randrange(2),
                                alpha=0.5)
        return self.node("Reshape", [product, self.ints(-1, CHANNELS, SIDE, SIDE)])

    def convolution(self, at):
        if self.random.random() < 0.6:
            group = self.random.choice((1, 2, CHANNELS))
            bias = [self.weights(CHANNELS)] if self.random.random() < 0.5 else []
            made = self.node("Conv", [at, self.weights(CHANNELS, CHANNELS // group, 3, 3), *bias], pads=[1] * 4,
                             group=group)
        else:
            made = self.node("ConvTranspose", [at, self.weights(CHANNELS, CHANNELS, 3, 3)], pads=[1] * 4)
        return self.activation(made) if self.random.random() < 0.5 else made

    def batch_norm(self, at):
        numbers = [self.weights(CHANNELS) for _ in range(3)] + [
            self.constant(self.numbers.uniform(0.5, 2, CHANNELS).astype(np.float32))]
        made = self.node("BatchNormalization", [at, *numbers], epsilon=1e-3)
        return self.activation(made) if self.random.random() < 0.5 else made

    def instance_norm(self, at):
        return self.node("InstanceNormalization", [at, self.weights(CHANNELS), self.weights(CHANNELS)], epsilon=1e-2)

    def layer_norm(self, at):
        if self.set < 17:
            return self.instance_norm(at)
        return self.node("LayerNormalization", [at, self.weights(SIDE), self.weights(SIDE)], axis=-1, epsilon=1e-2)

    def response_norm(self, at):
        return self.node("LRN", [at], size=3, alpha=0.5)

    def pool(self, at):
        kind = self.random.choice(("MaxPool", "AveragePool"))
        attributes = {"count_include_pad": 1} if kind == "AveragePool" and self.random.random() < 0.5 else {}
        return self.node(kind, [at], kernel_shape=[3, 3], pads=[1] * 4, **attributes)

    def squeeze_excite(self, at):
        kind = self.random.choice(("GlobalAveragePool", "GlobalMaxPool"))
        return self.node("Mul", [at, self.node("Sigmoid", [self.node(kind, [at])])])

    def resize(self, at):
        """Twice as large, and back by a pool."""
        mode = self.random.choice(("nearest", "linear"))
        scales = self.constant(np.array([1, 1, 2, 2], np.float32))
        if self.set < 9:
            large = self.node("Upsample", [at], mode=mode, scales=[1.0, 1.0, 2.0, 2.0])
        elif self.set < 11:
            large = self.node("Upsample" if self.set == 9 else "Resize", [at, scales], mode=mode)
        else:
            # Its regions may be left out since set 13.
            regions = "" if self.set >= 13 else self.constant(np.zeros(0, np.float32))
            pixels = self.random.choice(("half_pixel", "asymmetric", "pytorch_half_pixel"))
            large = self.node("Resize", [at, regions, scales], mode=mode, coordinate_transformation_mode=pixels,
                              nearest_mode="floor")
        return self.node("MaxPool", [large], kernel_shape=[2, 2], strides=[2, 2])

    def arithmetic(self, at):
        kind = self.random.choice(("Add", "Sub", "Mul"))
        other = self.random.choice((self.random.choice(self.values), self.weights(CHANNELS, 1, 1), self.weights(SIDE)))
        return self.node(kind, [at, other])

    def variadic(self, at):
        kind = self.random.choice(("Max", "Min", "Sum", "Mean"))
        # They broadcast since set 8.
        others = [self.random.choice(self.values) for _ in range(self.random.randrange(3))]
        if self.set >= 8 and self.random.random() < 0.5:
            others.append(self.weights(SIDE))
        return self.node(kind, [at, *others])

    def power(self, at):
        return self.node("Pow", [self.node("Abs", [at]), self.constant(np.float32(1.5))])

    def divide(self, at):
        return self.node("Div", [at, self.constant(np.array([1.5, -2, 3, 0.75, 1, 2], np.float32))])

    def prelu(self, at):
        return self.node("PRelu", [at, self.weights(CHANNELS, 1, 1)])

    def dropout(self, at):
        if self.set < 12:
            return self.node("Dropout", [at], ratio=0.3)
        return self.node("Dropout", [at, self.constant(np.float32(0.3))])

    def compare(self, at):
        if self.set < 9:
            return self.node("Neg", [at])
        kind = self.random.choice(("Less", "Greater", "Equal"))
        if kind == "Equal" and self.set < 11:
            kind = "Less"
        return self.node("Where", [self.node(kind, [at, self.random.choice(self.values)]), at, self.weights(SIDE)])

    def cast(self, at):
        whole = self.node("Cast", [self.node("Floor", [at])], to=self.random.choice(
            (TensorProto.INT32, TensorProto.INT64)))
        return self.node("Cast", [whole], to=TensorProto.FLOAT)

    def transpose(self, at):
        perm = self.random.choice(([0, 1, 3, 2], [0, 2, 3, 1], [3, 0, 1, 2]))
        back = [perm.index(d) for d in range(4)]
        return self.node("Transpose", [self.node("Relu", [self.node("Transpose", [at], perm=perm)])], perm=back)

    def flatten(self, at):
        flat = self.node("Flatten", [at], axis=self.random.randrange(4))
        return self.node("Reshape", [flat, self.ints(-1, CHANNELS, SIDE, SIDE)])

    def depth(self, at):
        return self.node("DepthToSpace", [self.node("SpaceToDepth", [at], blocksize=2)], blocksize=2)

    def gather(self, at):
        return self.node("Gather", [at, self.ints(*self.random.sample(range(SIDE), SIDE))], axis=3)

    def expand(self, at):
        if self.set < 8:
            return self.node("Neg", [at])
        return self.node("Add", [at, self.node("Expand", [self.weights(1, 1, 1, SIDE), self.ints(1, CHANNELS, 1, 1)])])

    def tile(self, at):
        return self.node("Add", [at, self.node("Tile", [self.weights(1, 1, 1, SIDE), self.ints(1, CHANNELS, SIDE, 1)])])

    def recurrent(self, at):
        """Steps are images, and each row of them is one of a batch."""
        kind, gates = self.random.choice((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
        attributes = {"linear_before_reset": self.random.randrange(2)} if kind == "GRU" else {}
        rows = self.node("Reshape", [at, self.ints(-1, CHANNELS * SIDE, SIDE)])
        made = self.node(kind, [rows, self.weights(1, gates * SIDE, SIDE), self.weights(1, gates * SIDE, SIDE),
                                self.weights(1, 2 * gates * SIDE)], hidden_size=SIDE, **attributes)
        return self.node("Reshape", [made, self.ints(-1, CHANNELS, SIDE, SIDE)])

    def reverse_sequence(self, at):
        if self.set < 10:
            return self.node("Neg", [at])
        turned = self.node("Transpose", [at], perm=[3, 1, 0, 2])
        lengths = self.ints(*(self.random.randrange(1, SIDE + 1) for _ in range(CHANNELS)))
        turned = self.node("ReverseSequence", [turned, lengths], time_axis=0, batch_axis=1)
        return self.node("Transpose", [turned], perm=[2, 1, 3, 0])

    def running_sum(self, at):
        if self.set < 11:
            return self.node("Neg", [at])
        axis = self.constant(np.array(self.random.choice((2, -1)), np.int32))
        total = self.node("CumSum", [at, axis], exclusive=self.random.randrange(2), reverse=self.random.randrange(2))
        return self.node("Div", [total, self.constant(np.float32(SIDE))])

    def einsum(self, at):
        if self.set < 12:
            return self.node("Neg", [at])
        return self.node("Einsum", [at, self.weights(SIDE, SIDE)],
                         equation=self.random.choice(("nchw,hk->nckw", "nchw,wk->nchk", "ncij,jk->ncki")))

    def spectrum(self, at):
        """The real or the imaginary part, which may be 0 but for rounding, where functions that come after may jump."""
        if self.set < 17:
            return self.node("Neg", [at])
        numbers, inverse = self.node("Unsqueeze", [at, self.ints(4)]), self.random.randrange(2)
        if self.set < 20:
            made = self.node("DFT", [numbers], axis=self.random.choice((2, 3)), inverse=inverse)
        else:
            axis = self.constant(np.array(self.random.choice((2, 3, -2)), np.int64))
            made = self.node("DFT", [numbers, "", axis], inverse=inverse)
        part = self.node("Gather", [made, self.constant(np.array(self.random.randrange(2), np.int64))], axis=4)
        return self.node("Add", [self.node("Div", [part, self.constant(np.float32(SIDE))]),
                                 self.constant(np.float32(0.37))])

    def attention(self, at):
        """Planes are heads; scores have their shape."""
        if self.set < 23:
            return self.node("Neg", [at])
        operands = [at, self.random.choice(self.values), self.random.choice(self.values)]
        causal = {"is_causal": self.random.randrange(2)}
        if self.random.random() < 0.7:
            return self.node("Attention", operands, **causal)
        mode = self.random.choice((0, 1, 3))
        name = f"attention{len(self.nodes)}"
        outputs = [name + "_y", "", "", name + "_scores"]
        self.nodes.append(helper.make_node("Attention", operands, outputs, name, qk_matmul_output_mode=mode, **causal))
        return outputs[3]

    STEPS = (activation, unary, softmax, reduce, argument, squeeze, clip, slice, split, topk, gemm, convolution,
             batch_norm, instance_norm, layer_norm, response_norm, pool, squeeze_excite, resize, arithmetic, variadic,
             power, divide, prelu, dropout, compare, cast, transpose, flatten, depth, gather, expand, tile, recurrent,
             reverse_sequence, running_sum, einsum, spectrum, attention)

    def finish(self):
        """Gives the last value and one before it."""
        outputs = dict.fromkeys([self.values[-1], self.random.choice(self.values[1:])])
        shape = ["n", CHANNELS, SIDE, SIDE]
        graph = helper.make_graph(
            self.nodes, "steps", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in outputs], self.constants)
        # What older models are written in is of no account: initializers are no inputs.
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.set)], ir_version=8)
        onnx.checker.check_model(model)
        return model.SerializeToString()


def session(model, devices, optimised):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    if devices:
        options.add_provider_for_devices(devices, {})
        return ort.InferenceSession(model, options, enable_fallback=0)
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def noisy(content, put, numbers):
    """The model with a little added to each node's floats, in proportion and beside it; for inputs of these shapes."""
    model = onnx.load_from_string(content)
    inferred = onnx.shape_inference.infer_shapes(model).graph
    values = {value.name: value for value in [*inferred.value_info, *inferred.output]
              if value.type.tensor_type.elem_type == TensorProto.FLOAT}
    told = onnx.load_from_string(content)
    del told.graph.output[:]
    told.graph.output.extend(values.values())
    found = dict(zip(values, session(told.SerializeToString(), None, False).run(None, put)))
    nodes = []
    for node in model.graph.node:
        made = [name for name in node.output if name in values]
        node.output[:] = [name + ".exact" if name in values else name for name in node.output]
        nodes.append(node)
        for name in made:
            for part, middle in (("factor", 1), ("term", 0)):
                noise = middle + numbers.uniform(-NOISE, NOISE, found[name].shape)
                model.graph.initializer.append(onnx.numpy_helper.from_array(noise.astype(np.float32), f"{name}.{part}"))
            nodes.append(helper.make_node("Mul", [name + ".exact", name + ".factor"], [name + ".near"]))
            nodes.append(helper.make_node("Add", [name + ".near", name + ".term"], [name]))
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model.SerializeToString()


def near(got, want):
    """Which elements are the same within the tolerance."""
    scale = max(np.abs(want[np.isfinite(want)]).max(initial=0), 1)
    return np.isclose(got, want, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True)


def settled(content, put, wants):
    """Which elements of each output stay what they are when nodes are a little off."""
    kept = [np.ones(want.shape, bool) for want in wants]
    numbers = np.random.default_rng(0)
    for _ in range(NOISES):
        for place, got in enumerate(session(noisy(content, put, numbers), None, False).run(None, put)):
            kept[place] &= near(got, wants[place])
    return kept


def complaint(content, devices, seed, opset, elsewhere, unsettled):
    """What is wrong with a model, or None; counts in `unsettled` models with elements that are not compared."""
    ours, cpu = (session(content, where, seed % 2) for where in (devices, None))
    for part in ours.get_provider_graph_assignment_info():
        if part.ep_name != "LeatExecutionProvider":
            elsewhere.update((node.op_type, opset) for node in part.get_nodes())
    for images in (2, 1):
        x = np.random.default_rng(seed * 1000 + images).uniform(-2, 2, (images, CHANNELS, SIDE, SIDE))
        put = {"x": x.astype(np.float32)}
        gots, wants = ours.run(None, put), cpu.run(None, put)
        if any(got.shape != want.shape for got, want in zip(gots, wants)):
            return "other shapes than the CPU provider's"
        if all(near(got, want).all() for got, want in zip(gots, wants)):
            continue
        unsettled[seed] += 1
        kept = settled(content, put, wants)
        if not all(near(got, want)[keep].all() for got, want, keep in zip(gots, wants, kept)):
            return "other values than the CPU provider's"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--models", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="folder for the models that are wrong")
    parser.add_argument("--only", help="a step that models have nothing but")
    wanted = parser.parse_args()
    ort.set_default_logger_severity(4)
    devices = on_leat.devices(wanted.library)
    steps = [step for step in Model.STEPS if wanted.only in (None, step.__name__)]
    wrong, elsewhere, unsettled = 0, Counter(), Counter()
    for seed in range(wanted.seed, wanted.seed + wanted.models):
        model = Model(seed)
        for _ in range(model.random.randrange(1, 7)):
            model.values.append(model.random.choice(steps)(model, model.random.choice(model.values[-2:])))
        try:
            content = model.finish()
            why = complaint(content, devices, seed, model.set, elsewhere, unsettled)
        except Exception as error:  # whatever ONNX Runtime raises
            why = str(error)
        if why:
            wrong += 1
            print(f"model {seed} of set {model.set}, {' '.join(node.op_type for node in model.nodes)}: {why}")
            if wanted.keep:
                with open(os.path.join(wanted.keep, f"set{seed}.onnx"), "wb") as file:
                    file.write(content)
    for (operator, opset), count in sorted(elsewhere.items()):
        print(f"{operator} of set {opset} runs elsewhere, in {count} nodes")
    print(f"{wanted.models} models, {wrong} wrong, {sum(elsewhere.values())} nodes elsewhere; in {len(unsettled)} the "
          "CPU provider's rounding decides an element")
    return 1 if wrong or elsewhere or len(unsettled) > max(1, wanted.models // 100) else 0


if __name__ == "__main__":
    sys.exit(main())
