#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes sessions of models with nodes that Leat refuses or leaves to the CPU provider, and reads why.

usage: refused.py LIBRARY [--oldest]

LIBRARY is libleat_onnxruntime.so. Where the CPU provider has a kernel for what is refused, there is a session; where it
has none, or one that refuses every Run, making the session fails and names the node. The log has a reason for each node
that stays there although Leat could run it, and for no node that is Leat's. With --oldest, ONNX Runtime is the
one in the folder of packages that LEAT_TEST_OLDEST names. Exit status: 0, or 1 if a session is wrong, 77 if there is no
device or no such folder.
"""
import os
import re
import sys
import tempfile

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

import on_leat

FLOAT, HALF, INT32, INT64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT32, TensorProto.INT64
INT8, BOOL, TEXT = TensorProto.INT8, TensorProto.BOOL, TensorProto.STRING
MICROSOFT = "com.microsoft"
value = helper.make_tensor_value_info
node = helper.make_node


def model(nodes, inputs, outputs, opset=17):
    imports = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(helper.make_graph(nodes, "refused", inputs, outputs), opset_imports=imports, ir_version=8)


def transform(kind=FLOAT):
    """An operator that ONNX Runtime writes for GPUs alone, between nodes of Leat's."""
    return model([
        node("Relu", ["x"], ["a"], "before"),
        node("Irfft", ["a"], ["c"], "transform", domain=MICROSOFT, normalized=0, onesided=1, signal_ndim=1),
        node("Relu", ["c"], ["y"], "after"),
    ], [value("x", kind, [4, 8, 2])], [value("y", kind, [4, 14])])


def transform_of_halves():
    return transform(HALF)


def in_a_body():
    """The same in a body of If."""
    made = node("Irfft", ["x"], ["c"], "transform", domain=MICROSOFT, normalized=0, onesided=1, signal_ndim=1)
    shape, result = [4, 8, 2], [4, 14]
    branches = {name: helper.make_graph([each], name, [], [value(each.output[0], FLOAT, size)]) for name, each, size in
                (("then_branch", made, result), ("else_branch", node("Relu", ["x"], ["d"], "relu"), shape))}
    return model([node("If", ["which"], ["y"], "if", **branches)],
                 [value("which", BOOL, []), value("x", FLOAT, shape)], [value("y", FLOAT, None)])


def beside_what_cannot_be_asked():
    """The same beside nodes that no copy can be made of: a body, a text attribute list, a sequence."""
    made = transform()
    made.graph.node.extend([
        node("StringNormalizer", ["t"], ["u"], "text", stopwords=["a"]),
        node("SequenceConstruct", ["x", "x"], ["s"], "sequence"),
        node("SequenceLength", ["s"], ["n"], "length"),
    ])
    made.graph.input.append(value("t", TEXT, ["n"]))
    made.graph.output.extend([value("u", TEXT, ["m"]), value("n", INT64, [])])
    return made


def old_version_of_halves():
    """The CPU provider has a kernel for float32, and ONNX Runtime casts."""
    return model([node("Clip", ["x"], ["a"], "clip", min=0.0, max=6.0),
                  node("Conv", ["a", "w"], ["y"], "conv", auto_pad="SAME_UPPER", strides=[1, 1])],
                 [value("x", HALF, [1, 2, 4, 4]), value("w", HALF, [2, 2, 3, 3])], [value("y", HALF, None)], opset=9)


def function():
    """No provider has a kernel; ONNX says of which other operators it consists."""
    return model([node("CenterCropPad", ["x", "s"], ["y"], "crop")],
                 [value("x", FLOAT, ["n", 3]), value("s", INT64, [2])], [value("y", FLOAT, None)], opset=18)


def others():
    """Absent inputs and outputs, texts, attributes of many kinds, several nodes that take the same."""
    return model([
        node("StringConcat", ["t", "t"], ["u"], "texts"),
        node("Multinomial", ["x"], ["c"], "draw", sample_size=2, dtype=7, seed=1.0),
        node("NonMaxSuppression", ["boxes", "scores", "", "limit"], ["z"], "suppression"),
        node("Unique", ["x"], ["v", "", "i"], "unique", sorted=0),
        node("Unique", ["x"], ["v2"], "again", axis=0),
        node("Scaler", ["x"], ["e"], "scaler", domain="ai.onnx.ml", offset=[1.0], scale=[2.0]),
    ], [value("t", TEXT, ["n"]), value("x", FLOAT, ["n", 2]), value("boxes", FLOAT, [1, "k", 4]),
        value("scores", FLOAT, [1, 1, "k"]), value("limit", FLOAT, [1])],
        [value("u", TEXT, None), value("v", FLOAT, None), value("v2", FLOAT, None), value("e", FLOAT, None)]
        + [value(name, INT64, None) for name in "czi"], opset=20)


