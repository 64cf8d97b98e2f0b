#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls that fail, one in each process, while models run through ONNX Runtime.

Usage: faults.py LIBRARY FOLDER [vulkan|memory|disk...] [--sites N] [--only NAME] [--jobs N]
       faults.py --scene LIBRARY FOLDER

LIBRARY is libleat_onnxruntime.so and FOLDER has the layer and the library of preloading. The scene makes two sessions,
has eight threads run them with shapes that are new in each Run, and compares every answer; then it ends sessions and
provider, and what is left is counted: Vulkan's objects in the layer, blocks of Leat's libraries in the other. It is run
once to count the calls, and once for each site, where one can fail:

- vulkan: each call of each function, with each result that it may have (layer.c); and a device that shows no progress
  for 12 s, which is told after 10 s;
- memory: each place in Leat's libraries that allocates, by the functions that led there (host.c);
- disk: each call for the file of compiled pipelines, where there is none, and where there is one.

With --sites N these are N calls of each function and result, the first, the last and others between them, of memory 8 N
places, and of the disk N / 3 calls; else all.

Whatever fails: no process crashes or hangs, no answer is wrong (an output that nobody wrote is one of before), an error
names the call or what it ran out of, unless the device was lost the next Run is right again, and in the end no object
of a device, no device and no block is left, but those of LEFT. After a fault of the disk there is no error at all, and
no unfinished file is left behind. What must be noticed, the canaries: a driver that skips a dispatch; an object that is
not destroyed; memory that nobody may touch, and a block that nobody frees; an unfinished file that is not removed.

