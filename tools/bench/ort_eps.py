#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ONNX Runtime providers side by side on one machine: real architectures, one and many threads.

Usage: ort_eps.py make DIR [NAME...] | run DIR EP [EP...] [--seconds S] | torch     (--help)
EP: cpu, cuda, cudagraph, webgpu (plugin library in $WEBGPU_SO), ggml (package on PYTHONPATH), leat (plugin library in
$LEAT_SO), and leat_bound, where outputs are in memory that the device writes to (examples/downloads.py).
Each (model, EP, threads, sharing) runs in a process of its own, so that a crash is a result.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time

try:
    import numpy as np
except ImportError:
    sys.exit(
        "ort_eps.py: this Python has no numpy; it also needs onnxruntime, "
        "and torch, torchvision, transformers and onnx to make models"
    )


def feeds(name):
    r = np.random.default_rng(1)

    def img(s):
        return {"x": r.standard_normal((1, 3, s, s), dtype=np.float32)}

    return {
        "linear": {"x": r.standard_normal((4, 256), dtype=np.float32)},
        "resnet18": img(224),
        "mobilenet_v3_small": img(224),
        "vit_s_16": img(224),
        "minilm": {"ids": r.integers(0, 30000, (1, 64)), "mask": np.ones((1, 64), np.int64)},
        "minilm_rows": {"ids": r.integers(0, 30000, (2, 64)), "mask": np.ones((2, 64), np.int64)},
        "gpt2": {"ids": r.integers(0, 30000, (1, 64))},
    }[name]


NAMES = ["linear", "minilm", "resnet18", "mobilenet_v3_small", "vit_s_16", "gpt2"]
ROWS = ["minilm_rows"]  # made if named, for serving.py: any number of rows, and for each the mean of its tokens
EPS = ["cpu", "cuda", "cudagraph", "webgpu", "ggml", "leat", "leat_bound"]


def _vit(torchvision):
    import torch

    m = torchvision.models.VisionTransformer(224, 16, 12, 6, 384, 1536).eval()
    torch.nn.init.normal_(m.heads.head.weight, std=0.05)  # its own initialisation is zero: every output would be
    return m


def build(name):
    import torch
    import torch.nn as nn

    torch.manual_seed(0)
    if name == "linear":
        return nn.Linear(256, 128).eval()
    if name in ("minilm", "minilm_rows"):
        from transformers import BertConfig, BertModel

        m = BertModel(
            BertConfig(
                hidden_size=384,
                num_hidden_layers=6,
                num_attention_heads=12,
                intermediate_size=1536,
                attn_implementation="eager",
            ),
            add_pooling_layer=False,
        ).eval()

        class W(nn.Module):
            def __init__(s):
                super().__init__()
                s.m = m

            def forward(s, ids, mask):
                y = s.m(input_ids=ids, attention_mask=mask).last_hidden_state
                if name == "minilm":
                    return y
                kept = mask.unsqueeze(-1).to(y.dtype)
                return (y * kept).sum(1) / kept.sum(1)

        return W().eval()
    if name == "gpt2":
        from transformers import GPT2Config, GPT2LMHeadModel

        m = GPT2LMHeadModel(GPT2Config(n_layer=6, n_embd=384, n_head=6, attn_implementation="eager")).eval()

        class W(nn.Module):
            def __init__(s):
                super().__init__()
                s.m = m

            def forward(s, ids):
                return s.m(input_ids=ids, use_cache=False).logits

        return W().eval()
    import torchvision

    if name == "vit_s_16":
        return _vit(torchvision)
    return getattr(torchvision.models, name)(weights=None).eval()


def make(d, names):
    import torch

    os.makedirs(d, exist_ok=True)
    for n in names:
        f = feeds(n)
        m = build(n)
        try:
            torch.onnx.export(
                m,
                tuple(torch.from_numpy(v) for v in f.values()),
                f"{d}/{n}.onnx",
                input_names=list(f),
                output_names=["y"],
                dynamo=not n.startswith("minilm"),
                dynamic_axes={name: {0: "rows"} for name in [*f, "y"]} if n in ROWS else None,
                opset_version=18,
                external_data=False,
            )
            print("made", n, os.path.getsize(f"{d}/{n}.onnx"), flush=True)
        except Exception as e:
            print("FAILED", n, repr(e)[:300], flush=True)


