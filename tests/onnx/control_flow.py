#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""If, Loop and Scan whose bodies run on Leat run there themselves, and give what the CPU provider gives.

Usage: control_flow.py LIBRARY [--oldest]
For each model: which of these operators are on Leat and which on the CPU, and the outputs for several inputs, from one
thread and from four. --oldest: ONNX Runtime is the one in the folder of packages that LEAT_TEST_OLDEST names. Exit
status: 0 right, 1 not, 77 no Vulkan device, or no folder for --oldest.
"""
import concurrent.futures
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import on_leat

WIDTH = 16
BOOL, FLOAT, INT64, STRING = TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
CONTROL = {"If", "Loop", "Scan"}


def value(name, kind=FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def node(operator, inputs, outputs, **attributes):
    return helper.make_node(operator, inputs.split(), outputs.split(), outputs.split()[0], **attributes)


def body(nodes, inputs, outputs):
    return helper.make_graph(nodes, "body", inputs, outputs)


def rounds(nodes, states, results, condition=None):
    """A Loop's body. States go by name to name + '_', n being a whole number; `results` are put together."""

    def state(name, end=""):
        return value(name + end, INT64 if name == "n" else FLOAT)

    ends = [node("Identity", "go", "on")] if condition is None else condition
    return body(nodes + ends, [value("i", INT64, []), value("go", BOOL, [])] + [state(name) for name in states],
                [value("on", BOOL, [])] + [state(name, "_") for name in states] + [value(name) for name in results])


STEP = [node("MatMul", "s w", "m"), node("Tanh", "m", "s_")]
CONSTANTS = {
    "w": np.random.default_rng(1).standard_normal((WIDTH, WIDTH)).astype(np.float32) / WIDTH**0.5,
    "three": np.array(3), "none": np.array(0), "yes": np.array(True), "one": np.array(1), "half": np.float32(0.5),
    "large": np.ones((512, 512), np.float32), "axes": np.array([0, 1]),
    "nine": np.array([1, -1] + [1] * 6 + [WIDTH]), "eight": np.array([1] * 7 + [WIDTH]), "row": np.array([-1, WIDTH]),
}


def branch(nodes, output):
    return body(nodes, [], [value(output)])


def scanned(source, **axes):
    """A state of WIDTH, and a row or a column of the source for each step."""
    step = [node("Add", "s e", "t"), node("MatMul", "t w", "s_"), node("Relu", "s_", "f")]
    inside = body(step, [value("s", FLOAT, [WIDTH]), value("e", FLOAT, [WIDTH])],
                  [value("s_", FLOAT, [WIDTH]), value("f", FLOAT, [WIDTH])])
    return [node("ReduceMean", "x", "r", axes=[0], keepdims=0), node(
        "Scan", f"r {source}", "end y", body=inside, num_scan_inputs=1, **axes)]


# Nodes that make y of x, [rows, WIDTH], and `flag`, and how many of control flow are on Leat, and on the CPU.
MODELS = {
    "if": ([node("If", "flag", "y", then_branch=branch([node("MatMul", "x w", "a")], "a"),
                 else_branch=branch([node("Neg", "x", "b")], "b"))], 1, 0),
    "condition read inside": ([node("If", "flag", "y", then_branch=branch(
        [node("MatMul", "x w", "a"), node("Cast", "flag", "f", to=FLOAT), node("Mul", "a f", "c")], "c"),
        else_branch=branch([node("MatMul", "x w", "b")], "b"))], 1, 0),
    "condition of the device": ([node("MatMul", "x w", "p"), node("ReduceSum", "p axes", "q", keepdims=0),
                                 node("Less", "q half", "c"), node(
        "If", "c", "y", then_branch=branch([node("MatMul", "x w", "a")], "a"),
        else_branch=branch([node("Neg", "x", "b")], "b"))], 1, 0),
    "light branch": ([node("If", "flag", "y", then_branch=branch([node("MatMul", "x w", "a")], "a"), else_branch=branch(
        [node("Neg", "x", "b")], "b")), node("Relu", "y", "z")], 1, 0),
    "light branch, the other one": ([node("If", "flag", "y", then_branch=branch(
        [node("Neg", "x", "b")], "b"), else_branch=branch([node("MatMul", "x w", "a")], "a")), node("Relu", "y", "z")],
        1, 0),
    "loop": ([node("Loop", "three yes x", "y", body=rounds(STEP, ["s"], []))], 1, 0),
    "loop without rounds": ([node("Loop", "none yes x", "end y", body=rounds(
        STEP + [node("Identity", "m", "r")], ["s"], ["r"])), node("Add", "end x", "z")], 1, 0),
    "results of rounds": ([node("Loop", "three yes x", "end y", body=rounds(
        STEP + [node("Relu", "m", "r")], ["s"], ["r"]))], 1, 0),
    "round that ends it": ([node("Loop", "three yes x", "end y", body=rounds(
        STEP + [node("Relu", "m", "r")], ["s"], ["r"], [
            node("ReduceSum", "s_ axes", "q", keepdims=0), node("Less", "q half", "on")]))], 1, 0),
    "states of the host": ([node("Loop", "three yes one x", "n y", body=rounds(
        STEP + [node("Add", "n i", "n_")], ["n", "s"], []))], 1, 0),
    "many states": ([node("Loop", "three yes " + "x " * 20, "y " + " ".join(f"y{j}" for j in range(1, 20)), body=rounds(
        [node("MatMul", f"s{j} w", f"s{j}_") for j in range(20)], [f"s{j}" for j in range(20)], []))], 1, 0),
    # One value on the host and on the device at once.
    "rounds are a state": ([node("Loop", "three yes three x", "n y", body=rounds(
        STEP + [node("Add", "n i", "n_")], ["n", "s"], []))], 0, 1),
    "loop in if": ([node("If", "flag", "y", then_branch=branch(
        [node("Loop", "three yes x", "a", body=rounds(STEP, ["s"], []))], "a"),
        else_branch=branch([node("Identity", "x", "b")], "b"))], 2, 0),
    "scan": (scanned("x"), 1, 0),
    "scan by columns": ([node("Transpose", "x", "u")] + scanned("u", scan_input_axes=[1], scan_output_axes=[1]), 1, 0),
    # Large values, and no product.
    "pass over large values": ([node("ReduceMax", "x", "m"), node("Mul", "large m", "l"), node(
        "If", "flag", "p", then_branch=branch([node("Exp", "l", "a")], "a"),
        else_branch=branch([node("Neg", "l", "b")], "b")), node("ReduceMax", "p", "q"), node("Mul", "x q", "y")], 1, 0),
    # ONNX Runtime compares the types of the first of several values alone.
    "text as the second value": ([node("If", "flag", "y t", then_branch=body(
        [node("MatMul", "x w", "a"), node("Cast", "a", "c", to=STRING)], [], [value("a"), value("c", STRING)]),
        else_branch=body([node("Neg", "x", "b"), node("Cast", "b", "d", to=STRING)], [],
                         [value("b"), value("d", STRING)]))], 0, 1),
    "nine dimensions": ([node("Reshape", "x nine", "u"), node("Scan", "u", "v", num_scan_inputs=1, body=body(
        [node("Reshape", "e row", "f"), node("MatMul", "f w", "p"), node("Reshape", "p eight", "o")],
        [value("e", FLOAT, [1] * 7 + [WIDTH])], [value("o", FLOAT, [1] * 7 + [WIDTH])]),
        scan_input_axes=[1], scan_output_axes=[2]), node("Reshape", "v row", "y")], 1, 0),
    "counting": ([node("Loop", "three yes one", "n", body=rounds([node("Add", "n i", "n_")], ["n"], [])),
                  node("Cast", "n", "f", to=FLOAT), node("Mul", "x f", "y")], 0, 1),
}


