#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Vulkan calls that fail, one in each process, while models run through ONNX Runtime.

Usage: faults.py LIBRARY LAYERS [--sites N] [--only FUNCTION] [--jobs N]
       faults.py --scene LIBRARY FOLDER

LIBRARY is libleat_onnxruntime.so and LAYERS the folder of the layer. The scene makes two sessions, has eight threads
run them with shapes that are new in each Run, and compares every answer; then it is over. It is run once to count the
calls of each function, and once for each place where one can fail: with --sites N for N calls of each function and
result, the first, the last and others between them, else for all.

Whatever fails: no process crashes or hangs, no answer is wrong (an output that nobody wrote is one of before), an error
names the call or what it ran out of, and unless the device was lost the next Run is right again. A driver that skips a
dispatch must be noticed: that is the canary.

Exit status: 0, 1 where that does not hold, 2 bad use, 77 without a device.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

THREADS, RUNS = 8, 3
WIDTH = 48
# A process of the scene takes 2 s, and more where others work: what takes so much longer hangs.
LIMIT_S = 300
# Sums of 48 products, twice: 2 x 48 roundings of 2^-24 of numbers up to 50, and as much on NumPy's side.
TOLERANCE = 2 * 2 * 48 * 2.0**-24 * 50

# What each function may return (Vulkan's reference pages), in the words of the layer.
MEMORY = ("host", "device")
RESULTS = {
    "AllocateCommandBuffers": MEMORY, "AllocateDescriptorSets": MEMORY, "AllocateMemory": MEMORY,
    "BeginCommandBuffer": MEMORY, "BindBufferMemory": MEMORY, "CreateBuffer": MEMORY, "CreateCommandPool": MEMORY,
    "CreateComputePipelines": MEMORY, "CreateDescriptorPool": MEMORY, "CreateDescriptorSetLayout": MEMORY,
    "CreatePipelineCache": ("host",), "CreatePipelineLayout": MEMORY, "CreateQueryPool": MEMORY,
    "CreateSemaphore": MEMORY, "CreateShaderModule": MEMORY, "CreateDevice": MEMORY + ("lost",),
    "DeviceWaitIdle": MEMORY + ("lost",), "EndCommandBuffer": MEMORY, "GetPipelineCacheData": MEMORY,
    "GetSemaphoreCounterValue": MEMORY + ("lost", "delay"), "MapMemory": MEMORY, "MergePipelineCaches": MEMORY,
    "QueueSubmit": MEMORY + ("lost", "delay"), "ResetCommandPool": ("device",),
    "WaitSemaphores": MEMORY + ("lost", "timeout", "delay"),
}
# What an error has to say: what was called, or what ran out or was lost.
NAMED = re.compile(r"vk[A-Z]\w+|VK_ERROR_\w+|VK_TIMEOUT|out of \w+ memory|memory|device .*lost")
# ONNX Runtime's, where no node went to Leat; the log says why.
NO_NODE = "fallback to CPU EP has been explicitly disabled"


# ---- The scene ---------------------------------------------------------------------------------------------------

