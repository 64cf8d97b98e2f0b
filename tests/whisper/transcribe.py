#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lets a tiny Whisper, as onnxruntime.transformers exports it, write down what it hears.

usage: transcribe.py LIBRARY     (LIBRARY: libleat_onnxruntime.so)

Encoder and decoder have to be wholly on Leat, from four threads that share them, with caches that grow and with those
of full length, and to give the tokens, logits and scores of the CPU provider. WhisperBeamSearch, whose kernel is the
CPU provider's, has to give its sequences in a session that has Leat. Exit status: 0, or 1 if that is not so, 77 without
a device.
"""
import os
import sys
import threading

import numpy as np
import onnxruntime as ort

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "onnx"))
import on_leat  # noqa: E402  (of tests/onnx)

LAYERS, HEADS, SIZE = 2, 2, 8
BELLS, FRAMES = 8, 48  # of sound
BATCH, BEAMS, ROOM, STEPS, THREADS = 2, 2, 24, 10, 4
PROMPT = [27, 29, 32]
# Sums of up to 32 products of numbers up to 4 behind norms, in ten layers one after the other, each off by less than
# (32 + 2) * 2^-24 * 32 * 4 * 0.4: 1e-3 in all.
TOLERANCE = 1e-3
PAIRS = [f"{part}_{{}}_{n}" for n in range(LAYERS) for part in ("key", "value")]


def path_of(name):
    return os.path.join(HERE, name + ".onnx")


def cross_of(encoder, sound):
    """Keys and values of the sound, by the decoder's names."""
    names = [output.name for output in encoder.get_outputs()]
    values = encoder.run(None, {"audio_features": sound})
    return {name.replace("present", "past"): value for name, value in zip(names, values) if "cross" in name}


def steps_of(decoder, cross, begin, further):
    """What a decoder gives, step by step, when each token is the one that was most likely; `begin` are the first
    inputs beside tokens and sound, `further(step, outputs)` makes those of the next step."""
    tokens = np.array([PROMPT] * BATCH, np.int32)
    own, given = begin, []
    names = [output.name for output in decoder.get_outputs()]
    for step in range(STEPS):
        outputs = dict(zip(names, decoder.run(None, {"input_ids": tokens, **cross, **own})))
        given.append(outputs)
        tokens = outputs["logits"][:, -1:].argmax(-1).astype(np.int32)
        own = further(step, outputs)
    return given


def growing(decoder, cross):
    def further(_, outputs):
        return {f"past_{pair.format('self')}": outputs[f"present_{pair.format('self')}"] for pair in PAIRS}
    empty = {f"past_{pair.format('self')}": np.zeros((BATCH, HEADS, 0, SIZE), np.float32) for pair in PAIRS}
    return steps_of(decoder, cross, empty, further)


def shared(decoder, cross):
    """Both batches are beams of one, and by turns one goes on from what the other had."""
    past = np.zeros((BATCH // BEAMS, BEAMS, ROOM), np.int32)

    def further(step, outputs):
        count = len(PROMPT) + step
        past[:, :, :count] = np.arange(BEAMS)[None, :, None]
        past[:, 1, count - 1] = 0
        return {f"past_{pair.format('self')}": outputs[f"present_{pair.format('self')}"] for pair in PAIRS} | {
            "past_sequence_length": np.array([count], np.int32), "cache_indirection": past}
    empty = {f"past_{pair.format('self')}": np.zeros((BATCH, HEADS, ROOM, SIZE), np.float32) for pair in PAIRS}
    return steps_of(decoder, cross, empty | {"past_sequence_length": np.array([0], np.int32),
                                             "cache_indirection": past}, further)


def differs(found, wanted):
    """What is wrong with steps, or None. Behind the last position a cache may have anything."""
    for step, (own, right) in enumerate(zip(found, wanted)):
        for name, value in right.items():
            count = len(PROMPT) + step if "present" in name else None
            error = np.abs(own[name][:, :, :count] - value[:, :, :count]).max()
            if not error <= TOLERANCE:
                return f"{name} of step {step} is off by {error:.2g}"
    return None


def main():
    devices = on_leat.devices_of_command_line(__doc__.splitlines()[2])
    cpu = {name: ort.InferenceSession(path_of(name), providers=["CPUExecutionProvider"])
           for name in ("encoder", "decoder", "shared", "beam_search")}
    leat = {name: on_leat.session(path_of(name), devices) for name in ("encoder", "decoder", "shared")}
    sound = np.random.default_rng(2).standard_normal((BATCH, BELLS, FRAMES)).astype(np.float32)
    wanted = {run.__name__: run(cpu[name], cross_of(cpu["encoder"], sound))
              for name, run in (("decoder", growing), ("shared", shared))}
    wrong = []

    def transcribe():
        cross = cross_of(leat["encoder"], sound)
        for name, run in (("decoder", growing), ("shared", shared)):
            problem = differs(run(leat[name], cross), wanted[run.__name__])
            if problem is not None:
                wrong.append(f"{name}: {problem}")

    threads = [threading.Thread(target=transcribe) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tokens = {name: [int(step["logits"][0, -1].argmax()) for step in steps] for name, steps in wanted.items()}
    print(f"tokens: {tokens}")

    options = ort.SessionOptions()
    options.add_provider_for_devices(devices, {})
    settings = {"max_length": 16, "min_length": 1, "num_beams": 3, "num_return_sequences": 2}
    given = {"input_features": sound, "length_penalty": np.array([1], np.float32),
             "repetition_penalty": np.array([1.1], np.float32)}
    given |= {name: np.array([value], np.int32) for name, value in settings.items()}
    found = ort.InferenceSession(path_of("beam_search"), options).run(None, given)[0]
    right = cpu["beam_search"].run(None, given)[0]
    print(f"beam search: {found.tolist()}")
    if found.tolist() != right.tolist():
        wrong.append(f"beam search: the CPU provider alone gives {right.tolist()}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
