#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs Einsum through ONNX Runtime with Leat and compares with numpy.einsum.

usage: einsum.py LIBRARY

LIBRARY is libleat_onnxruntime.so. ONNX's node tests of Einsum have float64, which Leat does not compute in: here they
have float32, and so have equations as models have them, which also take a part of a tensor. All nodes must run on
Leat, but for an equation of more operands than it takes. As a graph, which reads parts where they lie, they have the
same bits as node by node. Exit status: 0, or 1 if a result is wrong, 77 if there is no device.
"""
import sys
import warnings

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

import on_leat

OPSET, IR_VERSION = 17, 8
HEADS = ([2, 9, 3, 16], [2, 7, 3, 16])
CASES = [
    ("bqhd,bkhd->bhqk", *HEADS),
    ("bhqk,bkhd->bqhd", [2, 3, 9, 7], HEADS[1]),
    ("bhqd,bhkd->bhqk", [2, 3, 9, 16], [2, 3, 7, 16]),
    ("bhwc,hkc->bhwk", [6, 14, 14, 8], [14, 14, 8]),
    ("bhwc,wkc->bhwk", [6, 14, 14, 8], [14, 14, 8]),
    ("bsd,dhk->bshk", [2, 9, 32], [32, 3, 8]),
    ("nctv,kvw->nkctw", [2, 4, 6, 9], [3, 9, 9]),
    ("nkctv,kvw->nctw", [2, 3, 4, 6, 9], [3, 9, 9]),
    ("i , j -> i j", [16], [20]),
    ("ij,jk,kl->il", [5, 6], [6, 7], [7, 8]),
]
MARGINS = (0, 1, 8)  # elements beside a part: it lies as a copy of it does, or not
MANY = ("ij,jk,kl,lm->im", [5, 6], [6, 7], [7, 8], [8, 9])


def model_of(equation, inputs, margin):
    """A model as bytes; without so many at both ends of the first operand's last dimension."""
    names = [f"x{i}" for i in range(len(inputs))]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape) for name, x in zip(names, inputs)]
    nodes, constants = [], []
    if margin:
        constants = [helper.make_tensor(name, TensorProto.INT64, [1], [value])
                     for name, value in (("start", margin), ("end", -margin), ("axis", inputs[0].ndim - 1))]
        nodes = [helper.make_node("Slice", ["x0", "start", "end", "axis"], ["part"])]
    operands = (["part"] if margin else names[:1]) + names[1:]
    nodes.append(helper.make_node("Einsum", operands, ["y"], equation=equation))
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "einsum", values, outputs, constants)
    domains = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=domains, ir_version=IR_VERSION).SerializeToString()


def cases():
    """Equations and operands: ONNX's, then those above."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        published = [case for case in collect_testcases("Einsum") if not case.name.endswith("bfloat16")]
    for case in published:
        equation = case.model.graph.node[0].attribute[0].s.decode()
        yield equation, [np.asarray(x, np.float32) for x in case.data_sets[0][0]]
    numbers = np.random.default_rng(1)
    for equation, *shapes in CASES:
        yield equation, [numbers.standard_normal(shape).astype(np.float32) for shape in shapes]


def direct(model, devices):
    """A session that runs node by node."""
    options = ort.SessionOptions()
    options.add_provider_for_devices(devices, {"force_direct_path": "1"})
    return ort.InferenceSession(model, options)


def close(got, equation, operands):
    wide = [x.astype(np.float64) for x in operands]
    wanted = np.einsum(equation.replace(" ", ""), *wide)
    magnitude = np.einsum(equation.replace(" ", ""), *map(np.abs, wide))
    return got.shape == wanted.shape and bool((np.abs(got - wanted) <= 1e-5 * magnitude + 1e-6).all())


def main():
    devices = on_leat.devices_of_command_line(__doc__)
    ort.set_default_logger_severity(3)
    count = wrong = 0
    for equation, operands in cases():
        for margin in MARGINS if operands[0].ndim > 0 else MARGINS[:1]:
            inputs = list(operands)
            if margin:
                ends = [(0, 0)] * (inputs[0].ndim - 1) + [(margin, margin)]
                inputs[0] = np.pad(inputs[0], ends, constant_values=np.nan)
            model = model_of(equation, inputs, margin)
            feeds = {f"x{i}": x for i, x in enumerate(inputs)}
            got = on_leat.session(model, devices).run(None, feeds)[0]
            same = got.tobytes() == direct(model, devices).run(None, feeds)[0].tobytes()
            count += 1
            if not same or not close(got, equation, operands):
                wrong += 1
                what = f'"{equation}"{" of a part" if margin else ""} of {[list(x.shape) for x in operands]}'
                print(f"{what} is {'wrong' if same else 'another one node by node'}")
    # More operands than Leat takes: it leaves the node to the CPU provider.
    equation, *shapes = MANY
    inputs = [np.ones(shape, np.float32) for shape in shapes]
    options = ort.SessionOptions()
    options.add_provider_for_devices(devices, {})
    session = ort.InferenceSession(model_of(equation, inputs, 0), options)
    if not close(session.run(None, {f"x{i}": x for i, x in enumerate(inputs)})[0], equation, inputs):
        wrong += 1
        print(f'"{equation}" is wrong')
    print(f"{count + 1} models, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