# Those of which no node is on the CPU: a light branch follows the other one, whichever is asked for first.
WHOLE = ("if", "light branch", "light branch, the other one")

# Results of rounds that differ in size fail, also where they add up to as much as equal ones.
UNEQUAL = [node("Loop", "three yes x", "end y", body=rounds(
    STEP + [node("Gather", "sizes i", "size"), node("Slice", "m first size", "r")], ["s"], ["r"]))]
CONSTANTS.update(sizes=np.array([[2], [3], [1]]), first=np.array([0]))


def build(nodes):
    constants = [numpy_helper.from_array(array, name) for name, array in CONSTANTS.items()]
    graph = helper.make_graph(nodes, "graph", [value("x", FLOAT, ["n", WIDTH]), value("flag", BOOL, [])],
                              [value("y")], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def session(model, on):
    options = ort.SessionOptions()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if on:
        options.add_provider_for_devices(on, {})
    return ort.InferenceSession(model, options, providers=None if on else ["CPUExecutionProvider"])


def placed(made):
    """Nodes of control flow on Leat, and on others."""
    where = [part.ep_name for part in made.get_provider_graph_assignment_info() for one in part.get_nodes()
             if one.op_type in CONTROL]
    leat = sum(name == "LeatExecutionProvider" for name in where)
    return leat, len(where) - leat


def main():
    on_leat.choose_runtime()
    ort.set_default_logger_severity(3)
    devices = on_leat.devices(sys.argv[1])
    random = np.random.default_rng(52)
    wrong = 0
    for name, (nodes, leat, others) in MODELS.items():
        model = build(nodes)
        ours, cpu = session(model, devices), session(model, None)
        if hasattr(ours, "get_provider_graph_assignment_info") and placed(ours) != (leat, others):
            print(f"{name}: {placed(ours)} on Leat and on others, not {leat, others}")
            wrong += 1
        left = [one.op_type for part in getattr(ours, "get_provider_graph_assignment_info", list)()
                if part.ep_name != "LeatExecutionProvider" for one in part.get_nodes()]
        if name in WHOLE and left:
            print(f"{name}: {left} on the CPU")
            wrong += 1
        feeds = [{"x": random.standard_normal((rows, WIDTH)).astype(np.float32), "flag": np.array(bool(i % 2))}
                 for i, rows in enumerate((1, 5, 300, 5, 300))]
        expected = [cpu.run(None, feed)[0] for feed in feeds]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            got = [ours.run(None, feed)[0] for feed in feeds]
            got += pool.map(lambda feed: ours.run(None, feed)[0], feeds * 4)
        for i, array in enumerate(got):
            right = expected[i % len(feeds)]
            # Three products of WIDTH terms one after the other, of values below 16, by both providers.
            if array.shape != right.shape or not np.allclose(array, right, rtol=2**-15, atol=2**-15):
                print(f"{name}: Run {i} is wrong: {array.shape}, {right.shape}")
                wrong += 1
    for where, told in ((devices, "must have the same shape in all rounds"), (None, "Inconsistent shape")):
        try:
            session(build(UNEQUAL), where).run(None, {"x": np.ones((5, WIDTH), np.float32), "flag": np.array(True)})
            wrong += 1
            print("results of rounds that differ in size are put together")
        except Exception as error:  # whatever ONNX Runtime raises
            if told not in str(error):
                wrong += 1
                print(f"results of rounds that differ in size: {error}")
    print(f"{ort.__version__}: {len(MODELS)} models, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