def write_models(folder):
    """Two models: products with what is added to them, and one whose elements move."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    random = np.random.default_rng(7)
    first, second = (random.uniform(-1, 1, (WIDTH, WIDTH)).astype(np.float32) for _ in range(2))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", WIDTH])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    nodes = {
        "products": [helper.make_node("MatMul", ["x", "first"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
                     helper.make_node("MatMul", ["b", "second"], ["c"]), helper.make_node("Add", ["c", "x"], ["y"])],
        "moves": [helper.make_node("Transpose", ["x"], ["a"], perm=[1, 0]),
                  helper.make_node("Softmax", ["a"], ["b"], axis=0),
                  helper.make_node("Concat", ["b", "a"], ["y"], axis=1)],
    }
    for name, list_of in nodes.items():
        graph = helper.make_graph(list_of, name, [x], [y],
                                  [numpy_helper.from_array(first, "first"), numpy_helper.from_array(second, "second")]
                                  if name == "products" else [])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, os.path.join(folder, f"{name}.onnx"))
    np.savez(os.path.join(folder, "weights.npz"), first=first, second=second)


def expected_of(name, x, weights):
    if name == "products":
        return np.maximum(x @ weights["first"], 0) @ weights["second"] + x
    turned = x.T
    powers = np.exp(turned - turned.max(0))
    return np.concatenate([powers / powers.sum(0), turned], 1)


def scene(library, folder):
    """Prints a JSON object: the errors by where they came, and how many answers were wrong."""
    import faulthandler
    import onnxruntime as ort
    faulthandler.dump_traceback_later(LIMIT_S - 5, exit=True)
    found = {"open": [], "runs": [], "last": [], "again": [], "wrong": 0, "right": 0}
    weights = np.load(os.path.join(folder, "weights.npz"))
    ort.set_default_logger_severity(2)
    ort.register_execution_provider_library("leat", library)
    devices = [device for device in ort.get_ep_devices() if device.ep_name == "LeatExecutionProvider"][:1]
    found["devices"] = len(devices)

    def open_session(name):
        options = ort.SessionOptions()
        options.log_severity_level = 2
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        options.add_provider_for_devices(devices, {})
        for _ in range(2):  # what failed once is there the next time
            try:
                return ort.InferenceSession(os.path.join(folder, f"{name}.onnx"), options)
            except Exception as error:  # pylint: disable=broad-except
                found["open"].append(str(error))
        return None

    lock = threading.Lock()

    def ask(sessions, random, rows, where):
        for name, session in sessions.items():
            x = random.uniform(-1, 1, (rows, WIDTH)).astype(np.float32)
            try:
                y = session.run(None, {"x": x})[0]
                right = np.abs(y - expected_of(name, x, weights)).max() <= TOLERANCE
                with lock:
                    found["right" if right else "wrong"] += 1
            except Exception as error:  # pylint: disable=broad-except
                with lock:
                    found[where].append(str(error))

    sessions = {name: open_session(name) for name in ("products", "moves")} if devices else {}
    sessions = {name: session for name, session in sessions.items() if session is not None}

    def work(thread):
        random = np.random.default_rng(thread)
        for run in range(RUNS):
            ask(sessions, random, 2 + thread + THREADS * run, "runs")

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ask(sessions, np.random.default_rng(99), 60, "last")
    if found["last"]:  # the fault may have come just now; then not again
        ask(sessions, np.random.default_rng(98), 61, "again")
    found["sessions"] = len(sessions)
    sessions.clear()
    print(json.dumps(found), flush=True)


# ---- All places where a call can fail ----------------------------------------------------------------------------

class Faults:
    def __init__(self, args, folder):
        self.folder = folder
        self.command = [sys.executable, os.path.abspath(__file__), "--scene", os.path.abspath(args.library), folder]
        layers = os.path.abspath(args.layers)
        self.environment = {**os.environ, "VK_LAYER_PATH": layers, "VK_INSTANCE_LAYERS": "VK_LAYER_LEAT_faults",
                            "LEAT_CACHE_DIR": ""}

    def run(self, fault):
        """The scene with a fault: what it found, the calls that it made, and what went wrong with the process."""
        counts_path = os.path.join(self.folder, f"counts.{fault or 'none'}".replace("=", "."))
        environment = {**self.environment, "FAULT_COUNTS": counts_path}
        if fault:
            environment["FAULT"] = fault
        try:
            done = subprocess.run(self.command, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return None, {}, f"did not end within {LIMIT_S} s"
        counts = {}
        if os.path.exists(counts_path):
            with open(counts_path, encoding="ascii") as file:
                counts = {name: int(count) for name, count in (line.split() for line in file)}
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 or len(lines) != 1:
            return None, counts, f"ended with {done.returncode}: {done.stderr[-1500:]}"
        return {**json.loads(lines[0]), "log": done.stderr}, counts, ""

    def verdict(self, fault):
        """What is wrong after a fault; '': nothing. And whether the fault came: threads may call less than before."""
        found, counts, problem = self.run(fault)
        came = counts.get("came", 0) == 1
        if problem:
            return problem, came
        lost = fault.endswith("=lost")
        errors = found["open"] + found["runs"] + found["last"] + found["again"]
        unnamed = [error for error in errors
                   if not NAMED.search(found["log"] if NO_NODE in error else error)]
        if found["wrong"]:
            return f"{found['wrong']} answers are wrong", came
        if unnamed:
            return f"an error does not say what failed: {unnamed[0]}", came
        again = found["again"] or (found["last"] if found["runs"] or found["open"] else [])
        if came and not lost and found["devices"] and (again or found["sessions"] != 2):
            return f"it failed again: {(again or found['open'])[-1]}", came
        return "", came


def places(count, most):
    """Numbers of calls from 1 to `count`, at most so many, evenly."""
    if most is None or count <= most:
        return list(range(1, count + 1))
    return sorted({1 + (count - 1) * k // max(1, most - 1) for k in range(most)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("layers")
    parser.add_argument("--scene", action="store_true")
    parser.add_argument("--sites", type=int, metavar="N")
    parser.add_argument("--only", metavar="FUNCTION", choices=sorted(RESULTS))
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    args = parser.parse_args()
    if args.scene:
        scene(args.library, args.layers)
        return 0
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        write_models(folder)
        faults = Faults(args, folder)
        found, counts, problem = faults.run(None)
        if problem or not found["devices"]:
            print(f"faults.py: {problem or 'no Leat device'}", file=sys.stderr)
            return 1 if problem else 77
        if found["wrong"] or found["open"] or found["runs"] or found["last"]:
            print(f"faults.py: it fails without a fault: {found}", file=sys.stderr)
            return 1
        if not counts.get("QueueSubmit"):
            print("faults.py: the layer counts no calls: the Vulkan loader did not load it", file=sys.stderr)
            return 1
        sites = [f"{function}:{number}={result}" for function, results in RESULTS.items()
                 if args.only in (None, function)
                 for result in results for number in places(counts[function], args.sites)]
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            verdicts = list(pool.map(faults.verdict, sites))
        canary, _, lost = faults.run(f"CmdDispatch:{counts['CmdDispatch'] - 1}=skip")
    failed = [f"{site}: {problem}" for site, (problem, _) in zip(sites, verdicts) if problem]
    print("\n".join(failed))
    if lost or not canary["wrong"]:
        failed.append("canary")
        print(f"canary: a dispatch was skipped, and nobody noticed: {lost or canary}")
    came = sum(came for _, came in verdicts)
    print(f"faults: {sum(counts[name] for name in RESULTS)} calls of {len(RESULTS)} functions; {len(sites)} faults, "
          f"{came} of which came; {len(failed)} failed; {time.monotonic() - begun:.0f} s")
    return 1 if failed or came < len(sites) // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