def session(path, ep):
    import onnxruntime as ort

    so = ort.SessionOptions()
    so.log_severity_level = 3
    if ep == "cuda":
        ort.preload_dlls()
        x = ort.InferenceSession(
            path, so, providers=[("CUDAExecutionProvider", {"use_tf32": "0"}), "CPUExecutionProvider"]
        )
        assert "CUDAExecutionProvider" in x.get_providers(), x.get_providers()
        return x
    if ep == "cudagraph":
        ort.preload_dlls()
        return ort.InferenceSession(
            path,
            so,
            providers=[("CUDAExecutionProvider", {"use_tf32": "0", "enable_cuda_graph": "1"}), "CPUExecutionProvider"],
        )
    if ep == "cpu":
        return ort.InferenceSession(path, so, providers=["CPUExecutionProvider"])
    if ep == "ggml":
        import onnxruntime_ggml as g

        return g.InferenceSession(path)
    ep = ep.removesuffix("_bound")
    lib = {"webgpu": os.environ.get("WEBGPU_SO"), "leat": os.environ.get("LEAT_SO")}[ep]
    if not getattr(session, ep, None):
        ort.register_execution_provider_library(ep, lib)
        setattr(session, ep, 1)
    name = {"webgpu": "WebGpuExecutionProvider", "leat": "LeatExecutionProvider"}[ep]
    dev = [x for x in ort.get_ep_devices() if x.ep_name == name]
    so.add_provider_for_devices(dev[:1], {})
    return ort.InferenceSession(path, so)


def runner(s, ep, f, ref):
    """A function that runs a session and gives its outputs, for one thread."""
    if not ep.endswith("_bound"):
        return lambda: s.run(None, f)
    import onnxruntime as ort

    device = [x for x in ort.get_ep_devices() if x.ep_name == "LeatExecutionProvider"][0]
    memory = device.memory_info(ort.OrtDeviceMemoryType.HOST_ACCESSIBLE)
    results = [ort.OrtValue.ortvalue_from_shape_and_type(r.shape, r.dtype, memory_info=memory) for r in ref]
    arrays = [r.numpy() for r in results]

    def run():
        binding = s.io_binding()
        for name, value in f.items():
            binding.bind_cpu_input(name, value)
        for output, result in zip(s.get_outputs(), results):
            binding.bind_ortvalue_output(output.name, result)
        s.run_with_iobinding(binding)
        return arrays

    return run