def body_of(*nodes):
    """The nodes in a body of If, from float32 "x" to float32 "c"; the other body has one Exp."""
    branches = {name: helper.make_graph(made, name, [], [value(made[-1].output[0], FLOAT, [4, 4])]) for name, made in
                (("then_branch", nodes), ("else_branch", [node("Exp", ["x"], ["d"], "exp")]))}
    return model([node("If", ["which"], ["y"], "if", **branches)],
                 [value("which", BOOL, []), value("x", FLOAT, [4, 4]), value("w", FLOAT, [4, 4]),
                  value("v", INT8, [4, 4])], [value("y", FLOAT, [4, 4])])


def body_of_no_kernels():
    """No work for a device, but the CPU provider has no kernel for bfloat16."""
    return body_of(node("Cast", ["x"], ["a"], "there", to=TensorProto.BFLOAT16), node("Abs", ["a"], ["b"], "abs"),
                   node("Cast", ["b"], ["c"], "back", to=FLOAT))


def body_of_a_product():
    return body_of(node("MatMul", ["x", "w"], ["a"], "product"), node("Abs", ["a"], ["c"], "abs"))


def body_of_a_quantised_product():
    return body_of(node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"], "quantise"),
                   node("MatMulInteger", ["q", "v", "z"], ["i"], "product"),
                   node("Cast", ["i"], ["f"], "cast", to=FLOAT), node("Mul", ["f", "s"], ["c"], "scale"))


def body_of_little():
    return body_of(node("Abs", ["x"], ["a"], "abs"), node("Softmax", ["a"], ["c"], "softmax"))


def images_between_refused():
    """Sums and products of images between norms that Leat lacks."""
    return model([
        node("MeanVarianceNormalization", ["x"], ["a"], "first"),
        node("Add", ["a", "a"], ["b"], "add"),
        node("Mul", ["a", "b"], ["c"], "mul"),
        node("MeanVarianceNormalization", ["c"], ["y"], "second"),
    ], [value("x", FLOAT, [1, 4, 8, 8])], [value("y", FLOAT, None)])


def version_of_nobody():
    """A version that neither Leat nor the CPU provider has."""
    return model([node("Abs", ["x"], ["y"], "abs")], [value("x", FLOAT, [4])], [value("y", FLOAT, None)], opset=5)


def computed_shapes():
    """A chain from a shape to Reshape, and one that begins at an input of the model."""
    made = model([
        node("Relu", ["x"], ["a"], "relu"),
        node("Shape", ["x"], ["s"], "shape"),
        node("Gather", ["s", "zero"], ["g"], "gather"),
        node("Concat", ["g", "rest"], ["t"], "concat", axis=0),
        node("Reshape", ["a", "t"], ["r"], "reshape"),
        node("Neg", ["n"], ["m"], "neg"),
        node("Reshape", ["r", "m"], ["y"], "again"),
    ], [value("x", FLOAT, ["n", 2, 4]), value("n", INT64, [1])], [value("y", FLOAT, None)])
    made.graph.initializer.extend([helper.make_tensor("zero", INT64, [1], [0]),
                                   helper.make_tensor("rest", INT64, [1], [-1])])
    return made


def norms_of_queries():
    """A kernel of the CPU provider's that refuses one of its inputs in each Run, and heads that Leat has not."""
    heads, groups, size = 4, 2, 264
    shapes = {"q": [1, 2, heads * size], "k": [1, 2, groups * size], "v": [1, 2, groups * size],
              "qn": [size], "kn": [size]}
    inputs = [value(name, FLOAT, shape) for name, shape in shapes.items()]
    inputs += [value("length", INT32, [1]), value("total", INT32, [])]
    names = ["q", "k", "v", "", "", "length", "total", "", "", "", "", "", "", "", "qn", "kn"]
    return model([node("GroupQueryAttention", names, ["y", "nk", "nv"], "attention", domain=MICROSOFT, num_heads=heads,
                       kv_num_heads=groups)],
                 inputs, [value(name, FLOAT, None) for name in ("y", "nk", "nv")])


def cpu_runs_norms_of_queries():
    """Whether the row of host-shim/onnxruntime/fallback.c is wrong of this release."""
    puts = {"length": np.array([1], np.int32), "total": np.array(2, np.int32)}
    made = norms_of_queries()
    for each in made.graph.input:
        shape = [size.dim_value for size in each.type.tensor_type.shape.dim]
        puts.setdefault(each.name, np.ones(shape, np.float32))
    try:
        ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, puts)
    except Exception as error:  # whatever ONNX Runtime raises
        return "not supported" not in str(error)
    return True


