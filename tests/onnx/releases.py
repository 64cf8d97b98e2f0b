#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the program of docs/python.md and whole models on releases of ONNX Runtime, and print a table.

Usage: releases.py BUILD --here                   the release that this Python imports
       releases.py BUILD --oldest                 the oldest that Leat claims, in the folder that LEAT_TEST_OLDEST names
       releases.py BUILD --work DIR [RELEASE...]  each of these, downloaded into DIR by pip; without any the oldest that
                                                  Leat claims and the newest patch of each minor release since

A folder is one of packages, such as an environment's site-packages; what it lacks comes from this Python.

What is run:
  readme          examples/threads.py
  models          three models of many nodes, from 4 threads on one session, compared with the CPU provider
  unsynchronized  Runs that ONNX Runtime does not synchronize, and whose outputs are used at once

Exit status: 0 right, 1 not, 77 no Vulkan device, or no folder for --oldest.
"""
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

NO_DEVICE = 77
OLDEST = (1, 24)
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = ("bert.dynamo", "gpt2.script", "mobilenet_v3.script")
THREADS = 4
# As leat-run's for float32, which says where it comes from.
TOLERANCE = 2.0**-10


# ---- What runs in a process of each release --------------------------------------------------------------------------


def register(build):
    """The module onnxruntime with the provider registered, and Leat's best device."""
    import onnxruntime as ort
    ort.set_default_logger_severity(3)
    ort.register_execution_provider_library("leat", os.path.join(build, "libleat_onnxruntime.so"))
    return ort, [device for device in ort.get_ep_devices() if device.ep_name == "LeatExecutionProvider"][:1]


def session_on(ort, devices, path):
    options = ort.SessionOptions()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    options.add_provider_for_devices(devices, {})
    return ort.InferenceSession(path, options, enable_fallback=0)


def feeds(session, path, seed):
    import numpy as np
    random = np.random.default_rng(seed)
    mask = path.rsplit(".", 2)[0] + ".attention_mask.npy"
    if os.path.exists(mask):
        keep = np.load(mask)
        return {"input_ids": random.integers(1, 96, keep.shape), "attention_mask": keep}
    return {put.name: random.standard_normal([size if isinstance(size, int) else 2 for size in put.shape])
            .astype(np.float32) for put in session.get_inputs()}


def is_right(got, want):
    """A NaN is wrong too."""
    import numpy as np
    return all(np.abs(g - w).max() <= TOLERANCE * np.abs(w).max() for g, w in zip(got, want))


def step_readme(build):
    with open(os.path.join(TREE, "docs", "python.md"), encoding="utf-8") as file:
        promised = re.search(r"^It prints `(.*)`\.$", file.read(), re.M).group(1)
    command = [sys.executable, "examples/threads.py", os.path.join(build, "libleat_onnxruntime.so")]
    told = subprocess.run(command, cwd=TREE, stdout=subprocess.PIPE, text=True, check=False)
    if told.returncode or told.stdout.strip() != promised:
        sys.exit(f"the program {ending(told.returncode)}, and said '{told.stdout.strip()}'; the page says '{promised}'")


def step_models(build):
    ort, devices = register(build)
    for model in MODELS:
        path = os.path.join(TREE, "tests", "models", model + ".onnx")
        leat = session_on(ort, devices, path)
        cpu = ort.InferenceSession(path, providers=["CPUExecutionProvider"])

        def count_right(seed):
            inputs = [feeds(leat, path, 2 * seed + i) for i in range(2)]
            return sum(is_right(leat.run(None, put), cpu.run(None, put)) for put in inputs)

        with ThreadPoolExecutor(max_workers=THREADS) as pool:
            right = sum(pool.map(count_right, range(THREADS)))
        nodes = Counter()
        for part in leat.get_provider_graph_assignment_info():
            nodes[part.ep_name] += len(part.get_nodes())
        print(f"{model}: {right} of {2 * THREADS} Runs right, nodes {dict(nodes)}")
        if right != 2 * THREADS or nodes["LeatExecutionProvider"] < nodes.total() / 2:
            sys.exit(f"{model}: all Runs must be right, and half of the nodes must run on Leat")