Exit status: 0, 1 where that does not hold, 2 bad use, 77 without a device.
"""
import argparse
import collections
import concurrent.futures
import ctypes
import gc
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple

import numpy as np

THREADS, RUNS = 8, 3
WIDTH = 48
# A process of the scene takes 2 s, and more where others work: what takes so much longer hangs.
LIMIT_S = 300
# Sums of 48 products, twice: 2 x 48 roundings of 2^-24 of numbers up to 50, and as much on NumPy's side.
TOLERANCE = 2 * 2 * 48 * 2.0**-24 * 50

# Blocks that stay by design: what a thread has noted of itself in plugin and provider is used again by later threads
# (common/inside.h), and the plugin that was loaded stays loaded (host-shim/loader.c).
LEFT = 2 * (THREADS + 1) + 1

# What each function may return (Vulkan's reference pages), in the words of the layer.
MEMORY = ("host", "device")
RESULTS = {
    "AllocateCommandBuffers": MEMORY, "AllocateDescriptorSets": MEMORY, "AllocateMemory": MEMORY,
    "BeginCommandBuffer": MEMORY, "BindBufferMemory": MEMORY, "CreateBuffer": MEMORY, "CreateCommandPool": MEMORY,
    "CreateComputePipelines": MEMORY, "CreateDescriptorPool": MEMORY, "CreateDescriptorSetLayout": MEMORY,
    "CreatePipelineCache": ("host",), "CreatePipelineLayout": MEMORY, "CreateQueryPool": MEMORY,
    "CreateSemaphore": MEMORY, "CreateShaderModule": MEMORY, "CreateDevice": MEMORY + ("lost",),
    "DeviceWaitIdle": MEMORY + ("lost",), "EndCommandBuffer": MEMORY, "GetPipelineCacheData": MEMORY,
    "GetSemaphoreCounterValue": MEMORY + ("lost", "delay", "notready"), "MapMemory": MEMORY,
    "MergePipelineCaches": MEMORY, "QueueSubmit": MEMORY + ("lost", "delay"), "ResetCommandPool": ("device",),
    "WaitSemaphores": MEMORY + ("lost", "timeout", "delay", "notready"),
}
# What an error has to say: what was called, or what ran out or was lost.
NAMED = re.compile(r"vk[A-Z]\w+|VK_ERROR_\w+|VK_TIMEOUT|out of \w+ memory|memory|device .*lost")
# What is told of a device that stalls for longer than 10 s (plugin/streams/wait.c), and goes on.
TOLD = re.compile(r"a thread has waited 1\d s for the device; the device has made no progress")
# What calls for files may say (their manual pages). A short one takes half of the bytes.
ON_DISK = {
    "mkdir": ("EACCES", "ENOSPC"), "mkostemp": ("EACCES", "ENOSPC"), "write": ("ENOSPC", "EDQUOT", "short"),
    "close": ("EDQUOT",), "rename": ("EACCES", "ENOSPC"), "open": ("EACCES", "EIO"),
    "opendir": ("EACCES",), "fstat": ("EIO",), "read": ("EIO", "short"),
}
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
    for _ in range(2):  # what failed once is there the next time
        try:
            ort.register_execution_provider_library("leat", library)
            break
        except Exception as error:  # pylint: disable=broad-except
            found["open"].append(str(error))
    devices = [device for device in ort.get_ep_devices() if device.ep_name == "LeatExecutionProvider"][:1]
    found["devices"] = len(devices)

    def open_session(name):
        options = ort.SessionOptions()
        options.log_severity_level = 2
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        options.add_provider_for_devices(devices, {})
        for _ in range(2):
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
    devices.clear()
    gc.collect()
    try:
        ort.unregister_execution_provider_library("leat")
    except Exception as error:  # pylint: disable=broad-except
        if found["devices"]:
            found["last"].append(str(error))
    plugin = os.path.join(os.path.dirname(library), "libleat_vulkan.so")
    found["teardown"] = ctypes.CDLL(None).faults_teardown(plugin.encode())
    print(json.dumps(found), flush=True)


# ---- All places where a call can fail ----------------------------------------------------------------------------

class Fault(NamedTuple):
    kind: str  # vulkan, memory, disk
    name: str  # FAULT or HOST_FAULT; '': none
    pipelines: str = ""  # the folder to begin with, of those of disk; '': pipelines are not kept

    def __str__(self):
        return f"{self.kind} {self.name}" + (" with a file" if self.pipelines.endswith("full") else "")


class Faults:
    def __init__(self, args, folder):
        self.folder = folder
        self.command = [sys.executable, os.path.abspath(__file__), "--scene", os.path.abspath(args.library), folder]
        built = os.path.abspath(args.folder)
        self.environment = {"VK_LAYER_PATH": built, "VK_INSTANCE_LAYERS": "VK_LAYER_LEAT_faults",
                            "LD_PRELOAD": os.path.join(built, "libleat_faults_host.so")}
        self.number = itertools.count()
        self.alive = collections.Counter()  # what is left without a fault

    def run(self, fault):
        """The scene with a fault: what it found, the calls that it made, and what went wrong with the process."""
        number = next(self.number)
        paths = {name: os.path.join(self.folder, f"{name}.{number}") for name in ("FAULT_COUNTS", "HOST_COUNTS")}
        environment = {**os.environ, "LEAT_CACHE_DIR": "", **self.environment, **paths}
        if fault.kind == "disk":
            environment["FAULT_PIPELINE_BYTES"] = "64"
        if fault.name:
            environment["FAULT" if fault.kind == "vulkan" else "HOST_FAULT"] = fault.name
        pipelines = os.path.join(self.folder, f"pipelines.{number}", "kept")
        if fault.pipelines:
            environment["LEAT_CACHE_DIR"] = pipelines
            if os.path.isdir(fault.pipelines):
                shutil.copytree(fault.pipelines, pipelines)
        try:
            done = subprocess.run(self.command, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return None, {}, f"did not end within {LIMIT_S} s"
        counts, alive = collections.Counter(), collections.Counter()
        for path in paths.values():
            if os.path.exists(path):
                with open(path, encoding="ascii") as file:
                    for name, count, *where in map(str.split, file):
                        counts[name] += int(count)
                        if name.startswith("left@"):
                            alive[where[0] if where else name.removeprefix("left@")] += int(count)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 or len(lines) != 1:
            return None, counts, f"ended with {done.returncode}: {done.stderr[-1500:]}"
        left = os.listdir(pipelines) if os.path.isdir(pipelines) else []
        return {**json.loads(lines[0]), "log": done.stderr, "left": left, "alive": +alive,
                "pipelines": pipelines}, counts, ""

    def verdict(self, fault):
        """What is wrong after a fault; '': nothing. And whether the fault came: threads may call less than before."""
        found, counts, problem = self.run(fault)
        came = counts.get("came", 0) == 1
        if problem:
            return problem, came
        lost = fault.name.endswith("=lost")
        errors = found["open"] + found["runs"] + found["last"] + found["again"]
        unnamed = [error for error in errors
                   if not NAMED.search(found["log"] if NO_NODE in error else error)]
        if found["wrong"]:
            return f"{found['wrong']} answers are wrong", came
        if fault.name.endswith("=stalled") and came and (errors or not TOLD.search(found["log"])):
            return f"a device that stalls is an error, or nobody tells of it: {errors} {found['log'][-500:]}", came
        if fault.kind == "disk" and errors:
            return f"the disk's fault is an error: {errors[0]}", came
        if [name for name in found["left"] if not name.endswith(".bin")]:
            return f"an unfinished file is left behind: {found['left']}", came
        if unnamed:
            return f"an error does not say what failed: {unnamed[0]}", came
        if fault.kind == "memory" and not found["devices"] and not NAMED.search(found["log"]):
            return f"there is no device, and nothing says why: {found['log'][-500:]}", came
        leaks = {what: count for what, count in found["alive"].items() if count > self.most_alive(what)}
        # Without a device the plugin may not be loaded at all.
        torn = found["teardown"] in ((0,) if found["devices"] else (0, -1))
        if leaks or not torn or counts["overflowed"]:
            return f"left behind: {leaks}, shutdown() is {found['teardown']}, overflow {counts['overflowed']}", came
        again = found["again"] or (found["last"] if found["runs"] or found["open"] else [])
        if came and not lost and found["devices"] and (again or found["sessions"] != 2):
            return f"it failed again: {(again or found['open'])[-1]}", came
        return "", came

    def most_alive(self, what):
        """How much may be left of what a function of Vulkan or a place made: of a place, once in the process or once
        for each thread, where that is so without a fault."""
        return (0, 1, THREADS + 1)[min(2, self.alive[what])]

    def fault_free(self, kind, pipelines=""):
        """The calls of a scene without a fault, and what it found; ends the program where it fails."""
        found, counts, problem = self.run(Fault(kind, "", pipelines))
        if problem or not found["devices"]:
            print(f"faults.py: {problem or 'no Leat device'}", file=sys.stderr)
            sys.exit(1 if problem else 77)
        if found["wrong"] or found["open"] or found["runs"] or found["last"]:
            sys.exit(f"faults.py: it fails without a fault: {found}")
        if found["teardown"] or counts["overflowed"] or found["alive"].total() > LEFT or any(
                "+" not in what for what in found["alive"]):
            sys.exit(f"faults.py: it leaves something behind without a fault: {found['alive']}, "
                     f"shutdown() is {found['teardown']}, overflow {counts['overflowed']}")
        self.alive = found["alive"]
        return counts, found

    def of_vulkan(self, most):
        """The sites of Vulkan's functions, and canaries with what is said of them."""
        counts, _ = self.fault_free("vulkan")
        if not counts.get("QueueSubmit"):
            sys.exit("faults.py: the layer counts no calls: the Vulkan loader did not load it")
        sites = [Fault("vulkan", f"{function}:{number}={result}") for function, results in RESULTS.items()
                 for result in results for number in places(counts[function], most)]
        # Each stalls for 12 s, so that these are few.
        sites += [Fault("vulkan", f"QueueSubmit:{number}=stalled") for number in places(counts["QueueSubmit"], 2)]
        return sites, {Fault("vulkan", f"CmdDispatch:{counts['CmdDispatch'] - 1}=skip"): "answers are wrong",
                       Fault("vulkan", "FreeMemory:2=skip"): "left behind: {'AllocateMemory': 1}"}

    def of_memory(self, most):
        counts, _ = self.fault_free("memory")
        found = sorted(name for name in counts if name.startswith("alloc@"))
        if not found:
            sys.exit("faults.py: nothing of Leat's allocates: libleat_faults_host.so is not loaded")
        chosen = [found[number - 1] for number in places(len(found), most and 8 * most)]
        # A place of the end of a Run, where all goes on if it is no memory at all.
        busiest = max(found, key=lambda name: counts[name])
        return [Fault("memory", f"{name}=null") for name in chosen], {
            Fault("memory", f"{busiest}=wild"): "ended with",
            Fault("memory", f"{busiest}=leak"): "left behind: {'libleat"}

    def of_disk(self, most):
        none = os.path.join(self.folder, "none")
        cold, found = self.fault_free("disk", none)
        if not any(name.endswith(".bin") for name in found["left"]):
            sys.exit("faults.py: no pipelines were kept")
        full = os.path.join(self.folder, "full")
        os.rename(found["pipelines"], full)
        warm, _ = self.fault_free("disk", full)
        return [Fault("disk", f"{function}:{number}={result}", folder)
                for counts, folder in ((cold, none), (warm, full)) for function, results in ON_DISK.items()
                for result in results for number in places(counts[function], most and -(-most // 3))], {
                    Fault("disk", "write:1=kept", none): "unfinished file"}


def places(count, most):
    """Numbers of calls from 1 to `count`, at most so many, evenly."""
    if most is None or count <= most:
        return list(range(1, count + 1))
    return sorted({1 + (count - 1) * k // max(1, most - 1) for k in range(most)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("folder")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="vulkan, memory, disk; without one all")
    parser.add_argument("--scene", action="store_true")
    parser.add_argument("--sites", type=int, metavar="N")
    parser.add_argument("--only", metavar="NAME", default="", help="only sites whose names begin so")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    args = parser.parse_args()
    if args.scene:
        scene(args.library, args.folder)
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        write_models(folder)
        faults = Faults(args, folder)
        for kind in args.kinds or ("vulkan", "memory", "disk"):
            begun = time.monotonic()
            sites, canaries = getattr(faults, f"of_{kind}")(args.sites)
            sites = [site for site in sites if site.name.startswith(args.only)]
            with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
                verdicts = list(pool.map(faults.verdict, sites))
            wrong = [f"{site}: {problem}" for site, (problem, _) in zip(sites, verdicts) if problem]
            for canary, expected in canaries.items():
                said = faults.verdict(canary)[0]
                if expected not in said:
                    wrong.append(f"canary: {canary} came, and nobody noticed: '{said}'")
            came = sum(came for _, came in verdicts)
            if came < len(sites) // 2:
                wrong.append(f"of {len(sites)} faults only {came} came")
            print("\n".join([*wrong, f"faults: {kind}: {len(sites)} sites, {came} of which came; {len(wrong)} failed; "
                             f"{len(canaries)} canaries; {time.monotonic() - begun:.0f} s"]), flush=True)
            failed += len(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
