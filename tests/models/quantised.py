#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run quantised fixtures (quantise.py), all nodes on Leat, by fused subgraphs and node by node.

Usage: quantised.py LIBRARY     (LIBRARY: libleat_onnxruntime.so)

Both ways must agree with the CPU provider. Numbers that lie between two whole ones may be rounded to either, as what
was computed before them is off by a few units of float32; of all activations each is off by half a step by quantising,
and those few by one. So no answer may be further from the CPU provider's than half of what that is from the model
before it was quantised.

Exit status: 0 right, 1 not, 77 no Vulkan device.
"""
import os
import sys

import numpy as np
import onnx

from halves import HERE, numbers_for, run, status_of

# Fixtures, and what they were before.
FIXTURES = {"mlp.dynamic": "mlp", "mlp.qdq": "mlp", "bert.dynamic": "bert.dynamo",
            "resnet.dynamic": "resnet.dynamo"}
# What a quantised model is made of; the rest of a fixture is found in others.
QUANTISED = {"DynamicQuantizeLinear", "QuantizeLinear", "DequantizeLinear", "MatMulInteger", "ConvInteger"}


def given_to(model):
    """Inputs by name."""
    if model.graph.input[0].name == "x":
        return {"x": np.random.default_rng(0).standard_normal((5, 24)).astype(np.float32)}
    return numbers_for(model)


def check(name, before, device):
    """What is wrong; nothing: all is right."""
    model, plain = (onnx.load(os.path.join(HERE, each + ".onnx")) for each in (name, before))
    given = given_to(model)
    (expected,), _ = run(model, given)
    (exact,), _ = run(plain, given)
    (subgraphs,), elsewhere = run(model, given, device, "force_graph_path")
    (nodes,), elsewhere_single = run(model, given, device, "force_direct_path")
    most = np.abs(expected - exact).max() / 2
    off, off_single = (np.abs(one - expected).max() for one in (subgraphs, nodes))
    print(f"{name}: {off:.2g} off, node by node {off_single:.2g}; at most {most:.2g} is expected")
    wrong = [f"these nodes did not run on Leat: {elsewhere}"] if elsewhere else []
    if QUANTISED & set(elsewhere_single):
        wrong.append(f"node by node these did not run on Leat: {sorted(QUANTISED & set(elsewhere_single))}")
    if not {node.op_type for node in model.graph.node} & QUANTISED:
        wrong.append("the model is not quantised")
    if not max(off, off_single) <= most:
        wrong.append("the outputs are too far off")
    return wrong


if __name__ == "__main__":
    sys.exit(status_of(check, FIXTURES.items()))
