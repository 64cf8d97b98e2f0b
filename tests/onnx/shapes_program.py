#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tools/bench/shapes.py measures Leat on small models of its form, finds wrong outputs, and refuses bad use.

Usage: shapes_program.py LIBRARY
Exit status: 0 right, 1 not, 77 no Vulkan device.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import on_leat

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "bench", "shapes.py")
LAYERS, SHARED, HEAD = 6, 4, 32


def tensor(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def save(folder, name, nodes, inputs, outputs, constants):
    graph = helper.make_graph(nodes, name, inputs, outputs,
                              [numpy_helper.from_array(value, key) for key, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(folder, name + ".onnx"))


def write(folder):
    """y is a row of a table for each id, times the mask; a decoder whose caches grow by what a row holds."""
    table = np.random.default_rng(5).standard_normal((30000, HEAD)).astype(np.float32)
    node = helper.make_node
    save(folder, "server",
         [node("Gather", ["table", "ids"], ["rows"]), node("Cast", ["mask"], ["real"], to=TensorProto.FLOAT),
          node("Unsqueeze", ["real", "last"], ["column"]), node("Mul", ["rows", "column"], ["y"])],
         [tensor("ids", ["b", "n"], TensorProto.INT64), tensor("mask", ["b", "n"], TensorProto.INT64)],
         [tensor("y", ["b", "n", HEAD])], {"table": table, "last": np.array([-1])})
    nodes = [node("Gather", ["table", "ids"], ["logits"]), node("Unsqueeze", ["logits", "heads"], ["row"]),
             node("Expand", ["row", "shape"], ["new"])]
    past, present = [f"past{i}" for i in range(2 * LAYERS)], [f"present{i}" for i in range(2 * LAYERS)]
    nodes += [node("Concat", [before, "new"], [after], axis=2) for before, after in zip(past, present)]
    save(folder, "decoder", nodes,
         [tensor("ids", ["b", "n"], TensorProto.INT64), tensor("mask", ["b", "t"], TensorProto.INT64)]
         + [tensor(name, ["b", SHARED, "p", HEAD]) for name in past],
         [tensor("logits", ["b", "n", HEAD])] + [tensor(name, ["b", SHARED, "t", HEAD]) for name in present],
         {"table": table[:2000], "heads": np.array([1]), "shape": np.array([1, SHARED, 1, HEAD])})


def run(*arguments):
    done = subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, text=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def main():
    if len(sys.argv) != 2:
        print("usage: shapes_program.py LIBRARY", file=sys.stderr)
        sys.exit(2)
    on_leat.devices(sys.argv[1])
    failures = []

    def expect(what, condition, got):
        if not condition:
            failures.append(what)
            print(f"{what}: {got}")

    with tempfile.TemporaryDirectory() as folder:
        code, rows, said = run("server", folder, sys.argv[1])
        expect("a folder without models", code == 1 and "shapes.py make" in said, said)
        write(folder)
        code, rows, said = run("server", folder, sys.argv[1], "--seconds", "2", "--threads", "2", "--batch", "2",
                               "--lengths", "1:9", "--check", "3")
        expect("server", code == 0 and len(rows) == 1 and rows[0]["wrong"] == 0 and rows[0]["runs_per_s"] > 0
               and 2 <= rows[0]["shapes"] <= 18 and rows[0]["never_seen"], (rows, said))
        code, rows, said = run("decoder", folder, sys.argv[1], "--threads", "1,2", "--tokens", "4", "--warm", "probe")
        expect("decoder", code == 0 and [row["threads"] for row in rows] == [1, 1, 1, 2, 2, 2]
               and all(row["tokens_per_s"] > 0 and row["session_s"] > 0 for row in rows), (rows, said))
        code, rows, said = run("server", folder, sys.argv[1], "--lengths", "9:4")
        expect("lengths the wrong way round", code == 2 and "--lengths" in said, said)
        code, rows, said = run("server", folder, os.path.join(folder, "none.so"))
        expect("a library that is not there", code == 1 and "none.so" in said, said)
    print(f"{len(failures)} of 5 failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