# What the message of a session that cannot be made says.
NAMED = ("no provider can run the Irfft node 'transform' (domain 'com.microsoft', version 1). Leat does not, because "
         "its operator is not in the backend's list; ONNX Runtime's CPU provider does not, because it has no kernel "
         "for this")
REFUSES_INPUT = ("no provider can run the GroupQueryAttention node 'attention' (domain 'com.microsoft', version 1). "
                 "Leat does not, because ")
NO_VERSION = ("no provider can run the Abs node 'abs' (domain '', version 1). Leat does not, because its operator is "
              "of version 1; the backend's list has it in 6 to 13; ONNX Runtime's CPU provider does not, because it "
              "has no kernel for this")
CASES = ((version_of_nobody, NO_VERSION), (transform, NAMED), (transform_of_halves, NAMED), (in_a_body, NAMED),
         (beside_what_cannot_be_asked, NAMED), (old_version_of_halves, None), (function, None), (others, None),
         (body_of_no_kernels, None))

# Nodes that stay on the host, with the beginning of the reason, by the path that the session takes.
SHAPES = "it computes shapes from shapes, which costs less on the host"
COPIES = "what it takes and gives is on the host in any case"
NO_WORK = "the body that it is in has no matrix product, convolution or attention that Leat runs"
NO_OPERATOR = "its operator is not in the backend's list"
NO_BODY = "no node of its bodies runs on Leat"
REASONS = (
    (images_between_refused, *2 * [{"first": NO_OPERATOR, "add": COPIES, "mul": COPIES, "second": NO_OPERATOR}]),
    (computed_shapes, {"neg": SHAPES}, {"gather": SHAPES, "concat": SHAPES, "neg": SHAPES}),
    (body_of_no_kernels, *2 * [{"exp": NO_WORK}]),
    (body_of_a_product, *2 * [{}]),
    (body_of_a_quantised_product, *2 * [{}]),
    (body_of_little, *2 * [{"if": NO_BODY, "exp": NO_WORK, "abs": NO_WORK, "softmax": NO_WORK}]),
)
REASON = re.compile(r"LeatExecutionProvider: \S+ node '(.*?)' stays with another provider: (.*)")
OPTIONS = "force_graph_path", "force_direct_path"


def wrong_reasons(made, devices, option, expected):
    """What is wrong with the reasons in the log of a session, or None. ONNX Runtime logs to standard error alone."""
    options = ort.SessionOptions()
    options.log_severity_level = 0
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_provider_for_devices(devices, {option: "1"})
    before = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            ort.InferenceSession(made.SerializeToString(), options, enable_fallback=0)
        finally:
            os.dup2(before, 2)
            os.close(before)
        log.seek(0)
        told = dict(REASON.findall(log.read().decode(errors="replace")))
    right = told.keys() == expected.keys() and all(told[name].startswith(expected[name]) for name in told)
    return None if right else f"the log has {told}"


def complaint(made, devices, option, expected):
    """What is wrong with the session of a model, or None."""
    options = ort.SessionOptions()
    options.add_provider_for_devices(devices, {option: "1"})
    try:
        ort.InferenceSession(made.SerializeToString(), options, enable_fallback=0)
    except Exception as error:  # whatever ONNX Runtime raises
        said = " ".join(str(error).split())
        return None if expected and expected in said else said
    return "a session was made" if expected else None


def main():
    on_leat.choose_runtime()
    ort.set_default_logger_severity(4)
    devices = on_leat.devices(sys.argv[1])
    cases = list(CASES)
    wrong = 0
    # Older releases do not know the inputs at all.
    if tuple(map(int, ort.__version__.split(".")[:2])) >= (1, 32):
        cases.append((norms_of_queries, REFUSES_INPUT))
        if cpu_runs_norms_of_queries():
            wrong += 1
            print("the CPU provider takes norms of queries: host-shim/onnxruntime/fallback.c says that it does not")
    for make, expected in cases:
        for option in OPTIONS:
            made = make()
            if make is others:
                made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
            why = complaint(made, devices, option, expected)
            if why:
                wrong += 1
                print(f"{make.__name__}, {option}: {why}")
    for make, *expected in REASONS:
        for option, reasons in zip(OPTIONS, expected):
            why = wrong_reasons(make(), devices, option, reasons)
            if why:
                wrong += 1
                print(f"{make.__name__}, {option}: {why}")
    print(f"{2 * len(cases) + 2 * len(REASONS)} sessions, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
