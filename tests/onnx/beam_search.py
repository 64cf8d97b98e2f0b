#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs com.microsoft's BeamSearch and GreedySearch, whose kernels are the CPU provider's, in sessions that have Leat.

usage: beam_search.py LIBRARY

They hold a decoder and hand it memory of the host, so that its nodes have to stay with the CPU provider; a node before
them is Leat's. Exit status: 0, or 1 if sequences are others than without Leat, 77 without a device.
"""
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import on_leat

VOCABULARY, WIDTH, LENGTH = 11, 8, 9
PROMPT = np.array([[3, 7, 2], [5, 5, 9]], np.int32)
SETTINGS = {"max_length": LENGTH, "min_length": LENGTH, "num_beams": 3, "num_return_sequences": 1}
PENALTIES = {"length_penalty": 1.0, "repetition_penalty": 1.2}

node = helper.make_node
value = helper.make_tensor_value_info


def decoder():
    """Logits, and keys and values as a GPT-2 has them, of one head, keys like values."""
    rng = np.random.default_rng(4)
    constants = {"words": rng.standard_normal((VOCABULARY, WIDTH)), "out": rng.standard_normal((WIDTH, VOCABULARY))}
    nodes = [node("Gather", ["words", "input_ids"], ["e"]), node("MatMul", ["e", "out"], ["logits"]),
             node("Unsqueeze", ["e", "axes"], ["k"]), node("Concat", ["k", "k"], ["kv"], axis=0),
             node("Concat", ["past_0", "kv"], ["present_0"], axis=3)]
    inputs = [value(name, TensorProto.INT32, ["batch", length]) for name, length in
              (("input_ids", "sequence"), ("position_ids", "sequence"), ("attention_mask", "all"))]
    inputs.append(value("past_0", TensorProto.FLOAT, [2, "batch", 1, "past", WIDTH]))
    outputs = [value("logits", TensorProto.FLOAT, ["batch", "sequence", VOCABULARY]),
               value("present_0", TensorProto.FLOAT, [2, "batch", 1, "all", WIDTH])]
    kept = [numpy_helper.from_array(each.astype(np.float32), name) for name, each in constants.items()]
    kept.append(numpy_helper.from_array(np.array([0, 2]), "axes"))
    return helper.make_graph(nodes, "decoder", inputs, outputs, kept)


def model_of(operator):
    beams = operator == "BeamSearch"
    settings = list(SETTINGS) + ["length_penalty"] if beams else list(SETTINGS)[:2]
    given = ["tokens", *settings, "repetition_penalty"]
    search = node(operator, given, ["sequences"], decoder=decoder(), eos_token_id=1, pad_token_id=0,
                  decoder_start_token_id=-1, model_type=0, domain="com.microsoft")
    if beams:
        search.attribute.append(helper.make_attribute("no_repeat_ngram_size", 2))
    constants = [numpy_helper.from_array(np.array([number], np.int32), name) for name, number in SETTINGS.items()]
    constants += [numpy_helper.from_array(np.array([number], np.float32), name) for name, number in PENALTIES.items()]
    constants = [each for each in constants if each.name in given]
    constants.append(numpy_helper.from_array(np.full((1, 1), 10, np.int32), "most"))
    result = value("sequences", TensorProto.INT32, None)
    graph = helper.make_graph([node("Min", ["ids", "most"], ["tokens"]), search], "search",
                              [value("ids", TensorProto.INT32, ["batch", "sequence"])], [result], constants)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=9).SerializeToString()


def main():
    devices = on_leat.devices_of_command_line(__doc__.splitlines()[2])
    wrong = 0
    for operator in ("BeamSearch", "GreedySearch"):
        model = model_of(operator)
        options = ort.SessionOptions()
        options.add_provider_for_devices(devices, {})
        found = ort.InferenceSession(model, options).run(None, {"ids": PROMPT})[0]
        wanted = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"ids": PROMPT})[0]
        print(f"{operator}: {found.tolist()}")
        if found.tolist() != wanted.tolist():
            print(f"  the CPU provider alone: {wanted.tolist()}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
