#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lets decoder layers read a prompt and then token after token, each step with the keys and values that the one before
gave, and compares ONNX Runtime's CPU provider.

usage: decoding.py LIBRARY

A layer projects its tokens to queries, keys and values, attends, and projects the result. Both providers get the CPU's
keys and values of the step before; or, for 40 steps, one thread and four, each has its own on the device: longer at
each step, extended in place, or written from one memory to another and back. No node may be left to the CPU provider on
the direct path; on the graph path all are one graph. Exit status: 0, or 1 if an answer is wrong, 77 if there is no
device.
"""
import concurrent.futures
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import on_leat

GROUP = "GroupQueryAttention"
WRITTEN_OUT = "MatMul"  # as PyTorch's exporters write attention with heads that are shared
SCATTERED = "TensorScatter"  # which writes the caches that Attention reads
WIDTH = 24  # elements of a token
# Type and dimensions of GROUP's optional inputs behind those for the rotary embedding, in their order.
MORE = {
    "position_ids": (TensorProto.INT64, ["batch", "tokens"]),
    "attention_bias": (TensorProto.FLOAT, [1, None, "tokens", "all"]),
    "head_sink": (TensorProto.FLOAT, [None]),
}
ROOM = 48  # positions of a cache that is as long at every step
# Tokens are from -1 to 1 and weights from -0.3 to 0.3, so queries, keys and values are below 8, each off by 26 * 2^-24
# times that; a score, a sum of 16 products over 4, is off by less than 1e-3 and so is a weight, of itself: values are
# off by 8 times that, and the result, a sum of up to 64 of them with weights of 0.3, by less than that of 0.16.
# What is seen is below 1e-6.
TOLERANCE = 1e-3


class Layer:
    """A model with one attention, and what feeds it."""

    def __init__(self, operator, heads, shared, size, packed=False, rotary=0, room=0, more=(), **attributes):
        self.operator, self.heads, self.shared, self.size = operator, heads, shared, size
        self.packed, self.rotary, self.room, self.attributes = packed, rotary, room, attributes
        self.more = more  # those of MORE that there are

    def __str__(self):
        words = f"{self.operator} {self.heads}/{self.shared} heads of {self.size}"
        return words + f" packed={self.packed} rotary={self.rotary} room={self.room} {self.more} {self.attributes}"

    def node(self):
        if self.operator == GROUP:
            inputs = ["qkv", "", ""] if self.packed else ["q", "k", "v"]
            inputs += ["past_key", "past_value", "lengths", "total"]
            inputs += ["cosines", "sines"] if self.rotary else ["", ""]
            inputs += [name if name in self.more else "" for name in MORE]
            attributes = {"num_heads": self.heads, "kv_num_heads": self.shared, "do_rotary": int(self.rotary != 0)}
            domain = "com.microsoft"
        elif self.operator == "MultiHeadAttention":
            inputs = ["q", "k", "v", "", "", "", "past_key", "past_value"]
            attributes, domain = {"num_heads": self.heads, "unidirectional": 1}, "com.microsoft"
        else:
            inputs = ["q", "k", "v", "", "past_key", "past_value"]
            attributes, domain = {"q_num_heads": self.heads, "kv_num_heads": self.shared, "is_causal": 1}, ""
        return helper.make_node(self.operator, inputs, ["attended", "key", "value"], domain=domain,
                                **(attributes | self.attributes))

    def written_out(self):
        """Nodes and constants of attention as exporters write it."""
        nodes = []

        def node(operator, *inputs, of=None, **attributes):
            nodes.append(helper.make_node(operator, inputs, [of or f"inner{len(nodes)}"], **attributes))
            return nodes[-1].output[0]

        def heads(name):
            return node("Transpose", node("Reshape", name, "split_" + name), perm=[0, 2, 1, 3])

        def shared(cache):
            size = node("Shape", cache)
            batch, positions = node("Slice", size, "from0", "from1"), node("Slice", size, "from2", "from3")
            many = node("Concat", batch, "shared", "repeats", positions, "size", axis=0)
            joined = node("Concat", batch, "heads", positions, "size", axis=0)
            return node("Reshape", node("Expand", node("Unsqueeze", cache, "from2"), many), joined)

        query = heads("q")
        if self.operator == SCATTERED:
            key, value = (node(SCATTERED, "past_" + name, heads(name[0]), "begin", of=name)
                          for name in ("key", "value"))
            attended = node("Attention", query, key, value, "", "", "", "end")
        else:
            key = shared(node("Concat", "past_key", heads("k"), of="key", axis=2))
            value = shared(node("Concat", "past_value", heads("v"), of="value", axis=2))
            scores = node("Mul", node("MatMul", query, node("Transpose", key, perm=[0, 1, 3, 2])), "scale")
            attended = node("MatMul", node("Softmax", scores, axis=-1), value)
        node("Reshape", node("Transpose", attended, perm=[0, 2, 1, 3]), "join", of="attended")
        lists = {f"from{i}": [i] for i in range(4)} | {
            "shared": [self.shared], "heads": [self.heads], "repeats": [self.heads // self.shared],
            "size": [self.size], "join": [0, -1, self.heads * self.size], "split_q": [0, -1, self.heads, self.size]}
        lists |= {f"split_{name}": [0, -1, self.shared, self.size] for name in "kv"}
        constants = [numpy_helper.from_array(np.array(value, np.int64), name) for name, value in lists.items()]
        constants.append(numpy_helper.from_array(np.array(self.size ** -0.5, np.float32), "scale"))
        taken = {name for node in nodes for name in node.input}
        return nodes, [constant for constant in constants if constant.name in taken]

    @staticmethod
    def counting():
        """Nodes that make of a mask how many positions there are, as exports of decoders have them."""
        return [
            helper.make_node("ReduceSum", ["mask", "along"], ["kept"], keepdims=0),
            helper.make_node("Sub", ["kept", "one"], ["last"]),
            helper.make_node("Cast", ["last"], ["lengths"], to=TensorProto.INT32),
            helper.make_node("Shape", ["mask"], ["sizes"]),
            helper.make_node("Gather", ["sizes", "second"], ["size"], axis=0),
            helper.make_node("Cast", ["size"], ["total"], to=TensorProto.INT32),
        ]

    def model(self, rng):
        sizes = {"q": self.heads, "k": self.shared, "v": self.shared}
        if self.packed:
            sizes = {"qkv": self.heads + 2 * self.shared}
        weights = {"w" + name: (WIDTH, count * self.size) for name, count in sizes.items()}
        weights["wy"] = (self.heads * self.size, WIDTH)
        constants = [numpy_helper.from_array(rng.uniform(-0.3, 0.3, shape).astype(np.float32), name)
                     for name, shape in weights.items()]
        if self.rotary:
            angles = np.outer(np.arange(ROOM), 1 / 10 ** np.linspace(0, 2, self.rotary)).astype(np.float32)
            constants += [numpy_helper.from_array(np.cos(angles), "cosines"),
                          numpy_helper.from_array(np.sin(angles), "sines")]
        nodes = [helper.make_node("MatMul", ["x", "w" + name], [name]) for name in sizes]
        if self.operator == GROUP:
            nodes += self.counting()
            constants += [numpy_helper.from_array(np.array(value, np.int64), name)
                          for name, value in (("along", [1]), ("one", 1), ("second", 1))]
        if self.operator in (WRITTEN_OUT, SCATTERED):
            inner, more = self.written_out()
            nodes += inner
            constants += more
        else:
            nodes.append(self.node())
        nodes.append(helper.make_node("MatMul", ["attended", "wy"], ["y"]))
        tokens = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "tokens", WIDTH])
        cache = ["batch", self.shared, "past", self.size]
        inputs = [tokens] + [helper.make_tensor_value_info(f"past_{name}", TensorProto.FLOAT, cache)
                             for name in ("key", "value")]
        if self.operator == GROUP:
            inputs.append(helper.make_tensor_value_info("mask", TensorProto.INT64, ["batch", "all"]))
            inputs += [helper.make_tensor_value_info(name, *MORE[name]) for name in self.more]
        if self.operator == SCATTERED:
            inputs += [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch"]) for name in ("begin", "end")]
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * rank)
                   for name, rank in (("y", 3), ("key", 4), ("value", 4))]
        graph = helper.make_graph(nodes, "layer", inputs, outputs, constants)
        domains = [helper.make_opsetid("", 24), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=domains, ir_version=11).SerializeToString()

    def feeds(self, rng, batch, tokens, position, cache):
        feeds = {"x": rng.uniform(-1, 1, (batch, tokens, WIDTH)).astype(np.float32)}
        feeds |= dict(zip(("past_key", "past_value"), cache))
        if self.operator == GROUP:
            # Batches end at different positions: those that are shorter are padded behind.
            ends = position + tokens - np.arange(batch)
            feeds["mask"] = (np.arange(position + tokens) < ends[:, None]).astype(np.int64)
            more = {
                "position_ids": rng.integers(0, ROOM, (batch, tokens)),
                "attention_bias": rng.uniform(-2, 2, (1, self.heads, tokens, position + tokens)).astype(np.float32),
                "head_sink": rng.uniform(-2, 2, self.heads).astype(np.float32),
            }
            feeds |= {name: more[name] for name in self.more}
        if self.operator == SCATTERED:
            feeds |= {"begin": np.full(batch, position), "end": np.full(batch, position + tokens)}
        return feeds


# Layers, and the tokens of each step; of several batches a step behind the first has one.
LAYERS = [
    (Layer(GROUP, 4, 4, 16), 2, [7, 1, 1]),
    (Layer(GROUP, 4, 2, 16), 1, [7, 3, 1, 1]),
    (Layer(GROUP, 4, 2, 16, packed=True, scale=0.5), 2, [5, 1, 1]),
    (Layer(GROUP, 4, 1, 16, rotary=8), 1, [7, 3, 1, 1]),
    (Layer(GROUP, 4, 2, 16, rotary=8, rotary_interleaved=1, packed=True), 2, [7, 1, 1]),
    (Layer(GROUP, 4, 2, 32, rotary=8, room=ROOM), 2, [7, 1, 1, 1]),
    (Layer(GROUP, 4, 2, 16, rotary=8, room=ROOM, local_window_size=4), 1, [7, 3, 1, 1]),
    (Layer(GROUP, 4, 2, 16, softcap=2.0), 1, [7, 1]),
    (Layer(GROUP, 4, 2, 16, smooth_softmax=1), 2, [7, 1, 1]),
    (Layer(GROUP, 4, 2, 16, rotary=8, more=("position_ids", "attention_bias", "head_sink")), 1, [7, 3, 1, 1]),
    (Layer(GROUP, 4, 1, 16, packed=True, softcap=2.0, local_window_size=4, more=("attention_bias",)), 1, [7, 1]),
    (Layer(GROUP, 4, 2, 16, rotary=8, more=("position_ids", "head_sink")), 2, [7, 1, 1]),
    (Layer("MultiHeadAttention", 4, 4, 16), 2, [7, 3, 1, 1]),
    (Layer("Attention", 4, 2, 16), 2, [7, 3, 1, 1]),
    (Layer(WRITTEN_OUT, 4, 2, 16), 2, [7, 3, 1, 1]),
    (Layer(WRITTEN_OUT, 4, 4, 16), 1, [7, 3, 1, 1]),
    (Layer(SCATTERED, 4, 2, 16, room=ROOM), 2, [7, 3, 1, 1]),
]


def sessions(model, devices):
    """Of the CPU provider, and of Leat by name of its path."""
    made = {}
    for path, settings in (("graph", {}), ("direct", {"force_direct_path": "1"})):
        options = ort.SessionOptions()
        if path == "direct":
            # Else each node is one of a kernel, also those that give a shape, which a graph computes on the host.
            options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        options.add_provider_for_devices(devices, settings)
        made[path] = ort.InferenceSession(model, options)
    return ort.InferenceSession(model, providers=["CPUExecutionProvider"]), made


def off(got, wanted):
    """By how much an answer is off."""
    most = 0.0
    for one, other in zip(got, wanted):
        if one.shape != other.shape or not np.isfinite(one).all():
            return np.inf
        most = max(most, float(np.abs(one - other).max(initial=0)))
    return most


def run(layer, batch, steps, devices, rng):
    cpu, leat = sessions(layer.model(rng), devices)
    cache = [np.zeros((batch, layer.shared, layer.room, layer.size), np.float32)] * 2
    position, wrong = 0, 0
    for tokens in steps:
        feeds = layer.feeds(rng, batch, tokens, position, cache)
        wanted = cpu.run(None, feeds)
        for path, session in leat.items():
            worst = off(session.run(None, feeds), wanted)
            if not worst <= TOLERANCE:
                wrong += 1
                print(f"{layer}, {tokens} tokens at {position}, {path} path: off by {worst:.3g}")
        cache = wanted[1:]
        position += tokens
    return wrong


def place_of(device):
    """By what ONNX Runtime finds the memory of a device."""
    memory = device.memory_info(ort.OrtDeviceMemoryType.DEFAULT)
    return {"device_type": "gpu", "device_id": memory.device_id, "vendor_id": memory.device_vendor_id}


def run_in_place(layer, steps, devices, rng):
    """The same with a cache on the device that each Run is given as input and as output: new positions alone are
    written, so what lies behind them stays."""
    cpu, leat = sessions(layer.model(rng), devices)
    place = place_of(devices[0])
    shape, wrong = (1, layer.shared, layer.room, layer.size), 0
    for path, session in leat.items():
        cache, position = [np.zeros(shape, np.float32)] * 2, 0
        own = [ort.OrtValue.ortvalue_from_numpy(np.full(shape, 7, np.float32), **place) for _ in range(2)]
        for tokens in steps:
            feeds = layer.feeds(rng, 1, tokens, position, cache)
            wanted = cpu.run(None, feeds)
            binding = session.io_binding()
            for name in ("x", "mask"):
                binding.bind_cpu_input(name, feeds[name])
            for name, value in zip(("key", "value"), own):
                binding.bind_ortvalue_input("past_" + name, value)
                binding.bind_ortvalue_output(name, value)
            result = ort.OrtValue.ortvalue_from_numpy(np.zeros((1, tokens, WIDTH), np.float32))
            binding.bind_ortvalue_output("y", result)
            session.run_with_iobinding(binding)
            position += tokens
            got = [value.numpy() for value in own]
            worst = off([result.numpy()] + [x[:, :, :position] for x in got],
                        [wanted[0]] + [x[:, :, :position] for x in wanted[1:]])
            if not worst <= TOLERANCE or any((x[:, :, position:] != 7).any() for x in got):
                wrong += 1
                print(f"{layer}, in place up to {position}, {path} path: off by {worst:.3g}, or written behind")
            cache = wanted[1:]
    return wrong


def bind(session, feeds, pasts, presents):
    """Binds a step's caches on the device, and its result in the host's memory, which is given too."""
    binding = session.io_binding()
    for name in set(feeds) - {"past_key", "past_value"}:
        binding.bind_cpu_input(name, feeds[name])
    for name, past, present in zip(("key", "value"), pasts, presents):
        binding.bind_ortvalue_input("past_" + name, past)
        binding.bind_ortvalue_output(name, present)
    result = ort.OrtValue.ortvalue_from_numpy(np.zeros(feeds["x"].shape, np.float32))
    binding.bind_ortvalue_output("y", result)
    return binding, result


def write(layer, session, place, steps, kind):
    """By how much a text that a thread writes is off, its caches included. `steps`: feeds, and what is wanted."""
    def empty(like):
        return ort.OrtValue.ortvalue_from_numpy(np.zeros(like.shape, np.float32), **place)

    pasts = [empty(steps[0][0][name]) for name in ("past_key", "past_value")]
    others = [empty(past.numpy()) for past in pasts]
    worst, position = 0.0, 0
    for feeds, wanted in steps:
        presents = [empty(x) for x in wanted[1:]] if kind == "growing" else pasts if kind == "in place" else others
        binding, result = bind(session, feeds, pasts, presents)
        session.run_with_iobinding(binding)
        position += feeds["x"].shape[1]
        worst = max(worst, off([result.numpy()], wanted[:1]))
        pasts, others = presents, pasts
    got = [x.numpy()[:, :, :position] for x in pasts]
    return max(worst, off(got, [x[:, :, :position] for x in steps[-1][1][1:]]))


def run_long(layer, kinds, devices, rng, threads=4, count=40):
    """A prompt and then a token at a time, with keys and values that stay on the device."""
    cpu, leat = sessions(layer.model(rng), devices)
    place = place_of(devices[0])
    texts, wrong = [], 0
    for _ in range(threads):
        cache, position, steps = [np.zeros((1, layer.shared, layer.room, layer.size), np.float32)] * 2, 0, []
        for tokens in [3] + [1] * (count - 1):
            feeds = layer.feeds(rng, 1, tokens, position, cache)
            steps.append((feeds, cpu.run(None, feeds)))
            cache = steps[-1][1][1:]
            position += tokens
        texts.append(steps)
    for path, session in leat.items():
        for kind in kinds:
            for used in (1, threads):
                with concurrent.futures.ThreadPoolExecutor(used) as pool:
                    every = list(pool.map(lambda text: write(layer, session, place, text, kind), texts[:used]))
                if not max(every) <= TOLERANCE:
                    wrong += 1
                    print(f"{layer}, {count} steps, {kind}, {used} threads, {path} path: off by {max(every):.3g}")
    return wrong


def is_refused(layer, devices, rng):
    """Whether a graph in which another node takes a cache refuses to write it in place."""
    model = onnx.load_from_string(layer.model(rng))
    model.graph.node.append(helper.make_node("Relu", ["past_key"], ["seen"]))
    model.graph.output.append(helper.make_tensor_value_info("seen", TensorProto.FLOAT, [None] * 4))
    session = sessions(model.SerializeToString(), devices)[1]["graph"]
    feeds = layer.feeds(rng, 1, 1, 0, [np.zeros((1, layer.shared, layer.room, layer.size), np.float32)] * 2)
    binding = session.io_binding()
    for name in ("x", "mask", "past_value"):
        binding.bind_cpu_input(name, feeds[name])
    cache = ort.OrtValue.ortvalue_from_numpy(feeds["past_key"], **place_of(devices[0]))
    binding.bind_ortvalue_input("past_key", cache)
    binding.bind_ortvalue_output("key", cache)
    for name in ("y", "value", "seen"):
        binding.bind_output(name)
    try:
        session.run_with_iobinding(binding)
    except RuntimeError as error:
        return "output 1 of the graph overlaps input" in str(error)
    return False


def main():
    devices = on_leat.devices_of_command_line(__doc__.splitlines()[3])
    rng = np.random.default_rng(1)
    wrong = sum(run(layer, batch, steps, devices, rng) for layer, batch, steps in LAYERS)
    roomy = Layer(GROUP, 4, 2, 16, rotary=8, room=ROOM)
    wrong += run_in_place(roomy, [7, 3, 1, 1], devices, rng)
    for layer in (roomy, Layer(SCATTERED, 4, 2, 16, room=ROOM)):
        wrong += run_long(layer, ("in place", "to and fro"), devices, rng)
    for layer in (Layer(GROUP, 4, 2, 16, rotary=8), Layer("Attention", 4, 2, 16), Layer(WRITTEN_OUT, 4, 2, 16)):
        wrong += run_long(layer, ("growing",), devices, rng)
    if not is_refused(roomy, devices, rng):
        wrong += 1
        print("a cache that another node reads was written in place")
    print(f"{len(LAYERS) + 5} layers, {wrong} wrong answers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
