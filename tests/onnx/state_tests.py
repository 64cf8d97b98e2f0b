#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares layers that go on from a state with ONNX Runtime's CPU provider, step by step.

usage: state_tests.py LIBRARY

LIBRARY is libleat_onnxruntime.so. A layer takes the state that it gave for the tokens before: several at once, then one
by one. What Leat computes in float32 must be within 2e-5 of the largest number of the CPU provider's, which adds up in
another order; in float16 within 4e-3, for that provider computes in float32 between casts, as Leat does. Exit status:
0, or 1 if an answer is wrong, 77 if there is no device.
"""
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

import on_leat

STEPS = (5, 1, 1, 9, 1)  # tokens
WITHIN = {np.float32: 2e-5, np.float16: 4e-3}
MICROSOFT = "com.microsoft"


class Layer:
    """One node. `inputs` and `states`: dimensions by name, -1 for the tokens; a state's name is of what is taken, and
    what is given is called the same with a prefix."""

    def __init__(self, operator, order, inputs, outputs, states=None, ranges=None, domain=MICROSOFT, **attributes):
        self.operator, self.order, self.domain, self.attributes = operator, order, domain, attributes
        self.inputs, self.outputs, self.states, self.ranges = inputs, outputs, states or {}, ranges or {}
        self.title = ", ".join([operator, *(f"{key}={value}" for key, value in attributes.items())])

    def model(self, type_):
        code = helper.np_dtype_to_tensor_dtype(np.dtype(type_))
        given = [helper.make_tensor_value_info(name, self.code_of(name, code), [f"{name}{d}" for d in range(len(dims))])
                 for name, dims in {**self.inputs, **self.states}.items()]
        taken = [helper.make_tensor_value_info(name, code, None)
                 for name in [*self.outputs, *(f"next_{name}" for name in self.states)]]
        node = helper.make_node(self.operator, self.order, [value.name for value in taken], domain=self.domain,
                                **self.attributes)
        graph = helper.make_graph([node], "layer", given, taken)
        sets = [helper.make_opsetid("", 22), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=sets, ir_version=10).SerializeToString()

    def code_of(self, name, code):
        return TensorProto.FLOAT if self.operator == "LinearAttentionGate" and name in ("bias", "scale") else code

    def feeds(self, numbers, type_, tokens):
        made = {}
        for name, dims in self.inputs.items():
            low, high = self.ranges.get(name, (-1, 1))
            own = np.float32 if self.code_of(name, 0) == TensorProto.FLOAT else type_
            made[name] = numbers.uniform(low, high, [tokens if d == -1 else d for d in dims]).astype(own)
        return made


def attention(heads, kv_heads, size, value_size, **attributes):
    inputs = {"query": (2, -1, heads * size), "key": (2, -1, kv_heads * size), "value": (2, -1, kv_heads * value_size)}
    rule = attributes.get("update_rule", "gated_delta")
    inputs.update({"decay": (2, -1, kv_heads)} if "gated" in rule else {})
    inputs.update({"beta": (2, -1, kv_heads)} if "delta" in rule else {})
    order = ["query", "key", "value", "past"] + [name if name in inputs else "" for name in ("decay", "beta")]
    while order[-1] == "":
        order.pop()
    return Layer("LinearAttention", order, inputs, ["y"], {"past": (2, kv_heads, size, value_size)},
                 {"key": (-0.3, 0.3), "decay": (-1, 0), "beta": (0, 1)}, q_num_heads=heads, kv_num_heads=kv_heads,
                 **attributes)


def convolution(channels, taps, **attributes):
    last = attributes.get("channels_last", 0) == 1
    held = (taps - 1) * attributes.get("dilation", 1)
    dims = (lambda positions: (2, positions, channels) if last else (2, channels, positions))
    return Layer("CausalConvWithState", ["x", "weights", "bias", "past"],
                 {"x": dims(-1), "weights": (channels, 1, taps), "bias": (channels,)}, ["y"], {"past": dims(held)},
                 **attributes)


LAYERS = [
    attention(2, 2, 16, 16), attention(4, 2, 9, 12), attention(2, 4, 8, 8, scale=0.5),
    attention(2, 2, 16, 8, update_rule="linear"), attention(2, 2, 16, 8, update_rule="gated"),
    attention(3, 1, 16, 8, update_rule="delta"),
    convolution(12, 4, activation="silu"), convolution(7, 3), convolution(12, 3, dilation=2, channels_last=1),
    Layer("LinearAttentionGate", ["a", "bias", "scale", "b"],
          {"a": (2, -1, 5), "bias": (5,), "scale": (5,), "b": (2, -1, 5)}, ["decay", "beta"]),
    Layer("GatedRMSNorm", ["x", "scale", "gate"], {"x": (2, -1, 32), "scale": (16,), "gate": (2, -1, 32)}, ["y"],
          ranges={"gate": (-6, 6)}),
    Layer("GatedRMSNorm", ["x", "scale", "gate"], {"x": (2, -1, 33), "scale": (33,), "gate": (2, -1, 33)}, ["y"],
          activation="sigmoid", epsilon=0.25),
    Layer("LpNormalization", ["x"], {"x": (2, -1, 33)}, ["y"], domain="", axis=-1, p=2),
    Layer("LpNormalization", ["x"], {"x": (2, -1, 33)}, ["y"], domain="", axis=1, p=1),
]


def difference(layer, type_, devices, numbers):
    """The largest difference of an element by the largest number of its output, over all steps."""
    model = layer.model(type_)
    sessions = [on_leat.session(model, devices), ort.InferenceSession(model, providers=["CPUExecutionProvider"])]
    constant = layer.feeds(numbers, type_, 1)
    states = [{name: np.zeros(dims, type_) for name, dims in layer.states.items()} for _ in sessions]
    worst = 0.0
    for tokens in STEPS:
        fed = {name: constant[name] if -1 not in layer.inputs[name] else value
               for name, value in layer.feeds(numbers, type_, tokens).items()}
        answers = [session.run(None, {**fed, **state}) for session, state in zip(sessions, states)]
        for mine, theirs in zip(*answers):
            theirs = theirs.astype(np.float64)
            worst = max(worst, float(np.max(np.abs(mine - theirs)) / max(np.max(np.abs(theirs)), 1e-6)))
        for state, answer in zip(states, answers):
            state.update(zip(layer.states, answer[len(layer.outputs):]))
    return worst


def main():
    devices = on_leat.devices_of_command_line(__doc__)
    numbers = np.random.default_rng(1)
    wrong = 0
    for type_, within in WITHIN.items():
        for layer in LAYERS:
            worst = difference(layer, type_, devices, numbers)
            if not worst <= within:
                wrong += 1
                print(f"{layer.title} of {type_.__name__}: differs by {worst:.1e} of the largest, {within:.0e} allowed")
    print(f"{len(LAYERS) * len(WITHIN) - wrong} of {len(LAYERS) * len(WITHIN)} layers agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
