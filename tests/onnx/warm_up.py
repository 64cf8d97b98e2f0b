#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the pipelines that Runs compile after a session was prepared, and tries values of the option warm_shapes.

usage: warm_up.py LIBRARY

LIBRARY is libleat_onnxruntime.so. Models with open dimensions run with sizes that a generator draws, each in a process
of its own, whose log (LEAT_LOG=info) has a line for each pipeline that a Run compiles: an eighth at most of what Runs
compile where nothing is prepared. Exit status: 0, or 1 if there are more or a value is taken or refused wrongly, 77 if
there is no device.
"""
import os
import re
import subprocess
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import on_leat

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models")
RUNS, LIMIT = 60, 64
TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64}


def decoder():
    """A step whose keys and values go in and come out longer, by names of dimensions that say nothing of their sum, and
    which a fused subgraph behind the CPU provider's node takes on."""
    node, value, f32 = helper.make_node, helper.make_tensor_value_info, TensorProto.FLOAT
    weights = {name: np.full((16, 16), 0.1, np.float32) for name in ("wq", "wk", "wv", "wo")}
    nodes = [
        node("MatMul", ["x", "wq"], ["q"]), node("MatMul", ["x", "wk"], ["k"]), node("MatMul", ["x", "wv"], ["v"]),
        node("Concat", ["past_k", "k"], ["keys"], axis=1), node("Concat", ["past_v", "v"], ["values"], axis=1),
        node("Transpose", ["keys"], ["columns"], perm=[0, 2, 1]), node("MatMul", ["q", "columns"], ["scores"]),
        node("Add", ["scores", "mask"], ["masked"]), node("Softmax", ["masked"], ["p"], axis=-1),
        node("MatMul", ["p", "values"], ["z"]), node("MatMul", ["z", "wo"], ["o"]), node("Add", ["o", "x"], ["y"])]
    shape = {"x": ["b", "l", 16], "mask": ["b", 1, "all"], "past_k": ["b", "before", 16], "past_v": ["b", "before", 16]}
    graph = helper.make_graph(nodes, "decoder", [value(name, f32, dims) for name, dims in shape.items()],
                              [value("y", f32, ["b", "l", 16]), value("keys", f32, ["b", "all", 16]),
                               value("values", f32, ["b", "all", 16])],
                              [numpy_helper.from_array(each, name) for name, each in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


MODELS = {"decoder": decoder, **{name: lambda name=name: os.path.join(FIXTURES, name + ".onnx")
                                 for name in ("bert.dynamic", "mlp.dynamic", "resnet.dynamic")}}


def make_session(model, found, option):
    options = ort.SessionOptions()
    options.log_severity_level = 1
    options.add_provider_for_devices(found, {"warm_shapes": option} if option else {})
    return ort.InferenceSession(model, options)


def draw(random, name):
    return int(random.integers(1, 5)) if name in ("b", "batch") else int(random.integers(1, 48))


def run(library, name, option):
    """What a process of its own does: makes a session, tells of that, and runs it."""
    session = make_session(MODELS[name](), on_leat.devices(library), option)
    print("made", file=sys.stderr, flush=True)
    random = np.random.default_rng(1)
    for _ in range(RUNS):
        sizes = {}
        for each in session.get_inputs():
            for dim in each.shape:
                sizes[dim] = dim if isinstance(dim, int) else sizes.get(dim) or draw(random, dim)
        if "all" in sizes:
            sizes["all"] = sizes["l"] + sizes["before"]
        session.run(None, {each.name: np.ones([sizes[dim] for dim in each.shape], TYPES[each.type])
                           for each in session.get_inputs()})


def count(library, name, option):
    """Pipelines that a session compiled before the first Run, and Runs did."""
    done = subprocess.run([sys.executable, os.path.abspath(__file__), library, name, option], capture_output=True,
                          text=True, env={**os.environ, "LEAT_LOG": "info"}, check=False)
    if done.returncode == on_leat.SKIPPED:
        sys.exit(on_leat.SKIPPED)
    before, made, after = done.stderr.partition("made\n")
    if done.returncode != 0 or not made:
        sys.exit(f"warm_up.py: {name} with '{option}' ended with {done.returncode}:\n{done.stderr[-2000:]}")
    ahead = re.search(r"(\d+) pipelines were compiled before the first Run", before)
    return int(ahead.group(1)) if ahead else 0, after.count("a request has compiled a pipeline")


def check_model(library, name):
    cold, prepared = count(library, name, "none"), count(library, name, "probe")
    print(f"{name}: {prepared[0]} pipelines ahead, then {prepared[1]} in {RUNS} Runs of drawn sizes; without {cold[1]}")
    return cold[0] == 0 and 0 < prepared[0] <= LIMIT and cold[1] >= 8 and prepared[1] * 8 <= cold[1]


def check_values(found):
    """Values that are refused, with what the message says; and values that are taken."""
    good = ["", "none", "probe", "b=1,l=1,before=8,all=9", "b = 1, l = 2 , all=2,before=0; b=1,l=1,before=2,all=3",
            "b=1,l=1,before=8,all=3"]
    bad = {
        "yes": "it must be 'probe', 'none', or", "b=1;": "it must be", "b=-1,l=1,before=1,all=2": "it must be",
        "b=2147483648,l=1,before=1,all=2": "from 0 to 2147483647", "b=1=2": "it must be", "=1": "it must be",
        ";".join(["b=1,l=1,before=1,all=2"] * 65): "up to 64 sets",
        "batch=1,l=1,before=1,all=2": "the model has no dimension 'batch'; it has b, l, all, before",
        "b=1,b=1,l=1,before=1,all=2": "dimension 'b' is there twice",
        "b=1,l=1,before=1": "the set 'b=1,l=1,before=1' leaves out dimension 'all'",
    }
    wrong = []
    for option in good:
        try:
            make_session(decoder(), found, option)
        except Exception as error:  # pylint: disable=broad-except
            wrong.append(f"'{option}' is refused: {error}")
    for option, message in bad.items():
        try:
            make_session(decoder(), found, option)
            wrong.append(f"'{option[:40]}' is taken")
        except Exception as error:  # pylint: disable=broad-except
            if message not in str(error) or "warm_shapes" not in str(error):
                wrong.append(f"'{option[:40]}' is refused without '{message}': {error}")
    for each in wrong:
        print(f"warm_up.py: warm_shapes {each}", file=sys.stderr)
    return not wrong


def main():
    if len(sys.argv) == 4:
        run(*sys.argv[1:])
        return 0
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = on_leat.devices(sys.argv[1])
    right = [check_model(sys.argv[1], name) for name in MODELS]
    return 0 if check_values(found) and all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
