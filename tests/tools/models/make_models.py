#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the models that the tests of leat-run use, beside itself. Needs the packages onnx and numpy.

The files are kept in the tree, so that the tests need neither package; run this after a change here.
"""
import pathlib

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
OPSET = 17


def save(name, nodes, inputs, outputs, weights=(), domains=(("", OPSET),)):
    """Checks a model, unless it is meant to be wrong, and writes it."""
    graph = helper.make_graph(
        nodes, name,
        [helper.make_tensor_value_info(*one) for one in inputs],
        [helper.make_tensor_value_info(*one) for one in outputs],
        [numpy_helper.from_array(value, key) for key, value in weights])
    model = helper.make_model(
        graph, ir_version=8,
        opset_imports=[helper.make_opsetid(*one) for one in domains])
    if name != "unknown_operator":
        onnx.checker.check_model(model)
    onnx.save(model, HERE / f"{name}.onnx")


def main():
    random = numpy.random.default_rng(3)

    def weight(*shape):
        return random.standard_normal(shape).astype(numpy.float32)

    node = helper.make_node
    save("mlp",
         [node("Gemm", ["x", "w1", "b1"], ["h"], "first"),
          node("Relu", ["h"], ["a"], "bend"),
          node("Gemm", ["a", "w2", "b2"], ["y"], "second")],
         [("x", TensorProto.FLOAT, ["batch", 16])],
         [("y", TensorProto.FLOAT, ["batch", 4])],
         [("w1", weight(16, 32)), ("b1", weight(32)),
          ("w2", weight(32, 4)), ("b2", weight(4))])
    save("words",
         [node("Gather", ["table", "ids"], ["e"], "look_up"),
          node("Mul", ["e", "mask"], ["m"], "hide"),
          node("ReduceSum", ["m", "axis"], ["s"], "add_up", keepdims=0),
          node("ArgMax", ["s"], ["best"], "choose", axis=-1, keepdims=0)],
         [("ids", TensorProto.INT64, ["batch", "length"]),
          ("mask", TensorProto.FLOAT, ["batch", "length", 1])],
         [("s", TensorProto.FLOAT, ["batch", 8]),
          ("best", TensorProto.INT64, ["batch"])],
         [("table", weight(100, 8)), ("axis", numpy.array([1]))])
    # Where x is 0 the quotient is NaN, elsewhere finite or infinite: NaN and Inf are legal results.
    save("quotient",
         [node("Div", ["x", "zero"], ["q"], "divide")],
         [("x", TensorProto.FLOAT, ["n"])],
         [("q", TensorProto.FLOAT, ["n"])],
         [("zero", numpy.zeros(1, numpy.float32))])
    # An input of whole numbers that decides a shape: some values of it make Run fail.
    save("reshape",
         [node("Reshape", ["x", "shape"], ["y"], "reshape")],
         [("x", TensorProto.FLOAT, [6]), ("shape", TensorProto.INT64, [2])],
         [("y", TensorProto.FLOAT, [None, None])])
    # Nodes that take one value on the device, as what they change, and on the host, as how. And one that does not.
    save("both",
         [node("Reshape", ["f", "shape"], ["g"], "beside"),
          node("Reshape", ["x", "x"], ["a"], "reshape"),
          node("Expand", ["a", "a"], ["b"], "expand"),
          node("Tile", ["b", "b"], ["y"], "tile")],
         [("x", TensorProto.INT64, [1]), ("f", TensorProto.FLOAT, [6])],
         [("y", TensorProto.INT64, [None]), ("g", TensorProto.FLOAT, [2, 3])],
         [("shape", numpy.array([2, 3]))])
    # Never the same twice, so that every run after the reference is wrong; Leat lacks the second operator.
    save("dice",
         [node("RandomNormalLike", ["x"], ["t"], "throw"),
          node("Scaler", ["t"], ["y"], "keep", domain="ai.onnx.ml", offset=[0.0], scale=[1.0])],
         [("x", TensorProto.FLOAT, [8])],
         [("y", TensorProto.FLOAT, [8])],
         domains=(("", OPSET), ("ai.onnx.ml", 1)))
    # A loop of 2^62 rounds: a run that does not end in anybody's lifetime.
    flag = helper.make_tensor_value_info("go", TensorProto.BOOL, [])
    step = helper.make_graph(
        [node("Identity", ["go"], ["go_on"]), node("Neg", ["v"], ["w"])],
        "round",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), flag,
         helper.make_tensor_value_info("v", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("w", TensorProto.FLOAT, [1])])
    save("endless",
         [node("Loop", ["rounds", "yes", "x"], ["y"], "turn", body=step)],
         [("x", TensorProto.FLOAT, [1])],
         [("y", TensorProto.FLOAT, [1])],
         [("rounds", numpy.array(2 ** 62)), ("yes", numpy.array(True))])

    # An input that a node outside of a body reads, and each body too: tests/provider/ runs it. Weights are whole
    # numbers, so that products of such are exact.
    def body(name, sign):
        return helper.make_graph(
            [node("MatMul", ["x", "w"], [name + "_m"]), node(sign, [name + "_m"], [name])], name, [],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 16])])

    save("branch",
         [node("MatMul", ["x", "w"], ["z"], "outside"),
          node("If", ["c"], ["y"], "choose", then_branch=body("same", "Identity"),
               else_branch=body("other", "Neg"))],
         [("x", TensorProto.FLOAT, ["n", 64]), ("c", TensorProto.BOOL, [])],
         [("y", TensorProto.FLOAT, [None, 16]), ("z", TensorProto.FLOAT, ["n", 16])],
         [("w", ((numpy.arange(64)[:, None] * 7 + numpy.arange(16) * 3) % 5 - 2).astype(numpy.float32))])
    save("unknown_operator",
         [node("Frobnicate", ["x"], ["y"], "frobnicate")],
         [("x", TensorProto.FLOAT, [4])],
         [("y", TensorProto.FLOAT, [4])])
    save("text",
         [node("Identity", ["x"], ["y"], "identity")],
         [("x", TensorProto.STRING, [1])],
         [("y", TensorProto.STRING, [1])])
    # Takes four rows, no more and no fewer.
    save("four",
         [node("Gemm", ["x", "w", "b"], ["y"], "only")],
         [("x", TensorProto.FLOAT, [4, 16])],
         [("y", TensorProto.FLOAT, [4, 8])],
         [("w", weight(16, 8)), ("b", weight(8))])
    # The result of a row depends on the rows beside it, so that no batch of more than one is right.
    save("crowd",
         [node("ReduceMean", ["x"], ["m"], "mean", axes=[0]),
          node("Sub", ["x", "m"], ["d"], "distance"),
          node("Add", ["d", "x"], ["y"], "both")],
         [("x", TensorProto.FLOAT, ["batch", 3])],
         [("y", TensorProto.FLOAT, ["batch", 3])])
    # The same of a model that says which axis the batch is, and that it is not axis 0.
    save("recurrent",
         [node("CumSum", ["x", "axis"], ["y"], "go_on")],
         [("x", TensorProto.FLOAT, ["time", "batch", 3])],
         [("y", TensorProto.FLOAT, ["time", "batch", 3])],
         [("axis", numpy.array(0))])
    # Each number of a row on the nearest of steps of a hundredth, once it is moved towards the mean of the rows: by
    # what roundings come to, so that some are on the next step and none is wrong, and by so much that a row is wrong.
    for name, share in (("stepped", 2.0**-20), ("pulled", 2.0**-8)):
        save(name,
             [node("ReduceMean", ["x"], ["m"], "mean", axes=[0]),
              node("Sub", ["m", "x"], ["d"], "distance"),
              node("Mul", ["d", "share"], ["p"], "pull"),
              node("Add", ["x", "p"], ["z"], "move"),
              node("Mul", ["z", "steps"], ["s"], "widen"),
              node("Round", ["s"], ["r"], "step"),
              node("Div", ["r", "steps"], ["y"], "narrow")],
             [("x", TensorProto.FLOAT, ["batch", 65536])],
             [("y", TensorProto.FLOAT, ["batch", 65536])],
             [("share", numpy.array(share, numpy.float32)), ("steps", numpy.array(100, numpy.float32))])
    # The same, of numbers that whole numbers stand for: nothing that comes in can be off by a rounding.
    save("lettered",
         [node("Mul", ["a", "b"], ["ab"], "spell"),
          node("Reshape", ["ab", "flat"], ["table"], "list"),
          node("Gather", ["table", "ids"], ["x"], "look_up"),
          node("ReduceMean", ["x"], ["m"], "mean", axes=[0]),
          node("Sub", ["m", "x"], ["d"], "distance"),
          node("Mul", ["d", "share"], ["p"], "pull"),
          node("Add", ["x", "p"], ["z"], "move"),
          node("Mul", ["z", "steps"], ["s"], "widen"),
          node("Round", ["s"], ["r"], "step"),
          node("Div", ["r", "steps"], ["y"], "narrow")],
         [("ids", TensorProto.INT64, ["batch", 65536])],
         [("y", TensorProto.FLOAT, ["batch", 65536])],
         [("a", weight(128, 1)), ("b", weight(1, 128)), ("flat", numpy.array([-1])),
          ("share", numpy.array(2.0**-18, numpy.float32)), ("steps", numpy.array(100, numpy.float32))])
    # Numbers near 0 that a provider may compute as the difference of numbers near 1.
    save("faint",
         [node("Add", ["x", "c"], ["s"], "sink"), node("Sigmoid", ["s"], ["y"], "bend")],
         [("x", TensorProto.FLOAT, [64])],
         [("y", TensorProto.FLOAT, [64])],
         [("c", numpy.array([-17], numpy.float32))])
    # One output is without axes, so that there is nothing to give each row.
    save("total",
         [node("ReduceSum", ["x"], ["sum"], "add_up", keepdims=0),
          node("Neg", ["x"], ["y"], "negate")],
         [("x", TensorProto.FLOAT, ["batch", 3])],
         [("y", TensorProto.FLOAT, ["batch", 3]), ("sum", TensorProto.FLOAT, [])])


if __name__ == "__main__":
    main()