def one(d, name, ep, T, own, secs):
    f = feeds(name)
    path = f"{d}/{name}.onnx"
    ref = session(path, "cpu").run(None, f)
    ss = [session(path, ep) for _ in range(T if own else 1)]
    for s in ss:
        for _ in range(3):
            s.run(None, f)
    n = [0] * T
    bad = [0] * T
    worst = [0.0] * T
    stop = False
    lat = []

    def work(i):
        run = runner(ss[i % len(ss)], ep, f, ref)
        while not stop:
            t = time.perf_counter()
            o = run()
            if i == 0:
                lat.append(time.perf_counter() - t)
            n[i] += 1
            if n[i] % 16 == 1:
                for a, b in zip(o, ref):
                    e = float(np.abs(a - b).max() / (np.abs(b).max() + 1e-9))
                    worst[i] = max(worst[i], e)
                    if not e < 2e-2:
                        bad[i] += 1

    th = [threading.Thread(target=work, args=(i,)) for i in range(T)]
    t0 = time.perf_counter()
    [t.start() for t in th]
    time.sleep(secs)
    stop = True
    [t.join() for t in th]
    dt = time.perf_counter() - t0
    lat.sort()
    print(
        "RESULT "
        + json.dumps(
            dict(rps=round(sum(n) / dt, 1), p50_us=round(lat[len(lat) // 2] * 1e6, 1), bad=sum(bad), err=max(worst))
        ),
        flush=True,
    )


def run(d, eps, seconds):
    names = [n for n in NAMES if os.path.exists(f"{d}/{n}.onnx")]
    if not names:
        sys.exit(f"ort_eps.py: {d} holds no model; make them with: ort_eps.py make {d}")
    for name in names:
        for ep in eps:
            for T, own in ((1, 0), (2, 0), (8, 0), (2, 1), (8, 1)):
                if ep == "cpu" and T == 2:
                    continue
                try:
                    p = subprocess.run(
                        [sys.executable, __file__, "one", d, name, ep, str(T), str(own), str(seconds)],
                        capture_output=True,
                        text=True,
                        timeout=45,
                    )
                    r = [line for line in p.stdout.splitlines() if line.startswith("RESULT")]
                    out = (
                        r[0][7:]
                        if r and p.returncode == 0
                        else f"rc={p.returncode} "
                        + (r[0] if r else "")
                        + (p.stderr.strip().splitlines() or [""])[-1][:160]
                    )
                except subprocess.TimeoutExpired:
                    out = "TIMEOUT 45 s"
                print(f"{name:20s} {ep:7s} T={T:<2d} {'own' if own else 'one'} session  {out}", flush=True)
                if out.startswith("rc=") and T == 1:
                    break


def torch_side():
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    for name in NAMES:
        m = build(name).cuda()
        f = [torch.from_numpy(v).cuda() for v in feeds(name).values()]
        if name in ("minilm",):
            f = f[:1]
            mm = m.m

            def m(ids):
                return mm(input_ids=ids).last_hidden_state

        with torch.no_grad():
            for _ in range(10):
                m(*f)
            torch.cuda.synchronize()
            t = time.perf_counter()
            k = 200
            for _ in range(k):
                m(*f)
                torch.cuda.synchronize()
            eager = (time.perf_counter() - t) / k * 1e6
            try:
                g = torch.cuda.CUDAGraph()
                s = torch.cuda.Stream()
                with torch.cuda.stream(s):
                    for _ in range(3):
                        m(*f)
                torch.cuda.synchronize()
                with torch.cuda.graph(g):
                    m(*f)
                torch.cuda.synchronize()
                t = time.perf_counter()
                for _ in range(k):
                    g.replay()
                    torch.cuda.synchronize()
                graph = (time.perf_counter() - t) / k * 1e6
            except Exception as e:
                graph = repr(e)[:80]
            res = {}
            for T in (1, 2, 8, 16):
                n = [0] * T
                stop = False

                def work(i):
                    with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
                        while not stop:
                            m(*f)
                            torch.cuda.current_stream().synchronize()
                            n[i] += 1

                th = [threading.Thread(target=work, args=(i,)) for i in range(T)]
                t0 = time.perf_counter()
                [x.start() for x in th]
                time.sleep(1.5)
                stop = True
                [x.join() for x in th]
                res[T] = round(sum(n) / (time.perf_counter() - t0), 1)
        graph = graph if isinstance(graph, str) else round(graph, 1)
        print(f"{name:20s} torch   eager {eager:.1f} us  graph {graph} us  threads rps {res}", flush=True)


def folder(path):
    if not os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"{path} is no folder; make one with: ort_eps.py make {path}")
    return path


def model(name):
    if name not in NAMES + ROWS:
        raise argparse.ArgumentTypeError(f"there is no model {name}; there are {', '.join(NAMES + ROWS)}")
    return name


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="make|run|torch")
    verb = verbs.add_parser("make", help="export the models with PyTorch")
    verb.add_argument("dir")
    verb.add_argument("name", nargs="*", type=model, default=NAMES, metavar="NAME", help=", ".join(NAMES + ROWS))
    verb = verbs.add_parser("run", help="measure providers")
    verb.add_argument("dir", type=folder)
    verb.add_argument("ep", nargs="+", choices=EPS, metavar="EP", help=", ".join(EPS))
    verb.add_argument("--seconds", type=float, default=1.5, help="for each (1.5)")
    verbs.add_parser("torch", help="measure PyTorch with CUDA")
    verb = verbs.add_parser("one", help="one measurement, in this process")
    verb.add_argument("dir", type=folder)
    verb.add_argument("name", choices=NAMES)
    verb.add_argument("ep", choices=EPS)
    verb.add_argument("threads", type=int)
    verb.add_argument("own", type=int, choices=(0, 1), help="1: a session for each thread")
    verb.add_argument("seconds", type=float)
    a = parser.parse_args()
    if a.verb == "make":
        make(a.dir, a.name)
    elif a.verb == "run":
        run(a.dir, a.ep, a.seconds)
    elif a.verb == "torch":
        torch_side()
    else:
        one(a.dir, a.name, a.ep, a.threads, a.own, a.seconds)


if __name__ == "__main__":
    main()
