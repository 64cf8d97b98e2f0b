#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run fixtures in float16, all nodes on Leat, by fused subgraphs and node by node.

Usage: halves.py LIBRARY [MODEL.onnx...]     (LIBRARY: libleat_onnxruntime.so; without models, those of FIXTURES)

Every float of a model is made float16. Both ways must give what float32 gives of the same numbers, but for the rounding
of each operator's result; and the same bits where LEAT_FUSIONS_OFF is all: what is fused rounds once.

Exit status: 0 right, 1 not, 77 no Vulkan device.
"""
import os
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, numpy_helper

NO_DEVICE = 77
HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = ("resnet.dynamo", "resnet.script", "mobilenet_v3.dynamo", "mobilenet_v3.script", "vit.script", "bert.script",
            "gpt2.dynamo")
BATCH, TOKENS, WORDS = 2, 9, 96
LARGEST = 65504  # of float16: what stands for minus infinity in a mask stays finite


def rounded(tensor, to):
    """A tensor of floats whose numbers are float16's, as the type `to`; others as they are."""
    if tensor.data_type != TensorProto.FLOAT:
        return tensor
    numbers = np.clip(numpy_helper.to_array(tensor), -LARGEST, LARGEST).astype(np.float16).astype(to)
    return numpy_helper.from_array(numbers, tensor.name)


def in_type(path, to):
    """The model with all weights rounded to float16, of which and of the rest each float has the type `to`."""
    model = onnx.load(path)
    graph = model.graph
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(to))
    for tensor in graph.initializer:
        tensor.CopyFrom(rounded(tensor, to))
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                attribute.t.CopyFrom(rounded(attribute.t, to))
            elif node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = kind
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = kind
    return model


def depth(model):
    """Nodes on the longest way from an input to an output."""
    far = {}
    for node in model.graph.node:
        before = max([far.get(name, 0) for name in node.input], default=0)
        far.update({name: before + 1 for name in node.output})
    return max(far.values())


def numbers_for(model):
    """Inputs by name: images whose numbers are float16's, or words, the last of which is masked in one text."""
    random = np.random.default_rng(0)
    given = {}
    for value in model.graph.input:
        if value.type.tensor_type.elem_type == TensorProto.INT64:
            given[value.name] = random.integers(1, WORDS, (BATCH, TOKENS))
            if value.name == "attention_mask":
                given[value.name] = np.ones((BATCH, TOKENS), np.int64)
                given[value.name][0, -1] = 0
        else:
            shape = [BATCH] + [d.dim_value for d in value.type.tensor_type.shape.dim][1:]
            given[value.name] = random.standard_normal(shape).astype(np.float16)
    return given


def run(model, given, device=None, path=""):
    """Outputs, and the operators of the nodes that did not run on the device."""
    options = ort.SessionOptions()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    # On x86-64 processors without VNNI the CPU provider's sums of uint8 by int8 saturate at 16 bits, but with this.
    options.add_session_config_entry("session.x64quantprecision", "1")
    if device is not None:
        options.add_provider_for_devices([device], {path: "1"})
    session = ort.InferenceSession(model.SerializeToString(), options)
    elsewhere = [node.op_type for part in session.get_provider_graph_assignment_info() for node in part.get_nodes()
                 if part.ep_name != "LeatExecutionProvider"]
    kinds = {"tensor(float16)": np.float16, "tensor(float)": np.float32, "tensor(int64)": np.int64}
    feed = {wanted.name: given[wanted.name].astype(kinds[wanted.type]) for wanted in session.get_inputs()}
    return session.run(None, feed), elsewhere


def check(path, device):
    """What is wrong; nothing: all is right."""
    half, single = in_type(path, np.float16), in_type(path, np.float32)
    given = numbers_for(half)
    expected, _ = run(single, given)
    subgraphs, elsewhere = run(half, given, device, "force_graph_path")
    nodes, _ = run(half, given, device, "force_direct_path")
    # An operator's result is off by 2^-11 of itself at most, and those behind it, whose numbers are as large, make no
    # more of it.
    most = depth(half) * 2.0**-11
    worst, worst_node = 0, 0
    alike = os.environ.get("LEAT_FUSIONS_OFF") == "all"
    wrong = [f"these nodes did not run on Leat: {elsewhere}"] if elsewhere else []
    for a, b, c in zip(subgraphs, nodes, expected):
        worst = max(worst, np.abs(a.astype(np.float64) - c).max() / np.abs(c).max())
        worst_node = max(worst_node, np.abs(b.astype(np.float64) - c).max() / np.abs(c).max())
        if alike and a.tobytes() != b.tobytes():
            wrong.append("fused subgraphs and single nodes give other bits")
    if not max(worst, worst_node) <= most:
        wrong.append("the outputs are too far off")
    print(f"{os.path.basename(path)}: {worst:.2g} of the largest output off, node by node {worst_node:.2g}; at most "
          f"{most:.2g} is expected")
    return wrong


def status_of(check, cases):
    """Calls check(*case, device), which gives lines about what is wrong, for each case; gives the exit status."""
    ort.set_default_logger_severity(3)
    ort.register_execution_provider_library("leat", os.path.abspath(sys.argv[1]))
    devices = [device for device in ort.get_ep_devices() if device.ep_name == "LeatExecutionProvider"]
    if not devices:
        return NO_DEVICE
    status = 0
    for case in cases:
        for line in check(*case, devices[0]):
            print(f"  {line}")
            status = 1
    return status


def main():
    paths = sys.argv[2:] or [os.path.join(HERE, name + ".onnx") for name in FIXTURES]
    return status_of(check, [(path,) for path in paths])


if __name__ == "__main__":
    sys.exit(main())
