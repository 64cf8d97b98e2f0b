#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run models whose bodies of If, Loop and Scan read what the graph around them has, or what is fed, on Leat.

ONNX Runtime copies what is fed to a body on a stream of that body's own, with nobody notified. Each Run here has other
inputs than the one before, so that a body that reads too early reads what is wrong. Sizes lie around each threshold at
which an upload takes another way; bodies lie in bodies, and beside nodes of the CPU provider; Runs come from one thread
and from eight, on one session and on four, sequential and parallel, bound by IOBinding, and after copies on a stream of
the application's.

Usage: bodies.py LIBRARY [--oldest] [--unchecked] [--few]
--oldest: ONNX Runtime is the one in the folder of packages that LEAT_TEST_OLDEST names. --unchecked: only that each Run
succeeds, for a driver that computes nothing; with LEAT_MEMORY_GUARD=1 a read that nothing orders fails. --few: of each
model the Runs most likely to read too early, just above the size that the host writes itself. Exit status: 0 right, 1
not, 77 no Vulkan device, or no folder for --oldest.
"""
import concurrent.futures
import inspect
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import on_leat

WIDTH = 64
# Bytes: what the host may write itself ends at 64 KiB, what it sees of the device at 1 MiB.
KIB = 1024
SIZES = [64 * KIB, 64 * KIB + 4 * WIDTH, 1024 * KIB + 4 * WIDTH]
THREADS = 8


def tensor(name, shape, kind=None):
    return helper.make_tensor_value_info(name, kind or TensorProto.FLOAT, shape)


def product(source, name):
    """name = source weights, the work of a body."""
    return helper.make_node("MatMul", [source, "weights"], [name], "product_" + name)


def branches(nodes, outputs):
    """An If whose two bodies make `outputs` of the same nodes; `nodes(prefix)` gives them, for names of their own."""
    bodies = [helper.make_graph(nodes(prefix), prefix + "body", [],
                                [tensor(prefix + name, [None, WIDTH]) for name in outputs])
              for prefix in ("then_", "else_")]
    return dict(then_branch=bodies[0], else_branch=bodies[1])


def if_model(source="x"):
    return [helper.make_node("If", ["yes"], ["y"], "if", **branches(lambda p: [product(source, p + "r")], ["r"]))]


def nested_model(source="x"):
    """A body that reads the value, and a body inside it that does so too."""

    def outer(prefix):
        inner = helper.make_node("If", ["yes"], [prefix + "i"], prefix + "inner",
                                 **branches(lambda p: [product(source, prefix + p + "r")], [""]))
        for body in inner.attribute:
            body.g.output[0].name = prefix + body.g.name.replace("body", "r")
        return [inner, product(source, prefix + "o"),
                helper.make_node("Add", [prefix + "i", prefix + "o"], [prefix + "r"])]

    return [helper.make_node("If", ["yes"], ["y"], "if", **branches(outer, ["r"]))]


def loop_model(source="x"):
    """Two rounds, each of which adds the product to its state."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]), product(source, "m"),
         helper.make_node("Add", ["s", "m"], ["t"])],
        "round", [tensor("i", [], TensorProto.INT64), tensor("go", [], TensorProto.BOOL), tensor("s", [None, WIDTH])],
        [tensor("go_on", [], TensorProto.BOOL), tensor("t", [None, WIDTH])])
    return [helper.make_node("Loop", ["rounds", "", "x"], ["y"], "loop", body=body)]


def scan_model(source="x"):
    """y = x + the sum over two rows of ones of the product."""
    body = helper.make_graph(
        [product(source, "m"), helper.make_node("Add", ["s", "m"], ["t"]), helper.make_node("Identity", ["e"], ["f"])],
        "step", [tensor("s", [None, WIDTH]), tensor("e", [1])], [tensor("t", [None, WIDTH]), tensor("f", [1])])
    return [helper.make_node("Scan", ["x", "steps"], ["y", "unused"], "scan", body=body, num_scan_inputs=1)]


def on_the_cpu(make):
    """The body's value h is x + 0, where the zero comes from the CPU provider: Leat has no Det."""
    nodes = [helper.make_node("Cast", ["yes"], ["one"], "cast", to=TensorProto.FLOAT),
             helper.make_node("Mul", ["one", "zeros"], ["matrix"], "mul"),
             helper.make_node("Det", ["matrix"], ["zero"], "det"),
             helper.make_node("Sum", ["x", "zero"], ["h"], "sum")]
    return nodes + make("h")


# What each model computes, of x and weights.
MODELS = {
    "if": (if_model, lambda x, p: p),
    "nested": (nested_model, lambda x, p: 2 * p),
    "loop": (loop_model, lambda x, p: x + 2 * p),
    "scan": (scan_model, lambda x, p: x + 2 * p),
}


