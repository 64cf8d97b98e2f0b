#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lets onnxruntime-genai, as published, make tokens of a tiny language model of its builder with Leat.

usage: tokens.py LIBRARY MODEL [--canary]     (LIBRARY: libleat_onnxruntime.so; MODEL: a folder of models/)

The model has to be wholly on Leat, and to give the tokens that it gives with the CPU provider: from one thread and
from four that share it, greedy and sampled, with a prompt that is continued and rewound. With --canary Leat's model has
other weights, and tokens have to differ.
LEAT_TEST_GENAI is a folder of packages with onnxruntime_genai in it. Exit status: 0 right, 1 if that is not so, 77
without a device or that package.
"""
import os
import shutil
import sys
import tempfile
import threading

import onnxruntime as ort

import weights

NOT_RUN = 77
if not os.path.isdir(os.path.join(os.environ.get("LEAT_TEST_GENAI", ""), "onnxruntime_genai")):
    print("LEAT_TEST_GENAI names no folder with onnxruntime_genai in it; ./dev unit sets it")
    sys.exit(NOT_RUN)
sys.path.append(os.environ["LEAT_TEST_GENAI"])  # behind those that have the ONNX Runtime that is tested
import onnxruntime_genai as og  # noqa: E402

PROVIDER = "LeatExecutionProvider"
# What genai cannot rewind: a state that is not kept for each position.
ONE_WAY = ("lfm2",)
LENGTH = 48
THREADS = 4
SEARCHES = {"greedy": {"do_sample": False},
            "sampled": {"do_sample": True, "top_k": 8, "top_p": 0.9, "temperature": 0.8, "random_seed": 11}}
PROMPTS = ([5, 17, 60, 33], [70], [44, 9, 9, 81, 23, 54, 12, 38, 4, 90, 61], [25, 26])
MORE = [13, 77, 50]
STEPS = 8


def model_of(folder, provider):
    config = og.Config(folder)
    config.clear_providers()
    if provider:
        config.append_provider(provider)
    return og.Model(config)


def continued(model, prompt, search):
    """The tokens of a prompt and one that continues them; and of one that goes back into the first, and of the first
    again after all is gone."""
    params = og.GeneratorParams(model)
    params.set_search_options(max_length=LENGTH, min_length=LENGTH, **search)
    generator = og.Generator(model, params)

    def go_on(tokens):
        generator.append_tokens(tokens)
        for _ in range(STEPS):
            generator.generate_next_token()
        return [int(token) for token in generator.get_sequence(0)]

    found = [go_on(prompt), go_on(MORE)]
    if model.type not in ONE_WAY:
        generator.rewind_to(len(prompt) + 2)
        found.append(go_on(MORE[:1]))
        generator.rewind_to(0)
        found.append(go_on(prompt))
    return found


def of_threads(model, search, count):
    """What `count` threads find that begin together, each with all prompts from another one on; in order of prompts."""
    found = [[None] * len(PROMPTS) for _ in range(count)]
    barrier = threading.Barrier(count)

    def work(own):
        barrier.wait()
        for turn in range(len(PROMPTS)):
            at = (own + turn) % len(PROMPTS)
            try:
                found[own][at] = continued(model, PROMPTS[at], search)
            except Exception as failure:  # pylint: disable=broad-except
                found[own][at] = str(failure)

    threads = [threading.Thread(target=work, args=(own,)) for own in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def is_whole(folder, device):
    """Whether ONNX Runtime makes a session of which no node is the CPU provider's."""
    options = ort.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    options.add_provider_for_devices([device], {})
    try:
        ort.InferenceSession(os.path.join(folder, "model.onnx"), options)
    except Exception as failure:  # pylint: disable=broad-except
        print(failure)
        return False
    return True


def compare(folder, canary):
    """Number of sequences that are others than the CPU provider's."""
    wrong = 0
    cpu = model_of(folder, None)
    if canary:
        weights.draw(folder, salt="canary")
    leat = model_of(folder, PROVIDER)
    for name, search in SEARCHES.items():
        wanted = of_threads(cpu, search, 1)[0]
        for count in (1, THREADS):
            for found in of_threads(leat, search, count):
                for prompt, expected, got in zip(PROMPTS, wanted, found):
                    if got != expected or isinstance(got, str):
                        print(f"{name}, {count} threads, prompt {prompt}: {got}\n  the CPU provider: {expected}")
                        wrong += 1
    return wrong


def main():
    library, model = (os.path.abspath(path) for path in sys.argv[1:3])
    canary = sys.argv[3:] == ["--canary"]
    ort.register_execution_provider_library("leat", library)
    devices = [device for device in ort.get_ep_devices() if device.ep_name == PROVIDER]
    if not devices:
        return NOT_RUN
    og.register_execution_provider_library(PROVIDER, library)
    name = os.path.basename(model)
    with tempfile.TemporaryDirectory() as scratch:
        folder = shutil.copytree(model, os.path.join(scratch, name))
        weights.draw(folder)
        whole, wrong = is_whole(folder, devices[0]), compare(folder, canary)
    print(f"{name}: {'whole' if whole else 'not whole'}; {wrong} sequences differ")
    if canary:
        return 0 if wrong else 1
    return 1 if wrong or not whole else 0


if __name__ == "__main__":
    sys.exit(main())