def step_unsynchronized(build):
    ort, devices = register(build)
    path = os.path.join(TREE, "tests", "models", MODELS[0] + ".onnx")
    leat = session_on(ort, devices, path)
    cpu = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    options = ort.RunOptions()
    options.add_run_config_entry("disable_synchronize_execution_providers", "1")
    inputs = [feeds(leat, path, seed) for seed in range(20)]
    wrong = sum(not is_right(leat.run(None, put, options), cpu.run(None, put)) for put in inputs)
    if wrong:
        sys.exit(f"{wrong} of {len(inputs)} Runs gave wrong outputs")


STEPS = {"readme": step_readme, "models": step_models, "unsynchronized": step_unsynchronized}


# ---- Releases and the table ------------------------------------------------------------------------------------------


def ending(status):
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


def number(release):
    return tuple(int(part) for part in release.split("."))


def pip(*arguments):
    return subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments],
                          stdout=subprocess.PIPE, text=True, check=True).stdout


def every_release():
    """All releases from the oldest that Leat claims on."""
    listed = re.search(r"^Available versions: (.*)$", pip("index", "versions", "onnxruntime"), re.M).group(1)
    return sorted((r for r in listed.split(", ") if number(r)[:2] >= OLDEST), key=number)


def claimed_releases():
    """The oldest release that Leat claims, and the newest patch of each minor release."""
    releases = every_release()
    newest = {number(r)[:2]: r for r in releases}
    return sorted({releases[0], *newest.values()}, key=number)


def download(work, release):
    folder = os.path.join(work, release)
    if not os.path.isdir(folder):
        pip("install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target", folder + ".new",
            "onnxruntime==" + release)
        os.rename(folder + ".new", folder)
    return folder


def try_release(build, folder):
    """What imports there as ONNX Runtime, and a word on each step."""
    env = dict(os.environ, PYTHONPATH=folder) if folder else None
    told = subprocess.run([sys.executable, "-c", "import onnxruntime; print(onnxruntime.__version__)"], env=env,
                          stdout=subprocess.PIPE, text=True, check=True)
    words = []
    for step in STEPS:
        done = subprocess.run([sys.executable, os.path.abspath(__file__), build, "--step", step], env=env, check=False)
        words.append("right" if done.returncode == 0 else ending(done.returncode))
    return told.stdout.strip(), words


def print_columns(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(line, widths)).rstrip())


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build, mode = os.path.abspath(sys.argv[1]), sys.argv[2]
    if mode == "--step" and len(sys.argv) == 4:
        return STEPS[sys.argv[3]](build)
    if subprocess.run([os.path.join(build, "leat-info"), "--check"], stdout=subprocess.DEVNULL,
                      check=False).returncode == 1:
        return NO_DEVICE
    if mode == "--here" and len(sys.argv) == 3:
        folders = [None]
    elif mode == "--oldest" and len(sys.argv) == 3:
        if "LEAT_TEST_OLDEST" not in os.environ:
            print("LEAT_TEST_OLDEST names no folder; ./dev unit brings one")
            return NO_DEVICE
        folders = [os.environ["LEAT_TEST_OLDEST"]]
    elif mode == "--work" and len(sys.argv) > 3:
        folders = [download(sys.argv[3], release) for release in sys.argv[4:] or claimed_releases()]
    else:
        sys.exit(__doc__)
    rows = [try_release(build, folder) for folder in folders]
    print_columns([["release", *STEPS]] + [[release, *words] for release, words in rows])
    if mode == "--oldest" and number(rows[0][0])[:2] != OLDEST:
        sys.exit(f"{folders[0]} holds ONNX Runtime {rows[0][0]}, which is not the oldest that Leat claims, {OLDEST}")
    return any(word != "right" for _, words in rows for word in words)


if __name__ == "__main__":
    sys.exit(main())