def build(nodes, weights):
    """A model that reads x outside of the body too, so that x is brought to the device for both."""
    constants = {"weights": weights, "rounds": np.array(2), "steps": np.ones((2, 1), np.float32),
                 "zeros": np.zeros((2, 2), np.float32)}
    graph = helper.make_graph(
        [product("x", "z")] + nodes, "graph", [tensor("x", ["n", WIDTH]), tensor("yes", [], TensorProto.BOOL)],
        [tensor("y", ["n", WIDTH]), tensor("z", ["n", WIDTH])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


class Check:
    def __init__(self, device, checked):
        self.device, self.checked = device, checked
        self.random = np.random.default_rng(48)
        self.weights = (self.random.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5).astype(np.float32)
        self.wrong = 0

    def session(self, model, parallel=False):
        options = ort.SessionOptions()
        if parallel:
            options.execution_mode = ort.ExecutionMode.ORT_PARALLEL
            options.inter_op_num_threads = 4
        options.add_provider_for_devices([self.device], {})
        return ort.InferenceSession(model, options, enable_fallback=0)

    def feeds(self, size):
        x = self.random.standard_normal((size // (4 * WIDTH), WIDTH)).astype(np.float32)
        return {"x": x, "yes": np.array(bool(self.random.integers(2)))}

    def compare(self, what, got, x, function):
        """Within what a product of WIDTH terms, added up thrice, rounds to: WIDTH + 4 half units of the largest sum."""
        if not self.checked:
            return
        exact = x.astype(np.float64) @ self.weights.astype(np.float64)
        largest = np.abs(x).astype(np.float64) @ np.abs(self.weights).astype(np.float64)
        bound = 2 * (WIDTH + 4) * 2.0**-24 * (2 * largest + np.abs(x))
        for name, value, expected in (("y", got[0], function(x, exact)), ("z", got[1], exact)):
            off = np.abs(value - expected) / bound
            if not off.max() <= 1:
                self.wrong += 1
                print(f"{what}: {name} is wrong, by {off.max():.1f} of the bound in {(off > 1).mean():.0%} of it")

    def run(self, what, session, size, function):
        feeds = self.feeds(size)
        self.compare(what, session.run(None, feeds), feeds["x"], function)

    def on_device(self, shape):
        info = self.device.memory_info(ort.OrtDeviceMemoryType.DEFAULT)
        return ort.OrtValue.ortvalue_from_shape_and_type(list(shape), np.float32, memory_info=info)

    def run_bound(self, what, session, size, function):
        """x is bound from the host, the results stay on the device until they are asked for."""
        feeds = self.feeds(size)
        binding = session.io_binding()
        for name, value in feeds.items():
            binding.bind_cpu_input(name, value)
        results = [self.on_device(feeds["x"].shape) for _ in range(2)]
        for name, result in zip(("y", "z"), results):
            binding.bind_ortvalue_output(name, result)
        session.run_with_iobinding(binding)
        got = [value.numpy() for value in results]
        self.compare(what + ", bound", got, feeds["x"], function)

    def run_copied(self, what, session, size, function, stream):
        """x is copied to the device on a stream of the application's, for which nothing has waited when the Run
        begins."""
        feeds = self.feeds(size)
        x = self.on_device(feeds["x"].shape)
        ort.copy_tensors([ort.OrtValue.ortvalue_from_numpy(feeds["x"])], [x], stream)
        values = {"x": x, "yes": ort.OrtValue.ortvalue_from_numpy(feeds["yes"])}
        got = [value.numpy() for value in session.run_with_ort_values(None, values)]
        self.compare(what + ", copied", got, feeds["x"], function)


def main():
    on_leat.choose_runtime()
    checked = "--unchecked" not in sys.argv
    ort.set_default_logger_severity(3)
    device = on_leat.devices(sys.argv[1])[0]
    here = Check(device, checked)
    stream = device.create_sync_stream() if hasattr(device, "create_sync_stream") else None
    # From release 1.28 on a value can be made in the device's memory.
    makes = "memory_info" in inspect.signature(ort.OrtValue.ortvalue_from_shape_and_type).parameters
    copies = makes and stream is not None
    few = "--few" in sys.argv
    sizes = SIZES[1:2] if few else SIZES
    # Such a driver completes nothing but what is waited for, which workers do for each node.
    modes = (False, True) if checked and not few else (False,)
    runs = 0
    for name, (make, function) in MODELS.items():
        for source in ("h",) if few else ("x", "h"):
            # h is x by way of the CPU provider, which has the only kernel of Det.
            nodes = make("x") if source == "x" else on_the_cpu(make)
            model = build(nodes, here.weights)
            for parallel in modes:
                sessions = [here.session(model, parallel) for _ in range(4)]
                what = f"{name} of {source}{', parallel' if parallel else ''}"
                for size in sizes:
                    here.run(f"{what}, {size} bytes", sessions[0], size, function)
                    here.run(f"{what}, {size} bytes", sessions[0], size, function)
                if makes:
                    here.run_bound(what, sessions[0], 256 * KIB, function)
                if copies:
                    here.run_copied(what, sessions[0], 256 * KIB, function, stream)
                with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
                    list(pool.map(lambda i: here.run(f"{what}, thread", sessions[0 if i < 8 else i % 4], 128 * KIB,
                                                     function), range(16)))
                runs += 2 * len(sizes) + makes + copies + 16
    print(f"{ort.__version__}: {runs} Runs, {here.wrong} wrong")
    return 1 if here.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
