#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tokens a second of a decoder with random weights: ONNX Runtime with a provider, and PyTorch in a CUDA graph.

Usage: decoder.py make DIR [--size NAME] [--weights TYPE]
       decoder.py run DIR LIBRARY|cpu [--threads 1,8] [--prompt N] [--tokens N] [--room N] [--repeat N]
       decoder.py torch [--size NAME] [--weights TYPE] [--prompt N] [--tokens N]

"make" writes the model: layers of RMS norm, GroupQueryAttention with rotary embedding and caches of `--room` positions,
SwiGLU, and the most likely token as its output. With --weights int4 the products are MatMulNBits, 4 bits in blocks of
32. "run" lets each thread read a prompt of its own and then token after token, one session for all. What a step gives
is bound as what the next one takes and stays on the device, keys and values are extended in place, the number of
positions comes from the host, and the token goes there as well. Every repetition must give a thread the same tokens.
"torch" does the same steps, with as many keys at each as there are in the middle of the run, and with its own random
numbers.

Prints a JSON object for each row: tokens a second of all threads, and the share that reading the weights once a token
has of that time at the copy speed given with --copy (bytes a second). Exit status: 0, 1 where tokens differ, 2 bad use.
"""
import argparse
import concurrent.futures
import json
import os
import statistics
import sys
import threading
import time

import numpy as np

# Layers, width, heads of queries, heads of keys and values, width of the inner layer, tokens. "1b" has the shapes of
# TinyLlama, 1.1 billion parameters; "1.5b" those of Qwen2.5 of 1.5 billion without the biases, more layers and tokens.
SIZES = {"tiny": (2, 64, 4, 2, 96, 97), "1b": (22, 2048, 32, 4, 5632, 32000),
         "1.5b": (28, 1536, 12, 2, 8960, 151936)}
BLOCK = 32


class Shape:
    def __init__(self, size):
        self.layers, self.width, self.heads, self.shared, self.inner, self.vocabulary = SIZES[size]
        self.head = self.width // self.heads
        self.products = {
            "qkv": (self.width, (self.heads + 2 * self.shared) * self.head),
            "o": (self.heads * self.head, self.width),
            "gate": (self.width, self.inner),
            "up": (self.width, self.inner),
            "down": (self.inner, self.width),
        }

    def read_elements(self):
        """Weights that a token reads."""
        layer = sum(rows * columns for rows, columns in self.products.values())
        return self.layers * layer + self.width * self.vocabulary


def bytes_of(weights):
    return {"float32": 4, "float16": 2, "int4": 0.5 + 2 / BLOCK}[weights]


# ---- The model ---------------------------------------------------------------------------------------------------


def normal(seed, rows, columns):
    return np.random.default_rng(seed).standard_normal((rows, columns), dtype=np.float32) / rows**0.5


def quantise(weight, real):
    """A matrix [K, N] as MatMulNBits takes it: two numbers a byte, and a scale for each 32 of a column."""
    rows, columns = weight.shape
    blocks = np.ascontiguousarray(weight.T).reshape(columns, rows // BLOCK, BLOCK)
    scales = (np.abs(blocks).max(-1) / 7).astype(real)
    numbers = np.clip(np.rint(blocks / scales[..., None].astype(np.float32)), -8, 7).astype(np.int8) + 8
    return (numbers[..., 0::2] | numbers[..., 1::2] << 4).astype(np.uint8), scales.reshape(-1)


def make(args):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    shape = Shape(args.size)
    real = np.float32 if args.weights == "float32" else np.float16
    element = TensorProto.FLOAT if real == np.float32 else TensorProto.FLOAT16
    nodes, initializers, pending = [], [], []

    def constant(name, array):
        initializers.append(numpy_helper.from_array(array, name))
        return name

    def node(operator, inputs, outputs, domain="", **attributes):
        nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, name=outputs[0], **attributes))
        return outputs[0]

    def product(source, name, rows, columns, seed):
        pending.append((name, rows, columns, seed))
        if args.weights == "int4":
            return node("MatMulNBits", [source, name + ".numbers", name + ".scales"], [name + ".out"],
                        "com.microsoft", K=rows, N=columns, bits=4, block_size=BLOCK)
        return node("MatMul", [source, name], [name + ".out"])

    def weigh(job):
        name, rows, columns, seed = job
        weight = normal(seed, rows, columns)
        if args.weights != "int4":
            return [numpy_helper.from_array(weight.astype(real), name)]
        numbers, scales = quantise(weight, real)
        return [numpy_helper.from_array(numbers, name + ".numbers"), numpy_helper.from_array(scales, name + ".scales")]

    node("Add", ["lengths", constant("one", np.array([1], np.int32))], ["next.lengths"])
    angles = np.arange(args.room)[:, None] / 10000 ** (np.arange(shape.head // 2) * 2 / shape.head)
    rotary = [constant("cosines", np.cos(angles).astype(real)), constant("sines", np.sin(angles).astype(real))]
    embedding = np.random.default_rng(0).standard_normal((shape.vocabulary, shape.width), dtype=np.float32)
    stream = node("Gather", [constant("embedding", embedding.astype(real)), "ids"], ["embedded"])
    ones = constant("ones", np.ones(shape.width, real))
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "fresh"]),
              helper.make_tensor_value_info("lengths", TensorProto.INT32, [1]),
              helper.make_tensor_value_info("total", TensorProto.INT32, [1])]
    outputs = [helper.make_tensor_value_info("token", TensorProto.INT64, [1, 1]),
               helper.make_tensor_value_info("next.ids", TensorProto.INT64, [1, 1]),
               helper.make_tensor_value_info("next.lengths", TensorProto.INT32, [1])]
    cache = [1, shape.shared, args.room, shape.head]
    seed = 1
    added = None
    for layer in range(shape.layers):
        def mine(name, layer=layer):
            return f"{layer}.{name}"

        def weighed(source, name):
            nonlocal seed
            seed += 1
            return product(source, mine(name), *shape.products[name], seed)

        def norm(name):
            nonlocal stream
            if added is None:
                return node("SimplifiedLayerNormalization", [stream, ones], [mine(name)], epsilon=1e-5)
            outs = [mine(name), "", "", mine(name) + ".sum"]
            node("SkipSimplifiedLayerNormalization", [stream, added, ones], outs, "com.microsoft", epsilon=1e-5)
            stream = outs[3]
            return outs[0]

        qkv = weighed(norm("norm1"), "qkv")
        past = [mine("past.key"), mine("past.value")]
        present = [mine("present.key"), mine("present.value")]
        node("GroupQueryAttention", [qkv, "", "", *past, "lengths", "total", *rotary], [mine("attended"), *present],
             "com.microsoft", num_heads=shape.heads, kv_num_heads=shape.shared, do_rotary=1)
        inputs += [helper.make_tensor_value_info(name, element, cache) for name in past]
        outputs += [helper.make_tensor_value_info(name, element, cache) for name in present]
        added = weighed(mine("attended"), "o")
        normed = norm("norm2")
        gate, up = weighed(normed, "gate"), weighed(normed, "up")
        node("Sigmoid", [gate], [mine("sigmoid")])
        node("Mul", [gate, mine("sigmoid")], [mine("silu")])
        node("Mul", [mine("silu"), up], [mine("inner")])
        added = weighed(mine("inner"), "down")
    node("SkipSimplifiedLayerNormalization", [stream, added, ones], ["normed"], "com.microsoft", epsilon=1e-5)
    node("Gather", ["normed", constant("end", np.array(-1, np.int64))], ["newest"], axis=1)
    logits = product("newest", "head", shape.width, shape.vocabulary, seed + 1)
    node("Cast", [logits], ["logits"], to=TensorProto.FLOAT)
    node("ArgMax", ["logits"], ["token"], axis=-1, keepdims=1)
    node("Identity", ["token"], ["next.ids"])
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for made in pool.map(weigh, pending):
            initializers += made
    graph = helper.make_graph(nodes, "decoder", inputs, outputs, initializers)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17),
                                                                  helper.make_opsetid("com.microsoft", 1)])
    os.makedirs(args.folder, exist_ok=True)
    onnx.save(model, os.path.join(args.folder, "model.onnx"), save_as_external_data=True, location="weights")
    with open(os.path.join(args.folder, "about.json"), "w") as file:
        json.dump({"size": args.size, "weights": args.weights, "room": args.room}, file)


# ---- ONNX Runtime ------------------------------------------------------------------------------------------------


class Reader:
    """A text that is read and written: caches of its own in a session that others use too."""

    def __init__(self, ort, session, shape, real, room, place):
        def value(*size, of):
            return ort.OrtValue.ortvalue_from_numpy(np.zeros(size, of), **place)

        self.session = session
        self.token = ort.OrtValue.ortvalue_from_numpy(np.zeros((1, 1), np.int64))
        self.caches = {f"{layer}.%s.{kind}": value(1, shape.shared, room, shape.head, of=real)
                       for layer in range(shape.layers) for kind in ("key", "value")}
        # A step takes what one of these has and gives the other.
        states = [{"ids": value(1, 1, of=np.int64), "lengths": value(1, of=np.int32)} for _ in range(2)]
        self.first, self.steps = self.bind(states[0]), [self.bind(states[1]), self.bind(states[0])]
        for step, state in zip(self.steps, states):
            for name, held in state.items():
                step.bind_ortvalue_input(name, held)

    def bind(self, gives):
        binding = self.session.io_binding()
        binding.bind_ortvalue_output("token", self.token)
        for name, held in gives.items():
            binding.bind_ortvalue_output("next." + name, held)
        for name, cache in self.caches.items():
            binding.bind_ortvalue_input(name % "past", cache)
            binding.bind_ortvalue_output(name % "present", cache)
        return binding

    def run(self, step, total):
        """A step after which there are so many positions: as hosts do, total_sequence_length counts."""
        step.bind_cpu_input("total", np.array([total], np.int32))
        self.session.run_with_iobinding(step)

    def write(self, prompt, count):
        """Tokens after a prompt, and the seconds that all but the first took."""
        self.first.bind_cpu_input("ids", prompt)
        self.first.bind_cpu_input("lengths", np.array([prompt.shape[1] - 1], np.int32))
        self.run(self.first, prompt.shape[1])
        tokens = [int(self.token.numpy()[0, 0])]
        start = time.perf_counter()
        for number in range(count - 1):
            self.run(self.steps[number % 2], prompt.shape[1] + number + 1)
            tokens.append(int(self.token.numpy()[0, 0]))
        return tokens, time.perf_counter() - start


def open_session(ort, folder, library):
    options = ort.SessionOptions()
    place = {"device_type": "cpu", "device_id": 0}
    if library != "cpu":
        ort.register_execution_provider_library("leat", os.path.abspath(library))
        devices = [device for device in ort.get_ep_devices() if device.ep_name == "LeatExecutionProvider"][:1]
        if not devices:
            sys.exit("decoder.py: no Vulkan device; leat-info says why")
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        options.add_provider_for_devices(devices, {})
        memory = devices[0].memory_info(ort.OrtDeviceMemoryType.DEFAULT)
        place = {"device_type": "gpu", "device_id": memory.device_id, "vendor_id": memory.device_vendor_id}
    return ort.InferenceSession(os.path.join(folder, "model.onnx"), options), place


def prompt_of(shape, length, number):
    return np.random.default_rng(1000 + number).integers(0, shape.vocabulary, (1, length))


def run(args):
    import onnxruntime as ort

    with open(os.path.join(args.folder, "about.json")) as file:
        about = json.load(file)
    shape, room = Shape(about["size"]), about["room"]
    real = np.float32 if about["weights"] == "float32" else np.float16
    if args.prompt + args.tokens > room:
        sys.exit(f"decoder.py: {args.prompt} + {args.tokens} positions are more than the model's {room}")
    start = time.perf_counter()
    session, place = open_session(ort, args.folder, args.library)
    opened = time.perf_counter() - start
    readers = [Reader(ort, session, shape, real, room, place) for _ in range(max(args.threads))]
    prompts = [prompt_of(shape, args.prompt, number) for number in range(max(args.threads))]
    expected = [reader.write(prompt, args.tokens)[0] for reader, prompt in zip(readers, prompts)]
    differ = False
    for count in args.threads:
        rates = []
        for _ in range(args.repeat):
            results = [None] * count
            barrier = threading.Barrier(count)

            def work(number):
                barrier.wait()
                results[number] = readers[number].write(prompts[number], args.tokens)

            team = [threading.Thread(target=work, args=(number,)) for number in range(count)]
            for thread in team:
                thread.start()
            for thread in team:
                thread.join()
            differ = differ or any(results[k][0] != expected[k] for k in range(count))
            rates.append(sum((args.tokens - 1) / results[k][1] for k in range(count)))
        report(args, shape, about["weights"], os.path.basename(args.library), count, rates,
               {"first": expected[0][:8], "opened_s": round(opened, 2)})
    if differ:
        sys.exit("decoder.py: tokens differ between repetitions")


def report(args, shape, weights, who, threads, rates, more):
    rate = statistics.median(rates)
    row = {"who": who, "weights": weights, "threads": threads, "prompt": args.prompt, "tokens": args.tokens,
           "tokens_per_second": round(rate, 1), "rates": [round(r, 1) for r in rates]}
    if args.copy:
        # A copy reads and writes; what is read alone could pass as fast.
        row["bandwidth_share"] = round(rate * shape.read_elements() * bytes_of(weights) / args.copy, 3)
    print(json.dumps(row | more), flush=True)


# ---- PyTorch -----------------------------------------------------------------------------------------------------


def run_torch(args):
    import torch
    from torch.nn import functional

    shape = Shape(args.size)
    keys = args.prompt + args.tokens // 2
    real = {"float32": torch.float32, "float16": torch.float16, "int4": torch.bfloat16}[args.weights]
    torch.set_grad_enabled(False)

    def weight(rows, columns):
        made = torch.randn(columns, rows, device="cuda") / rows**0.5
        if args.weights != "int4":
            made = made.to(real)
            return lambda x: functional.linear(x, made)
        numbers = torch.randint(0, 256, (columns, rows // 2), device="cuda", dtype=torch.uint8)
        packed = torch._convert_weight_to_int4pack(numbers, 8)
        scales = torch.full((rows // BLOCK, columns, 2), 0.01, device="cuda", dtype=real)
        return lambda x: torch._weight_int4pack_mm(x.reshape(-1, rows), packed, BLOCK, scales).reshape(1, 1, columns)

    def norm(x):
        return functional.rms_norm(x, (shape.width,), ones, 1e-5)

    ones = torch.ones(shape.width, device="cuda", dtype=real)
    layers = [{name: weight(*size) for name, size in shape.products.items()} for _ in range(shape.layers)]
    caches = [[torch.randn(1, shape.shared, keys, shape.head, device="cuda").to(real) for _ in range(2)]
              for _ in range(shape.layers)]
    embedding = torch.randn(shape.vocabulary, shape.width, device="cuda").to(real)
    head = weight(shape.width, shape.vocabulary)
    angles = torch.randn(1, 1, shape.head, device="cuda").to(real)
    position = torch.tensor([keys - 1], device="cuda")
    ids = torch.zeros(1, 1, dtype=torch.int64, device="cuda")

    def rotate(x):
        half = x.shape[-1] // 2
        return x * angles + torch.cat((-x[..., half:], x[..., :half]), -1) * angles

    def step():
        x = functional.embedding(ids, embedding)
        for layer, (key, value) in zip(layers, caches):
            qkv = layer["qkv"](norm(x)).view(1, 1, -1, shape.head).transpose(1, 2)
            q, k, v = qkv.split([shape.heads, shape.shared, shape.shared], 1)
            key.index_copy_(2, position, rotate(k))
            value.index_copy_(2, position, v)
            attended = functional.scaled_dot_product_attention(rotate(q), key, value, enable_gqa=True)
            x = x + layer["o"](attended.transpose(1, 2).reshape(1, 1, -1))
            normed = norm(x)
            x = x + layer["down"](functional.silu(layer["gate"](normed)) * layer["up"](normed))
        return head(norm(x)).argmax(-1)

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        token = step()
    rates = []
    for _ in range(args.repeat):
        start = time.perf_counter()
        for _ in range(args.tokens):
            graph.replay()
            ids.copy_(token)
            token.cpu()
        rates.append(args.tokens / (time.perf_counter() - start))
    report(args, shape, args.weights, "torch, CUDA graph", 1, rates, {})


# ---- The command line --------------------------------------------------------------------------------------------


def numbers(text):
    found = [int(part) for part in text.split(",")]
    if not all(0 < number <= 256 for number in found):
        raise argparse.ArgumentTypeError(f'"{text}" has a number that is not from 1 to 256')
    return found


def at_least(least):
    def parse(text):
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f'"{text}" is not a whole number from {least} on')
        return int(text)
    return parse


def main():
    parser = argparse.ArgumentParser(description="Tokens a second of a decoder with random weights.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, work in (("make", make), ("run", run), ("torch", run_torch)):
        command = commands.add_parser(name)
        command.set_defaults(work=work)
        if name != "torch":
            command.add_argument("folder")
        if name == "run":
            command.add_argument("library", help='the provider, or "cpu"')
            command.add_argument("--threads", type=numbers, default=[1], metavar="N[,N...]")
        else:
            command.add_argument("--size", choices=SIZES, default="1b")
            command.add_argument("--weights", choices=("float32", "float16", "int4"), default="float16")
        if name == "make":
            command.add_argument("--room", type=at_least(1), default=1024, help="positions of a cache (1024)")
        else:
            command.add_argument("--prompt", type=at_least(1), default=128, help="tokens of a prompt (128)")
            command.add_argument("--tokens", type=at_least(2), default=128, help="tokens that follow (128)")
            command.add_argument("--repeat", type=at_least(1), default=5, help="measurements (5)")
            command.add_argument("--copy", type=float, help="bytes a second that a copy reads and writes")
    args = parser.parse_args()
    args.work(args)


if __name__ == "__main__":
    main()
