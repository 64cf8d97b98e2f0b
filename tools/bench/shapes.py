#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Requests of changing shapes, as users send them, through ONNX Runtime with a provider.

Usage: shapes.py make DIR
       shapes.py server DIR LIBRARY|cuda|cpu [--threads N] [--seconds S] [--batch MAX] [--lengths LOW:HIGH] [--check N]
                        [--warm VALUE]
       shapes.py decoder DIR LIBRARY|cuda|cpu [--threads 1,8] [--tokens N] [--warm VALUE]

"make" writes the two models; it needs torch and transformers. "server": a BERT of six layers, 384 wide, with open axes;
each thread draws a batch from 1 to MAX and a length for each request. One of N requests is compared with the CPU
provider, which takes processors away from what is measured: 0 compares none. "decoder": six layers as exporters write
them, whose keys and values go in and come out one longer: first with one length again and again, then growing over
lengths that were never seen, then over the same ones again. --warm is the provider's option warm_shapes.

Each row begins with a second of one shape: the clock of a GPU that had nothing to do, as while a session compiles
pipelines, is low for about as long.

Prints a JSON object for each row: runs and tokens a second of all threads, milliseconds of a request at the 50th and
99th percentile, of shapes seen before, of others, and of each thread's first, what host memory grew by, and the seconds
that making the session took. Exit status: 0, 1 where outputs are wrong or threads make different tokens, 2 bad use.
"""
import argparse
import json
import os
import sys
import threading
import time

import numpy as np

WORDS, WIDTH, LAYERS = 30000, 384, 6
HEAD, SHARED = 32, 4  # elements of a head of the decoder, and its heads of keys and values
# What a float32 model of six layers may differ by from another provider: a hundred times what its outputs were seen to.
TOLERANCE = 2e-3


# ---- The models --------------------------------------------------------------------------------------------------

def write_server(path):
    import torch
    from transformers import BertConfig, BertModel
    bert = BertModel(BertConfig(hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=12,
                                intermediate_size=4 * WIDTH, attn_implementation="eager"), add_pooling_layer=False)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = bert

        def forward(self, ids, mask):
            return self.bert(input_ids=ids, attention_mask=mask).last_hidden_state

    ones = torch.ones(1, 16, dtype=torch.long)
    axes = {0: "batch", 1: "length"}
    torch.onnx.export(Model().eval(), (ones, ones), path, input_names=["ids", "mask"], output_names=["y"],
                      opset_version=17, dynamo=False, dynamic_axes={"ids": axes, "mask": axes})


def write_decoder(path):
    import torch
    from torch import nn
    from torch.nn import functional
    heads = WIDTH // HEAD

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(WIDTH))

        def forward(self, x):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight

    def turn(x, cos, sin):
        return x * cos + torch.cat([-x[..., HEAD // 2:], x[..., :HEAD // 2]], -1) * sin

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.o = nn.Linear(WIDTH, WIDTH, False), nn.Linear(WIDTH, WIDTH, False)
            self.k, self.v = nn.Linear(WIDTH, SHARED * HEAD, False), nn.Linear(WIDTH, SHARED * HEAD, False)
            self.gate, self.up = nn.Linear(WIDTH, 3 * WIDTH, False), nn.Linear(WIDTH, 3 * WIDTH, False)
            self.down = nn.Linear(3 * WIDTH, WIDTH, False)
            self.before, self.between = Norm(), Norm()

        def forward(self, x, cos, sin, mask, past_key, past_value):
            batch, length, _ = x.shape

            def split(y, count):
                return y.view(batch, length, count, HEAD).transpose(1, 2)

            y = self.before(x)
            key = torch.cat([past_key, turn(split(self.k(y), SHARED), cos, sin)], 2)
            value = torch.cat([past_value, split(self.v(y), SHARED)], 2)
            scores = turn(split(self.q(y), heads), cos, sin) @ key.repeat_interleave(heads // SHARED, 1).transpose(2, 3)
            weights = torch.softmax(scores / HEAD ** 0.5 + mask, -1)
            y = weights @ value.repeat_interleave(heads // SHARED, 1)
            x = x + self.o(y.transpose(1, 2).reshape(batch, length, WIDTH))
            y = self.between(x)
            return x + self.down(functional.silu(self.gate(y)) * self.up(y)), key, value

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(2000, WIDTH)
            self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
            self.last = Norm()

        def forward(self, ids, mask, *past):
            total, length = mask.shape[1], ids.shape[1]
            place = (mask.cumsum(1) - 1)[:, total - length:]
            angle = place[:, None, :, None].float() / 10000 ** (torch.arange(0, HEAD, 2).float() / HEAD)
            cos, sin = torch.cat([angle.cos()] * 2, -1), torch.cat([angle.sin()] * 2, -1)
            later = torch.arange(total)[None] > torch.arange(total - length, total)[:, None]
            bias = torch.where(later, -1e9, 0.0)[None, None] + (1 - mask[:, None, None].float()) * -1e9
            x, caches = self.words(ids), []
            for i, layer in enumerate(self.layers):
                x, key, value = layer(x, cos, sin, bias, past[2 * i], past[2 * i + 1])
                caches += [key, value]
            return (self.last(x) @ self.words.weight.T, *caches)

    caches = [torch.randn(1, SHARED, 5, HEAD) for _ in range(2 * LAYERS)]
    past, present = [f"past{i}" for i in range(2 * LAYERS)], [f"present{i}" for i in range(2 * LAYERS)]
    torch.onnx.export(
        Decoder().eval(), (torch.ones(1, 1, dtype=torch.long), torch.ones(1, 6, dtype=torch.long), *caches), path,
        input_names=["ids", "mask", *past], output_names=["logits", *present], opset_version=17, dynamo=False,
        dynamic_axes={"ids": {0: "batch", 1: "length"}, "mask": {0: "batch", 1: "total"},
                      "logits": {0: "batch", 1: "length"}, **{name: {0: "batch", 2: "past"} for name in past},
                      **{name: {0: "batch", 2: "total"} for name in present}})


def model_path(folder, what):
    path = os.path.join(folder, what + ".onnx")
    if not os.path.exists(path):
        sys.exit(f"shapes.py: there is no {path}; shapes.py make {folder} writes it")
    return path


def make(args):
    os.makedirs(args.folder, exist_ok=True)
    for what, write in (("server", write_server), ("decoder", write_decoder)):
        write(os.path.join(args.folder, what + ".onnx"))


# ---- Running -----------------------------------------------------------------------------------------------------

def open_session(path, provider, warm=None):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = 3
    if provider == "cpu":
        return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    if provider == "cuda":
        ort.preload_dlls()
        session = ort.InferenceSession(path, options, providers=[("CUDAExecutionProvider", {"use_tf32": "0"}),
                                                                 "CPUExecutionProvider"])
        if "CUDAExecutionProvider" not in session.get_providers():
            sys.exit("shapes.py: ONNX Runtime made the session without its CUDA provider")
        return session
    ort.register_execution_provider_library("leat", os.path.abspath(provider))
    devices = [device for device in ort.get_ep_devices() if device.ep_name == "LeatExecutionProvider"][:1]
    if not devices:
        sys.exit("shapes.py: no Vulkan device; leat-info says why")
    options.add_provider_for_devices(devices, {"warm_shapes": warm} if warm else {})
    return ort.InferenceSession(path, options)


def in_threads(count, work):
    """Runs work(0) to work(count - 1) at once, and gives the seconds it took. What fails in a thread fails here."""
    failures = []

    def guarded(index):
        try:
            work(index)
        except Exception as error:  # pylint: disable=broad-except
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(index,)) for index in range(count)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return time.perf_counter() - begun


def for_a_second(work):
    end = time.perf_counter() + 1
    while time.perf_counter() < end:
        work()


def milliseconds(seconds):
    return {f"p{p}_ms": round(float(np.percentile(seconds, p)) * 1e3, 2) for p in (50, 99)} if seconds else None


def host_mib():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def server(args):
    path = model_path(args.folder, "server")
    begun = time.perf_counter()
    session = open_session(path, args.provider, args.warm)
    session_s = round(time.perf_counter() - begun, 2)
    reference = open_session(path, "cpu") if args.check else None
    low, high = args.lengths
    lock, seen, times, tokens, wrong = threading.Lock(), set(), {True: [], False: [], "first": []}, [0], []
    other = np.ones((1, high + 1), np.int64)
    for_a_second(lambda: session.run(None, {"ids": other, "mask": other}))
    memory, end = host_mib(), time.perf_counter() + args.seconds

    def work(thread):
        random, count = np.random.default_rng(thread), 0
        while time.perf_counter() < end:
            shape = int(random.integers(1, args.batch + 1)), int(random.integers(low, high + 1))
            feeds = {"ids": random.integers(1, WORDS, shape), "mask": np.ones(shape, np.int64)}
            with lock:
                is_new = shape not in seen
                seen.add(shape)
            begun = time.perf_counter()
            y = session.run(None, feeds)[0]
            took = time.perf_counter() - begun
            with lock:
                times[is_new if count else "first"].append(took)
                tokens[0] += shape[0] * shape[1]
            count += 1
            if reference and count % args.check == 0:
                expected = reference.run(None, feeds)[0]
                if not np.abs(y - expected).max() <= TOLERANCE * np.abs(expected).max():
                    wrong.append(shape)

    took = in_threads(args.threads, work)
    print(json.dumps({
        "provider": os.path.basename(args.provider), "threads": args.threads, "batch": args.batch,
        "lengths": f"{low}:{high}", "runs_per_s": round(sum(map(len, times.values())) / took),
        "tokens_per_s": round(tokens[0] / took), "shapes": len(seen), "seen": milliseconds(times[False]),
        "never_seen": milliseconds(times[True]),
        "first_of_thread": milliseconds(times["first"]), "host_mib": host_mib() - memory,
        "session_s": session_s, "wrong": len(wrong)}), flush=True)
    return 1 if wrong else 0


def decoder(args):
    begun = time.perf_counter()
    session = open_session(model_path(args.folder, "decoder"), args.provider, args.warm)
    session_s = round(time.perf_counter() - begun, 2)

    def decode(length, grows, steps, times):
        past = [np.full((1, SHARED, length, HEAD), 0.1, np.float32) for _ in range(2 * LAYERS)]
        token, tokens = np.array([[7]]), []
        for _ in range(steps):
            begun = time.perf_counter()
            feeds = {f"past{i}": value for i, value in enumerate(past)}
            feeds.update(ids=token, mask=np.ones((1, past[0].shape[2] + 1), np.int64))
            outputs = session.run(None, feeds)
            token = outputs[0][:, -1:].argmax(-1)
            tokens.append(int(token[0, 0]))
            past = outputs[1:] if grows else past
            times.append(time.perf_counter() - begun)
        return tokens

    differ, length = False, 5
    for threads in args.threads:
        for what, grows in (("one length", False), ("growing, never seen", True), ("growing, seen", True)):
            for_a_second(lambda: decode(5, False, 20, []))
            times, tokens = [[] for _ in range(threads)], [None] * threads

            def work(thread):
                tokens[thread] = decode(length, grows, args.tokens, times[thread])

            took = in_threads(threads, work)
            differ |= any(one != tokens[0] for one in tokens)
            print(json.dumps({
                "provider": os.path.basename(args.provider), "threads": threads, "shapes": what,
                "tokens_per_s": round(threads * args.tokens / took), "step": milliseconds(sum(times, [])),
                "session_s": session_s}), flush=True)
        length += args.tokens + 1
    if differ:
        print("shapes.py: threads made different tokens", file=sys.stderr)
    return 1 if differ else 0


def numbers(text):
    values = [int(part) for part in text.split(",")]
    if not all(1 <= value <= 1024 for value in values):
        raise ValueError
    return values


def lengths(text):
    low, high = (int(part) for part in text.split(":"))
    if not 1 <= low <= high <= 511:
        raise ValueError
    return low, high


def positive(text):
    value = float(text)
    if not value > 0:
        raise ValueError
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("make", "server", "decoder"):
        command = commands.add_parser(name)
        command.add_argument("folder")
        if name != "make":
            command.add_argument("provider")
            command.add_argument("--warm", metavar="VALUE")
    commands.choices["server"].add_argument("--threads", type=int, choices=range(1, 1025), default=8, metavar="N")
    commands.choices["server"].add_argument("--seconds", type=positive, default=10.0)
    commands.choices["server"].add_argument("--batch", type=int, choices=range(1, 1025), default=1, metavar="MAX")
    commands.choices["server"].add_argument("--lengths", type=lengths, default=(4, 160), metavar="LOW:HIGH")
    commands.choices["server"].add_argument("--check", type=int, default=200, metavar="N")
    commands.choices["decoder"].add_argument("--threads", type=numbers, default=[1, 8])
    commands.choices["decoder"].add_argument("--tokens", type=int, choices=range(1, 1025), default=64, metavar="N")
    args = parser.parse_args()
    sys.exit({"make": make, "server": server, "decoder": decoder}[args.command](args))


if __name__ == "__main__":
    main()
